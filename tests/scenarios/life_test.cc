// SPDX-License-Identifier: GPL-2.0-or-later
// Coming, going and coming again; and that the check at the end of every scenario works.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

constexpr int kRounds = 20;

class Life : public Scenario {
  protected:
    void expect_nothing_held(Side side) {
        EXPECT_EQ(card_counter(side, "live_pages"), 0u);
        EXPECT_EQ(card_counter(side, "live_objects"), 0u);
    }

    void bind_and_set_up(Side side) {
        need(guest().bind_driver(side, subject().driver));
        need(guest().set_up(side));
        need(guest().wait_link(side));
    }
};

TEST_F(Life, TwentyTimesIfdownAndIfupUnderTraffic) {
    BackgroundTraffic traffic(guest(), Side::b);
    for (int round = 0; round < kRounds; ++round) {
        need(guest().set_down(Side::a));
        need(guest().set_up(Side::a));
        need(guest().wait_link(Side::a));
    }
    EXPECT_GT(need(traffic.stop()), 0u);
    expect_ping();
    expect_transfer(Side::a);
}

TEST_F(Life, TwentyTimesUnbindAndBindLeavesNothingInTheCard) {
    for (int round = 0; round < kRounds; ++round) {
        SCOPED_TRACE(fmt::format("round {}", round));
        need(guest().unbind_driver(Side::a));
        EXPECT_EQ(need(guest().driver_of(Side::a)), "");
        expect_nothing_held(Side::a);
        need(guest().bind_driver(Side::a, subject().driver));
    }
    bind_and_set_up(Side::a);
    expect_ping();
    expect_transfer(Side::b);
}

TEST_F(Life, UnbindUnderTrafficLeavesNothingInTheCard) {
    for (int round = 0; round < 3; ++round) {
        BackgroundTraffic traffic(guest(), Side::b);
        need(guest().unbind_driver(Side::a));
        expect_nothing_held(Side::a);
        EXPECT_GT(need(traffic.stop()), 0u);
        bind_and_set_up(Side::a);
    }
    expect_ping();
}

TEST_F(Life, UnloadLeavesNothingInTheCardsAndReloadWorks) {
    need(guest().unload(subject().module));
    for (Side side : kBothSides) {
        EXPECT_EQ(need(guest().driver_of(side)), "");
        expect_nothing_held(side);
    }
    EXPECT_EQ(need(vm().run({"test", "-e", "/sys/module/" + subject().module}, 10s)).exit_code, 1);
    need(lab().connect());
    expect_ping();
    expect_transfer(Side::a);
}

class Detector : public Scenario, public ::testing::WithParamInterface<const char *> {};

TEST_P(Detector, NoticesWhatAHealthyKernelNeverPrints) {
    ASSERT_TRUE(guest().expect_clean().ok());
    std::size_t from = vm().console_size();
    run(Side::a, fmt::format("echo '<2>{}' >/dev/kmsg", GetParam()));
    need(vm().until("the line to reach the console", 10s, [&]() -> Result<bool> {
        std::string console = vm().console(from);
        std::size_t line = console.find(GetParam());
        return line != std::string::npos && console.find('\n', line) != std::string::npos;
    }));
    Status clean = guest().expect_clean();
    EXPECT_FALSE(clean.ok());
    EXPECT_FALSE(clean.why().empty());
    need(guest().mark());
}

INSTANTIATE_TEST_SUITE_P(
    Kernel, Detector,
    ::testing::Values(
        "eth0: hw csum failure", "WARNING: CPU: 0 PID: 1 at net/core/dev.c:1 test+0x1/0x2",
        "DMAR: [DMA Write NO_PASID] Request device [10:00.0] fault addr 0x1000 [fault reason 0x05] PTE Write "
        "access is not set",
        "mlx5_core 0000:10:00.0: wait_func:1151:(pid 1): CREATE_SQ(0x904) timeout. Will cause a leak of a "
        "command "
        "resource",
        "NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 0 timed out"));

} // namespace
} // namespace niclab::scenarios
