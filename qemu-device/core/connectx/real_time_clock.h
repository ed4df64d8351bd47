// SPDX-License-Identifier: GPL-2.0-or-later
// The clock that tells the time of day: nanoseconds since an epoch that the driver chooses. It runs beside
// the internal timer, from which it is computed, and faster or slower than that as the driver asks.
#pragma once

#include "spec/queues.h"
#include "spec/types.h"

namespace niclab::connectx {

class RealTimeClock {
  public:
    static constexpr u64 kSecond = 1'000'000'000;
    static constexpr u32 kLogMostPpb = 26; // fastest and slowest
    // A rate: parts per billion times 2^16, so that parts per million times 2^16 is a whole number as well.
    using Rate = s64;
    static constexpr Rate kOnePpb = 1 << 16, kOneScaledPpm = 1000;
    static constexpr Rate kMostRate = kOnePpb << kLogMostPpb;

    // Shows what the internal timer shows.
    void reset() { *this = RealTimeClock{}; }
    // Whether the driver is told of it. It runs all the same.
    void use(bool on) { used_ = on; }
    bool used() const { return used_; }
    // Whether a queue may have this ts_format.
    bool offers(u32 format) const;

    // Times of the internal timer never go back.
    u64 at(u64 timer_ns) const;
    u64 wire_at(u64 timer_ns) const { return wire(at(timer_ns)); }
    // The first time of the internal timer at which it shows `real_ns`, unless somebody moves it.
    u64 reached(u64 real_ns) const;
    void set(u64 timer_ns, u64 real_ns);
    void move(u64 timer_ns, s32 by_ns); // not below zero
    void run(u64 timer_ns, Rate faster);

    static u64 wire(u64 ns) { return (ns / kSecond) << 32 | ns % kSecond; }
    static u64 from_wire(u64 wire) { return (wire >> 32) * kSecond + static_cast<u32>(wire); }

  private:
    static constexpr u64 kEven = kSecond << 16; // what a rate is a part of
    u64 speed() const { return static_cast<u64>(s64{kEven} + rate_); }

    u64 since_ = 0, real_ = 0; // it showed real_ when the internal timer was since_
    Rate rate_ = 0;
    bool used_ = false;
};

} // namespace niclab::connectx
