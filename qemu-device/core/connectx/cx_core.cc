// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/cx_core.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "connectx/device.h"

struct cx_core {
    niclab::connectx::Device device;
};

namespace {

constexpr unsigned kMostQueues = 63;
constexpr int kMillidegreesPerUnit = 125;
constexpr unsigned kMostInline = static_cast<unsigned>(niclab::InlineMode::transport);
constexpr unsigned kSpeeds[] = {1000, 10000, 25000, 40000, 50000, 100000};

bool check_inline(unsigned headers, char *error, size_t error_bytes) {
    if (headers <= kMostInline) return true;
    snprintf(error, error_bytes, "inline-headers is %u, it must be from 0 to %u", headers, kMostInline);
    return false;
}

// One sentence about the first value out of range, or an empty one.
bool check(const cx_config &config, char *error, size_t error_bytes) {
    if (config.queues < 1 || config.queues > kMostQueues) {
        snprintf(error, error_bytes, "queues is %u, it must be from 1 to %u", config.queues, kMostQueues);
        return false;
    }
    if (config.vectors <= config.queues || config.vectors > 2048) {
        snprintf(error, error_bytes, "vectors is %u, it must be from queues + 1 = %u to 2048", config.vectors,
                 config.queues + 1);
        return false;
    }
    if (!check_inline(config.inline_headers, error, error_bytes)) return false;
    bool known = false;
    for (unsigned speed : kSpeeds)
        known |= speed == config.speed_mbps;
    if (!known)
        snprintf(error, error_bytes,
                 "speed is %u, it must be one of 1000, 10000, 25000, 40000, 50000, 100000",
                 config.speed_mbps);
    else if (config.mac[0] & 1)
        snprintf(error, error_bytes, "mac starts with byte %02x, it must be a unicast address",
                 config.mac[0]);
    return known && !(config.mac[0] & 1);
}

} // namespace

extern "C" {

struct cx_core *cx_core_new(const struct cx_host_ops *ops, void *host, const struct cx_config *config,
                            char *error, size_t error_bytes) {
    if (!check(*config, error, error_bytes)) return nullptr;
    return new cx_core{{ops, host, *config}};
}

void cx_core_free(struct cx_core *core) { delete core; }
void cx_core_reset(struct cx_core *core) { core->device.reset(); }

uint64_t cx_core_read(struct cx_core *core, uint64_t offset, unsigned size) {
    return core->device.mmio_read(offset, size);
}

void cx_core_write(struct cx_core *core, uint64_t offset, uint64_t value, unsigned size) {
    core->device.mmio_write(offset, value, size);
}

void cx_core_frame_in(struct cx_core *core, const void *frame, size_t len) {
    core->device.frame_in({static_cast<const unsigned char *>(frame), len});
}

void cx_core_timer(struct cx_core *core) { core->device.timer_expired(); }
void cx_core_set_cable(struct cx_core *core, bool plugged) { core->device.set_cable(plugged); }
void cx_core_set_module(struct cx_core *core, bool plugged) { core->device.set_module(plugged); }
bool cx_core_module(const struct cx_core *core) { return core->device.port.module_plugged(); }
void cx_core_set_temperature(struct cx_core *core, int millidegrees) {
    int kept = std::clamp(millidegrees, -128'000, 255'000);
    core->device.set_temperature(
        static_cast<niclab::connectx::Board::Temperature>(kept / kMillidegreesPerUnit));
}
int cx_core_temperature(const struct cx_core *core) {
    return core->device.board.temperature() * kMillidegreesPerUnit;
}
void cx_core_damage_frames(struct cx_core *core, uint32_t frames) {
    core->device.port.damaged_frames = frames;
}
uint32_t cx_core_damaged_frames(const struct cx_core *core) { return core->device.port.damaged_frames; }
void cx_core_set_health(struct cx_core *core, uint8_t syndrome, bool fatal) {
    core->device.hca.inject(static_cast<niclab::connectx::HealthSyndrome>(syndrome), fatal);
}
uint8_t cx_core_health(const struct cx_core *core, bool fatal) {
    const niclab::connectx::Hca &hca = core->device.hca;
    return hca.wants_reset == fatal ? static_cast<uint8_t>(hca.health) : 0;
}
bool cx_core_set_inline_headers(struct cx_core *core, unsigned headers, char *error, size_t error_bytes) {
    if (!check_inline(headers, error, error_bytes)) return false;
    core->device.config.inline_headers = headers;
    return true;
}
void cx_core_set_real_time_clock(struct cx_core *core, bool on) { core->device.config.real_time_clock = on; }
void cx_core_set_pulse_input(struct cx_core *core, bool high) { core->device.set_pulse_input(high); }
bool cx_core_pulse_input(const struct cx_core *core) { return core->device.pulse_pins.input(); }
bool cx_core_beacon(const struct cx_core *core) { return core->device.board.blinks(); }
bool cx_core_link_up(const struct cx_core *core) { return core->device.port.up(); }
void cx_core_set_tracing(struct cx_core *core, bool on) { core->device.set_tracing(on); }

size_t cx_core_counter_count(void) { return niclab::connectx::Counters::count(); }
const char *cx_core_counter_name(size_t index) { return niclab::connectx::Counters::name(index); }
uint64_t cx_core_counter(const struct cx_core *core, size_t index) {
    return core->device.counters.value(index);
}

const char *cx_core_dma_purpose(unsigned purpose) { return niclab::connectx::Counters::purpose(purpose); }

const char *cx_core_command_name(unsigned opcode) {
    const niclab::connectx::Command *command =
        opcode <= 0xffff ? niclab::connectx::find_command(static_cast<unsigned short>(opcode)) : nullptr;
    return command ? command->name : "UNKNOWN";
}
}
