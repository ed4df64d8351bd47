// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <chrono>

namespace niclab {

using Milliseconds = std::chrono::milliseconds;

/// A point on the monotonic clock after which a wait gives up.
class Deadline {
  public:
    static Deadline in(Milliseconds limit) { return Deadline(limit); }

    bool expired() const { return Clock::now() >= end_; }
    Milliseconds limit() const { return limit_; }
    Milliseconds left() const {
        return std::max(Milliseconds(0), std::chrono::duration_cast<Milliseconds>(end_ - Clock::now()));
    }

  private:
    using Clock = std::chrono::steady_clock;
    explicit Deadline(Milliseconds limit) : limit_(limit), end_(Clock::now() + limit) {}

    Milliseconds limit_;
    Clock::time_point end_;
};

} // namespace niclab
