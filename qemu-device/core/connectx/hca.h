// SPDX-License-Identifier: GPL-2.0-or-later
// The card as a whole: life phase, ISSI, capabilities, lent pages, health.
#pragma once

#include "connectx/caps.h"
#include "connectx/command.h"
#include "connectx/pages.h"

namespace niclab::connectx {

namespace firmware {
constexpr u32 kMajor = 22, kMinor = 35, kSubMinor = 1000; // 22 is the family of this card
}

// The free-running clock behind the internal timer and the time stamps of completions: one tick is one
// nanosecond of the guest's time.
constexpr u32 kClockKhz = 1'000'000;

// Health syndromes, byte 0x3d of the health buffer.
enum class HealthSyndrome : u8 { good = 0, eq_overrun = 0x0c, eq_error = 0x0d };
enum class Severity : u8 { critical = 2, error = 3 };

struct Hca {
    Phase phase = Phase::reset;
    u16 issi = 0;
    bool big_endian_host = false;
    HealthSyndrome health = HealthSyndrome::good;
    bool wants_reset = false; // the trouble ends only with a reset, and software is asked for one
    InlineMode inline_mode =
        InlineMode::none; // headers that a send WQE must hold, as configured at ENABLE_HCA
    Caps caps;
    Pages pages;

    // The only way a phase changes; false when the table of transitions does not allow it.
    bool move_to(Device &device, Phase next);
    // The first trouble stays visible until reset.
    void report(HealthSyndrome syndrome) {
        if (health == HealthSyndrome::good) health = syndrome;
    }
    // Trouble, or the end of it, from outside.
    void inject(HealthSyndrome syndrome, bool fatal) {
        health = syndrome;
        wants_reset = fatal && syndrome != HealthSyndrome::good;
    }
    void reset(Device &device);
};

} // namespace niclab::connectx
