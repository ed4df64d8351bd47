// SPDX-License-Identifier: GPL-2.0-or-later
// The pins for pulses of one per second or other periods: pin 0 takes them from another clock, pin 1 gives
// them. A pulse at either makes an event with its time when the driver wants that.
//
// Times at the pins are those of the real-time clock where the driver is told of it, else of the internal
// timer.
#pragma once

#include "connectx/timer.h"
#include "spec/clock_registers.h"

namespace niclab::connectx {

class PulsePins {
  public:
    static constexpr u32 kPins = 2, kInput = 0, kOutput = 1;
    static constexpr u32 kLogLeastPeriod = 20, kLogLeastDuration = 10; // nanoseconds

    explicit PulsePins(Device &device);
    void reset(); // both are off; the level at the input is the world's and stays

    void set_input(bool high);
    bool input() const { return high_; }

    // A pin as MTPPS shows it, without what all pins share.
    ConstView<Mtpps> setting(u32 pin) const { return ConstView<Mtpps>(pins_[pin].setting); }
    // Takes the fields that the image selects. False, and nothing has changed, when one of them or what they
    // are together is not possible.
    bool configure(u32 pin, ConstView<Mtpps> asked);
    // Whether pulses make events: as MTPPSE.
    void set_events(u32 pin, u32 mode, bool arm);
    u32 event_mode(u32 pin) const { return pins_[pin].event_mode; }
    bool armed(u32 pin) const { return pins_[pin].armed; }

    // Somebody moved the real-time clock, or made it faster.
    void clock_changed();

  private:
    struct Pin {
        u8 setting[Mtpps::bytes] = {};
        u32 event_mode = Mtppse::kNever;
        bool armed = false;
    };
    static void pulse_due(Device &device, u32);
    void plan(u64 not_before);
    void give_pulse();
    void tell(u32 pin, u64 time);
    u64 now() const;
    u64 to_wire(u64 time) const;
    u64 from_wire(u64 wire) const;

    Device &device_;
    Pin pins_[kPins];
    bool high_ = false;
    u64 next_ = 0; // while the timer runs: the time of the output's next pulse
    Timer timer_;
};

} // namespace niclab::connectx
