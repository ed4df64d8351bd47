// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/device.h"

#include "connectx/link_bytes.h"
#include "spec/init_segment.h"

namespace niclab::connectx {
namespace {

// Doorbell pages are numbered by their place in BAR0 and stay clear of the initialization segment.
constexpr u32 kFirstUar = 0x10, kUars = CX_BAR_BYTES / uar::kBytes - kFirstUar;
constexpr u32 kFirst = 1, kMost = 1u << 16; // PDs, transport domains, TISs
constexpr u32 kMaxEqs = 64, kMaxQCounters = 255;

} // namespace

class Device::Busy {
  public:
    explicit Busy(Device &device) : device_(device), was_(device.busy_) { device.busy_ = true; }
    ~Busy() {
        device_.busy_ = was_;
        if (!was_) device_.now_.reset();
    }
    Busy(const Busy &) = delete;

  private:
    Device &device_;
    bool was_;
};

Device::Device(const cx_host_ops *host_ops, void *host_object, const cx_config &configuration)
    : ops(host_ops), host(host_object), config(configuration), dma(host_ops, host_object, counters),
      timers(host_ops, host_object), commands(*this), port(*this), board(*this), pulse_pins(*this),
      vport(config.mac), uars(kFirstUar, kUars), pds(kFirst, kMost), transport_domains(kFirst, kMost),
      q_counters(kFirst, kMaxQCounters), tises(kFirst, kMost), mkeys(kFirstMkey, kMaxMkeys),
      eqs(kFirst, kMaxEqs), cqs(kFirstCq, kMaxCqs), sqs(kFirstSq, kMaxSqs), rqs(kFirstRq, kMaxRqs),
      rqts(kFirstRqt, kMaxRqts), tirs(kFirstTir, kMaxTirs) {}

void Device::guest_error(const char *what, u64 value) {
    counters.add(Counter::guest_errors);
    ops->guest_error(host, what, value);
}

u32 Device::live_objects() const {
    return uars.live() + pds.live() + transport_domains.live() + q_counters.live() + tises.live() +
           mkeys.live() + eqs.live() + cqs.live() + sqs.live() + rqs.live() + rqts.live() + tirs.live() +
           steering.tables.live() + steering.groups.live() + steering.counters.live() + steering.entries;
}

void Device::drop_objects() {
    lro.forget_all();
    steering.reset();
    tirs.clear();
    rqts.clear();
    rqs.clear();
    sqs.clear();
    cqs.clear();
    eqs.clear();
    mkeys.clear();
    translation_octwords = 0;
    tises.clear();
    q_counters.clear();
    transport_domains.clear();
    pds.clear();
    uars.clear();
    vxlan_ports.reset();
    counters.set(Counter::live_objects, 0);
}

void Device::power_on() {
    drop_objects();
    hca.reset(*this);
    port.reset();
    board.reset();
    pulse_pins.reset();
    real_time.reset();
    vport.reset();
    timers.cancel_wake_up();
}

void Device::reset() {
    power_on();
    commands.reset();
}

void Device::frame_in(std::span<const u8> frame) {
    Busy busy(*this);
    trace(CX_TRACE_WIRE, frame.size(), 0, 0, frame);
    receive_frame(*this, frame);
}

void Device::timer_expired() {
    Busy busy(*this);
    timers.expire(*this);
}

void Device::set_cable(bool plugged) {
    Busy busy(*this);
    port.set_cable(plugged);
}

void Device::set_module(bool plugged) {
    Busy busy(*this);
    port.set_module(plugged);
}

void Device::set_temperature(Board::Temperature now) {
    Busy busy(*this);
    board.set_temperature(now);
}

void Device::set_pulse_input(bool high) {
    Busy busy(*this);
    pulse_pins.set_input(high);
}

void Device::mmio_write(u64 offset, u64 value, unsigned size) {
    counters.add(Counter::mmio_writes);
    counters.add(Counter::mmio_link_bytes, link_bytes_of_write(size));
    trace(CX_TRACE_DOORBELL, offset, value, size);
    if (busy_) {
        guest_error("register write while the card is at work", offset);
        return;
    }
    Busy busy(*this);
    if (offset >= u64{kFirstUar} * uar::kBytes) {
        write_doorbell(offset, value, size);
    } else if (size == 8 && offset % 8 == 0) {
        write_word(static_cast<u32>(offset), static_cast<u32>(value >> 32));
        write_word(static_cast<u32>(offset) + 4, static_cast<u32>(value));
    } else if (size == 4 && offset % 4 == 0) {
        write_word(static_cast<u32>(offset), static_cast<u32>(value));
    } else {
        guest_error("register write of a size or alignment that no register has", offset);
    }
}

} // namespace niclab::connectx
