// SPDX-License-Identifier: GPL-2.0-or-later
// What every PTP hardware clock of a driver must do, whichever clock of the card it is made of.
#pragma once

#include "scenarios/lab.h"

namespace niclab::scenarios {

class Clock : public Scenario {
  protected:
    static constexpr std::int64_t kSecond = 1'000'000'000;

    /// Runs phc_ctl on `side` and gives each clock reading in its output, in nanoseconds.
    std::vector<std::int64_t> phc(Side side, const std::string &commands);
    std::int64_t now(Side side) { return phc(side, "get").at(0); }

    /// Both clocks run as the driver started them, and nothing is stamped, after the end of the scope.
    [[nodiscard]] std::unique_ptr<Afterwards> with_clocks_restored();

    void expect_read_set_and_moved();
    void expect_stamps_between_readings();
    void expect_slave_locks();
    /// A rising edge at side a's pin is told by the driver with its time, as an event or as a PPS source.
    void expect_input_stamped();
    /// The pin of side a gives pulses of that period, "SECONDS NANOSECONDS", until it is told to stop.
    void expect_output(const std::string &period);

    Status set_card(Side side, const char *property, bool value);

  private:
    /// Runs a script in the folder of side a's clock.
    std::string in_clock(const std::string &script);
    std::int64_t edge_stamp(const std::string &wait_for_it);
};

} // namespace niclab::scenarios
