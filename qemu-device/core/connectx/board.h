// SPDX-License-Identifier: GPL-2.0-or-later
// What sits on the card's board beside the chip: the port's indicator light and a temperature sensor.
#pragma once

#include "spec/types.h"

namespace niclab::connectx {

class Device;

class Board {
  public:
    explicit Board(Device &device) : device_(device) {}
    void reset(); // the light is off and nothing is tracked; the temperature is the world's and stays

    // Seconds to blink, kForever, or 0 for off.
    static constexpr u32 kForever = 0xffff;
    void blink(u32 seconds);
    bool blinks() const;
    u32 blink_seconds() const { return blinks() ? blink_seconds_ : 0; }
    u32 blink_left() const;

    // In units of 0.125 degrees. Above the limit the guest is warned once, until it was below it again.
    using Temperature = s16;
    static constexpr Temperature kUnitsPerDegree = 8, kStart = 45 * kUnitsPerDegree,
                                 kLimit = 105 * kUnitsPerDegree, kLimitBelow = 100 * kUnitsPerDegree;
    void set_temperature(Temperature now);
    Temperature temperature() const { return temperature_; }
    void track_highest(bool on) { tracks_ = on; }
    bool tracks_highest() const { return tracks_; }
    void forget_highest() { highest_ = temperature_; }
    Temperature highest() const { return highest_; }

  private:
    Device &device_;
    u32 blink_seconds_ = 0;
    u64 blink_until_ns_ = 0;
    Temperature temperature_ = kStart, highest_ = kStart;
    bool tracks_ = false, warned_ = false;
};

} // namespace niclab::connectx
