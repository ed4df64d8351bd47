// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Registers of the clocks: the time of day and the pulse pins.
#pragma once

#include "spec/layout.h"

namespace niclab {

// Times of day on the wire: seconds in the upper, nanoseconds in the lower 32 bits.
struct Mtutc { // sets and steers the real-time clock
    using F = Field<Mtutc>;
    static constexpr u16 bytes = 0x1c;
    static constexpr F freq_adj_units{0x00, 26, 24};
    static constexpr F log_max_freq_adjustment{0x00, 20, 16}; // in parts per billion
    static constexpr F operation{0x00, 3, 0};
    static constexpr F freq_adjustment{0x04, 31, 0}; // signed
    static constexpr F utc_sec{0x10, 31, 0};
    static constexpr F utc_nsec{0x14, 29, 0};
    static constexpr F time_adjustment{0x18, 31, 0};                          // signed nanoseconds
    static constexpr u32 kSetTime = 1, kAdjustTime = 2, kAdjustFrequency = 3; // operation
    static constexpr u32 kPartsPerBillion = 0, kScaledPartsPerMillion = 1;    // units; scaled: by 2^16
    static constexpr F rows[] = {freq_adj_units, log_max_freq_adjustment, operation, freq_adjustment, utc_sec,
                                 utc_nsec,       time_adjustment};
};
struct Mtpps { // one pulse pin; what the card can do with each stands in every answer
    using F = Field<Mtpps>;
    static constexpr u16 bytes = 0x3c;
    static constexpr F cap_number_of_pps_pins{0x00, 19, 16};
    static constexpr F cap_max_num_of_pps_in_pins{0x00, 11, 8};
    static constexpr F cap_max_num_of_pps_out_pins{0x00, 3, 0};
    static constexpr F cap_log_min_npps_period{0x04, 12, 8};
    static constexpr F cap_log_min_out_pulse_duration_ns{0x04, 4, 0};
    static constexpr F cap_pin_1_mode{0x08, 11, 8};
    static constexpr F cap_pin_0_mode{0x08, 3, 0};
    static constexpr F field_select{0x10, 31, 0};
    static constexpr Field64<Mtpps> npps_period{0x18}; // a time of day; 0: a second
    static constexpr F enable{0x20, 31, 31};
    static constexpr F pattern{0x20, 19, 16};
    static constexpr F pin_mode{0x20, 11, 8};
    static constexpr F pin{0x20, 7, 0};
    static constexpr F out_pulse_duration_ns{0x24, 29, 0};
    static constexpr Field64<Mtpps> time_stamp{0x28}; // out: of a pulse; in: of the last one
    static constexpr F out_pulse_duration{0x30, 31, 16};
    static constexpr F enhanced_out_periodic_adjustment{0x34, 31, 0}; // signed, of a period of one second
    static constexpr u32 kCanBeInput = 1, kCanBeOutput = 2;           // cap_pin_n_mode
    static constexpr u32 kInput = 0, kOutput = 1;                     // pin_mode
    static constexpr u32 kRising = 0, kFalling = 1;                   // pattern of an input
    static constexpr u32 kOnce = 0, kPeriodic = 1;                    // pattern of an output
    // field_select: which fields of a written image count
    static constexpr u32 kSelectEnable = 1 << 0, kSelectPattern = 1 << 2, kSelectPinMode = 1 << 3,
                         kSelectTimeStamp = 1 << 4, kSelectDuration = 1 << 5, kSelectAdjustment = 1 << 7,
                         kSelectPeriod = 1 << 9, kSelectDurationNs = 1 << 10;
    static constexpr F rows[] = {cap_number_of_pps_pins,
                                 cap_max_num_of_pps_in_pins,
                                 cap_max_num_of_pps_out_pins,
                                 cap_log_min_npps_period,
                                 cap_log_min_out_pulse_duration_ns,
                                 cap_pin_1_mode,
                                 cap_pin_0_mode,
                                 field_select,
                                 enable,
                                 pattern,
                                 pin_mode,
                                 pin,
                                 out_pulse_duration_ns,
                                 out_pulse_duration,
                                 enhanced_out_periodic_adjustment};
};
struct Mtppse { // whether pulses of a pin make events
    using F = Field<Mtppse>;
    static constexpr u16 bytes = 0x10;
    static constexpr F pin{0x00, 7, 0};
    static constexpr F event_arm{0x04, 31, 31};
    static constexpr F event_generation_mode{0x04, 3, 0};
    static constexpr u32 kNever = 0, kAlways = 1, kOnceWhenArmed = 2; // event_generation_mode
    static constexpr F rows[] = {pin, event_arm, event_generation_mode};
};
static_assert(disjoint(Mtutc::rows) && disjoint(Mtpps::rows) && disjoint(Mtppse::rows));

} // namespace niclab
