// SPDX-License-Identifier: GPL-2.0-or-later
// MTUTC, MTPPS, MTPPSE: the real-time clock and the pulse pins.
#include <cstdlib>
#include <cstring>

#include "connectx/device.h"
#include "connectx/registers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynPin = 0x540501, kSynPinSetting = 0x540502, kSynEventMode = 0x540503,
              kSynNoRealTime = 0x540504, kSynClockChange = 0x540505;
constexpr s32 kFarthestMove = 200'000; // nanoseconds; what is farther away is set

s32 as_signed(u32 value) { return static_cast<s32>(value); }

bool change_clock(RealTimeClock &clock, u64 now, ConstView<Mtutc> asked) {
    switch (asked.get(Mtutc::operation)) {
    case Mtutc::kSetTime: {
        u64 nanoseconds = asked.get(Mtutc::utc_nsec);
        if (nanoseconds >= RealTimeClock::kSecond) return false;
        clock.set(now, asked.get(Mtutc::utc_sec) * RealTimeClock::kSecond + nanoseconds);
        return true;
    }
    case Mtutc::kAdjustTime: {
        s32 by = as_signed(asked.get(Mtutc::time_adjustment));
        if (by < -kFarthestMove || by > kFarthestMove) return false;
        clock.move(now, by);
        return true;
    }
    case Mtutc::kAdjustFrequency: {
        u32 units = asked.get(Mtutc::freq_adj_units);
        if (units > Mtutc::kScaledPartsPerMillion) return false;
        RealTimeClock::Rate unit =
            units == Mtutc::kPartsPerBillion ? RealTimeClock::kOnePpb : RealTimeClock::kOneScaledPpm;
        RealTimeClock::Rate rate = as_signed(asked.get(Mtutc::freq_adjustment)) * unit;
        if (std::abs(rate) > RealTimeClock::kMostRate) return false;
        clock.run(now, rate);
        return true;
    }
    default:
        return false;
    }
}

} // namespace

// ---- MTUTC
Reply read_mtutc(Device &device, RegisterIn, RegisterOut out) {
    u64 now = device.stamp(true);
    View<Mtutc>(out.data())
        .set(Mtutc::log_max_freq_adjustment, RealTimeClock::kLogMostPpb)
        .set(Mtutc::utc_sec, static_cast<u32>(now >> 32))
        .set(Mtutc::utc_nsec, static_cast<u32>(now));
    return kOk;
}
Reply write_mtutc(Device &device, RegisterIn in, RegisterOut out) {
    if (!device.real_time.used()) return fail(Status::bad_parameter, kSynNoRealTime);
    if (!change_clock(device.real_time, device.now_ns(), ConstView<Mtutc>(in.data())))
        return fail(Status::bad_parameter, kSynClockChange);
    device.pulse_pins.clock_changed();
    return read_mtutc(device, in, out);
}

// ---- MTPPS
Reply read_mtpps(Device &device, RegisterIn in, RegisterOut out) {
    u32 pin = ConstView<Mtpps>(in.data()).get(Mtpps::pin);
    if (pin >= PulsePins::kPins) return fail(Status::bad_parameter, kSynPin);
    std::memcpy(out.data(), device.pulse_pins.setting(pin).raw(), Mtpps::bytes);
    View<Mtpps>(out.data())
        .set(Mtpps::cap_number_of_pps_pins, PulsePins::kPins)
        .set(Mtpps::cap_max_num_of_pps_in_pins, 1)
        .set(Mtpps::cap_max_num_of_pps_out_pins, 1)
        .set(Mtpps::cap_log_min_npps_period, PulsePins::kLogLeastPeriod)
        .set(Mtpps::cap_log_min_out_pulse_duration_ns, PulsePins::kLogLeastDuration)
        .set(Mtpps::cap_pin_0_mode, Mtpps::kCanBeInput)
        .set(Mtpps::cap_pin_1_mode, Mtpps::kCanBeOutput)
        .set(Mtpps::pin, pin);
    return kOk;
}
Reply write_mtpps(Device &device, RegisterIn in, RegisterOut out) {
    ConstView<Mtpps> image(in.data());
    u32 pin = image.get(Mtpps::pin);
    if (pin >= PulsePins::kPins) return fail(Status::bad_parameter, kSynPin);
    if (!device.pulse_pins.configure(pin, image)) return fail(Status::bad_parameter, kSynPinSetting);
    return read_mtpps(device, in, out);
}

// ---- MTPPSE
Reply read_mtppse(Device &device, RegisterIn in, RegisterOut out) {
    u32 pin = ConstView<Mtppse>(in.data()).get(Mtppse::pin);
    if (pin >= PulsePins::kPins) return fail(Status::bad_parameter, kSynPin);
    View<Mtppse>(out.data())
        .set(Mtppse::pin, pin)
        .set(Mtppse::event_arm, device.pulse_pins.armed(pin))
        .set(Mtppse::event_generation_mode, device.pulse_pins.event_mode(pin));
    return kOk;
}
Reply write_mtppse(Device &device, RegisterIn in, RegisterOut out) {
    ConstView<Mtppse> image(in.data());
    u32 pin = image.get(Mtppse::pin), mode = image.get(Mtppse::event_generation_mode);
    if (pin >= PulsePins::kPins) return fail(Status::bad_parameter, kSynPin);
    if (mode > Mtppse::kOnceWhenArmed) return fail(Status::bad_parameter, kSynEventMode);
    device.pulse_pins.set_events(pin, mode, image.get(Mtppse::event_arm));
    return read_mtppse(device, in, out);
}

} // namespace niclab::connectx
