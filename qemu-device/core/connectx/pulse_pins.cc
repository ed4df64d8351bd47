// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/pulse_pins.h"

#include <cstring>

#include "connectx/device.h"

namespace niclab::connectx {
namespace {

using M = Mtpps;
constexpr u64 kSecond = RealTimeClock::kSecond;
constexpr u32 kSelectable = M::kSelectEnable | M::kSelectPattern | M::kSelectPinMode | M::kSelectTimeStamp |
                            M::kSelectDuration | M::kSelectAdjustment | M::kSelectPeriod |
                            M::kSelectDurationNs;

bool is_time_of_day(u64 wire) { return static_cast<u32>(wire) < kSecond; }

void take_selected(View<M> setting, ConstView<M> asked) {
    constexpr struct {
        u32 bit;
        Field<M> field;
    } kFields[] = {
        {M::kSelectEnable, M::enable},
        {M::kSelectPattern, M::pattern},
        {M::kSelectPinMode, M::pin_mode},
        {M::kSelectDuration, M::out_pulse_duration},
        {M::kSelectDurationNs, M::out_pulse_duration_ns},
        {M::kSelectAdjustment, M::enhanced_out_periodic_adjustment},
    };
    u32 selected = asked.get(M::field_select);
    for (const auto &row : kFields)
        if (selected & row.bit) setting.set(row.field, asked.get(row.field));
    if (selected & M::kSelectTimeStamp) setting.set(M::time_stamp, asked.get(M::time_stamp));
    if (selected & M::kSelectPeriod) setting.set(M::npps_period, asked.get(M::npps_period));
}

// From one pulse to the next; negative where the adjustment takes more than there is.
s64 period(ConstView<M> setting) {
    if (u64 own = setting.get(M::npps_period)) return static_cast<s64>(RealTimeClock::from_wire(own));
    return s64{kSecond} + static_cast<s32>(setting.get(M::enhanced_out_periodic_adjustment));
}

bool possible(u32 pin, ConstView<M> setting, bool real_time) {
    constexpr u32 kPatterns = 2; // of either direction
    if (!setting.get(M::enable)) return true;
    u32 direction = pin == PulsePins::kInput ? M::kInput : M::kOutput;
    if (setting.get(M::pin_mode) != direction || setting.get(M::pattern) >= kPatterns) return false;
    if (direction == M::kInput) return true;
    u32 duration = setting.get(M::out_pulse_duration_ns);
    if (duration && duration >> PulsePins::kLogLeastDuration == 0) return false;
    return is_time_of_day(setting.get(M::npps_period)) &&
           (!real_time || is_time_of_day(setting.get(M::time_stamp))) &&
           period(setting) >> PulsePins::kLogLeastPeriod > 0;
}

} // namespace

PulsePins::PulsePins(Device &device) : device_(device), timer_(device.timers, pulse_due) {}

void PulsePins::reset() {
    timer_.stop();
    for (Pin &pin : pins_)
        pin = {};
}

u64 PulsePins::now() const {
    return device_.real_time.used() ? device_.real_time.at(device_.now_ns()) : device_.now_ns();
}
u64 PulsePins::to_wire(u64 time) const { return device_.real_time.used() ? RealTimeClock::wire(time) : time; }
u64 PulsePins::from_wire(u64 wire) const {
    return device_.real_time.used() ? RealTimeClock::from_wire(wire) : wire;
}

void PulsePins::tell(u32 pin, u64 time) {
    constexpr usize kPinByte = 3, kStamp = 8;
    Pin &state = pins_[pin];
    bool wanted =
        state.event_mode == Mtppse::kAlways || (state.event_mode == Mtppse::kOnceWhenArmed && state.armed);
    if (!wanted) return;
    state.armed = false;
    u8 data[16] = {};
    data[kPinByte] = static_cast<u8>(pin);
    store_be64(data + kStamp, to_wire(time));
    post_async(device_, Event::pulse, 0, data);
}

// ---- input
void PulsePins::set_input(bool high) {
    if (high == high_) return;
    high_ = high;
    View<M> setting(pins_[kInput].setting);
    bool edge = setting.get(M::pattern) == (high ? M::kRising : M::kFalling);
    if (!setting.get(M::enable) || !edge) return;
    device_.counters.add(Counter::pulses_in);
    u64 time = now();
    setting.set(M::time_stamp, to_wire(time));
    tell(kInput, time);
}

// ---- output
// A periodic output gives pulses at its time stamp and at whole periods behind it, any other one at the time
// stamp alone. Those of before `not_before` are not made up for.
void PulsePins::plan(u64 not_before) {
    timer_.stop();
    ConstView<M> output = setting(kOutput);
    if (!output.get(M::enable)) return;
    next_ = from_wire(output.get(M::time_stamp));
    if (next_ < not_before) {
        if (output.get(M::pattern) != M::kPeriodic) return;
        u64 step = static_cast<u64>(period(output));
        next_ += (not_before - next_ + step - 1) / step * step;
    }
    timer_.start(device_.real_time.used() ? device_.real_time.reached(next_) : next_, kOutput);
}

void PulsePins::pulse_due(Device &device, u32) { device.pulse_pins.give_pulse(); }

void PulsePins::give_pulse() {
    device_.counters.add(Counter::pulses_out);
    tell(kOutput, next_);
    plan(now() + 1);
}

void PulsePins::clock_changed() {
    if (timer_.running()) plan(now());
}

// ---- both
bool PulsePins::configure(u32 pin, ConstView<M> asked) {
    if (asked.get(M::field_select) & ~kSelectable) return false;
    u8 setting[M::bytes];
    std::memcpy(setting, pins_[pin].setting, sizeof setting);
    take_selected(View<M>(setting), asked);
    if (!possible(pin, ConstView<M>(setting), device_.real_time.used())) return false;
    std::memcpy(pins_[pin].setting, setting, sizeof setting);
    if (pin == kOutput) plan(now());
    return true;
}

void PulsePins::set_events(u32 pin, u32 mode, bool arm) {
    pins_[pin].event_mode = mode;
    pins_[pin].armed = arm;
}

} // namespace niclab::connectx
