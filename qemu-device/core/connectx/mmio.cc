// SPDX-License-Identifier: GPL-2.0-or-later
// What each address of BAR0 means: the initialization segment and the doorbell pages.
#include "connectx/cq_event.h"
#include "connectx/device.h"
#include "connectx/link_bytes.h"
#include "spec/init_segment.h"

namespace niclab::connectx {
namespace {

constexpr u32 kHwId = 0x212;                 // device id in the silicon's own numbering
constexpr u64 kNanosecondsPerTick = 1000000; // health counter: one step in a millisecond
constexpr u32 kSendBufferBytes = 0x100;      // two buffers in each of the 2^log_bf_reg_size windows

} // namespace

u32 Device::read_health(u32 offset) const {
    u8 raw[HealthBuffer::bytes] = {};
    View<HealthBuffer>(raw)
        .set(HealthBuffer::fw_version, firmware::kMajor << 24 | firmware::kMinor << 16 | firmware::kSubMinor)
        .set(HealthBuffer::hw_id, kHwId)
        .set(HealthBuffer::time, static_cast<u32>(now_ns() / 1000000000))
        .set(HealthBuffer::rfr, hca.wants_reset)
        .set(HealthBuffer::synd, static_cast<u32>(hca.health));
    if (hca.health != HealthSyndrome::good)
        View<HealthBuffer>(raw)
            .set(HealthBuffer::severity_valid, 1)
            .set(HealthBuffer::severity,
                 static_cast<u32>(hca.wants_reset ? Severity::critical : Severity::error));
    return load_be32(raw + offset);
}

u32 Device::read_word(u32 offset) const {
    using namespace init_segment;
    switch (offset) {
    case kFwRev:
        return firmware::kMinor << 16 | firmware::kMajor;
    case kCmdifRev:
        return kCmdifRevision << 16 | firmware::kSubMinor;
    case kCmdqAddrHigh:
        return commands.address_high();
    case kCmdqAddrLow:
        return commands.address_low();
    case kInitializing:
        return kResetSupported;
    case kTimerHigh:
        return static_cast<u32>(now_ns() >> 32);
    case kTimerLow:
        return static_cast<u32>(now_ns());
    case kRealTimeHigh:
        return static_cast<u32>(real_time.wire_at(now_ns()) >> 32);
    case kRealTimeLow:
        return static_cast<u32>(real_time.wire_at(now_ns()));
    // Never zero, and another value at every poll: a poller takes a standing counter for a dead card.
    case kHealthCounter:
        return static_cast<u32>(hca.health) << 24 |
               static_cast<u32>((now_ns() / kNanosecondsPerTick) % 0xfffffe + 1);
    default:
        break;
    }
    if (offset >= kHealthBuffer && offset < kHealthBuffer + HealthBuffer::bytes)
        return read_health(offset - kHealthBuffer);
    return 0;
}

u64 Device::mmio_read(u64 offset, unsigned size) {
    counters.add(Counter::mmio_reads);
    counters.add(Counter::mmio_link_bytes, link_bytes_of_read(size));
    u64 value = 0;
    for (unsigned i = 0; i < size; ++i) {
        u64 at = offset + i;
        u32 word = at < init_segment::kBytes ? read_word(static_cast<u32>(at & ~u64{3})) : 0;
        value = value << 8 | (word >> (8 * (3 - at % 4)) & 0xff);
    }
    return value;
}

void Device::write_word(u32 offset, u32 value) {
    using namespace init_segment;
    switch (offset) {
    case kCmdqAddrHigh:
        commands.set_address_high(value);
        return;
    case kCmdqAddrLow:
        commands.set_address_low(value);
        return;
    case kCmdDoorbell:
        counters.add(Counter::doorbells_command);
        commands.doorbell(value);
        return;
    case kClearInt:
        return; // there is no interrupt of this kind to clear
    default:
        guest_error("write to a register that is not there", offset);
    }
}

// A page belongs to the guest once ALLOC_UAR gave it out. Send doorbells name the queue in their second word;
// what else a BlueFlame copy writes behind the first eight bytes is read from memory instead.
void Device::write_doorbell(u64 offset, u64 value, unsigned size) {
    u32 page = static_cast<u32>(offset / uar::kBytes), at = offset % uar::kBytes;
    Uar *owner = uars.find(page);
    if (!owner) {
        counters.add(Counter::doorbells_invalid);
        guest_error("doorbell in a page that is not allocated", offset);
        return;
    }
    u32 word = static_cast<u32>(value);
    if (at >= uar::kSendDoorbell) {
        u32 in_buffer = at % kSendBufferBytes;
        if ((in_buffer == 0 && size == 8) || (in_buffer == 4 && size == 4)) {
            counters.add(Counter::doorbells_send);
            now_ns(); // the frames' time is that of their start, before any peer has seen them
            if (!port.pause.hold(word >> 8)) sq_doorbell(*this, word >> 8);
        }
    } else if (at == uar::kCqArm && size == 8) {
        counters.add(Counter::doorbells_cq);
        cq_arm(*this, static_cast<u32>(value >> 32), word & 0xffffff);
    } else if (at == uar::kCqArm && size == 4) {
        owner->cq_arm_latch = word;
    } else if (at == uar::kCqArm + 4 && size == 4) {
        counters.add(Counter::doorbells_cq);
        cq_arm(*this, owner->cq_arm_latch, word & 0xffffff);
    } else if ((at == uar::kEqArm || at == uar::kEqUpdate) && size == 4) {
        counters.add(Counter::doorbells_eq);
        eq_doorbell(*this, page, word, at == uar::kEqArm);
    } else {
        counters.add(Counter::doorbells_invalid);
        guest_error("doorbell at an address or of a size that no doorbell has", offset);
    }
}

} // namespace niclab::connectx
