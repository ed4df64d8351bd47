// SPDX-License-Identifier: GPL-2.0-or-later
// The stock driver's PTP hardware clock where the card tells the time of day itself.
#include "peers/clock.h"

namespace niclab::scenarios {
namespace {

class RealTimeClock : public Clock {
  protected:
    void SetUp() override {
        Clock::SetUp();
        need(configure(true));
    }
    void TearDown() override {
        if (Status done = configure(false); !done.ok()) ADD_FAILURE() << done.why();
        Clock::TearDown();
    }
    Status configure(bool on) {
        for (Side side : kBothSides) {
            NICLAB_TRY(guest().unbind_driver(side));
            NICLAB_TRY(set_card(side, "real-time-clock", on));
            NICLAB_TRY(guest().bind_driver(side, subject().driver));
            NICLAB_TRY(guest().set_up(side));
        }
        for (Side side : kBothSides)
            NICLAB_TRY(guest().wait_link(side));
        return {};
    }
};

// One test: what takes long is the change of the cards.
TEST_F(RealTimeClock, IsSetMovedStampedAndSteered) {
    constexpr double kSomeMinutes = 600e9;
    std::int64_t system = std::stoll(run(Side::a, "date +%s")) * kSecond;
    EXPECT_NEAR(static_cast<double>(now(Side::a) - system), 0, kSomeMinutes) << "set by the driver";
    expect_read_set_and_moved();
    expect_stamps_between_readings();
    expect_input_stamped();
    expect_output("0 250000000");
    expect_slave_locks();
    auto restored = with_clocks_restored();
    run(Side::a, "timeout 90 phc2sys -s CLOCK_REALTIME -c $IF -O 0 -m -q -R 8 | grep -m 1 ' s2 '", 100s);
}

} // namespace
} // namespace niclab::scenarios
