// SPDX-License-Identifier: GPL-2.0-or-later
// The stock driver's PTP hardware clock over the card's free-running timer, and time stamps from completions.
#include <regex>

#include "peers/clock.h"

namespace niclab::scenarios {
namespace {

TEST_F(Clock, IsOfferedForStampsInBothDirections) {
    for (Side side : kBothSides) {
        std::string shown = run(side, "ethtool -T $IF");
        for (const char *what : {"hardware-transmit", "hardware-receive", "hardware-raw-clock"})
            EXPECT_NE(shown.find(what), std::string::npos) << what << " in\n" << shown;
        EXPECT_TRUE(std::regex_search(shown, std::regex("PTP Hardware Clock: [0-9]+"))) << shown;
    }
}

TEST_F(Clock, IsReadSetAndMoved) { expect_read_set_and_moved(); }
TEST_F(Clock, ReceiveStampsLieBetweenTwoReadings) { expect_stamps_between_readings(); }
TEST_F(Clock, PtpSlaveLocksOnAMaster) { expect_slave_locks(); }
TEST_F(Clock, StampsPulsesOfAnotherClock) { expect_input_stamped(); }
// The driver moves each pulse to the next second of its own clock when it hears of the one before.
TEST_F(Clock, GivesAPulseEachSecond) { expect_output("1 0"); }

} // namespace
} // namespace niclab::scenarios
