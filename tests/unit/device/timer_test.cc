// SPDX-License-Identifier: GPL-2.0-or-later
// The card's timers over the one wake-up that the host gives.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "connectx/device.h"
#include "connectx/timer.h"

namespace niclab::connectx {
namespace {

// A host that has a clock and a wake-up, and nothing else is asked of it.
class TimerTest : public testing::Test {
  protected:
    struct Ran {
        u32 number;
        u64 at;
        bool operator==(const Ran &) const = default;
    };

    // Moves the clock in steps to each wake-up.
    void advance_to(u64 end) {
        while (wake_up <= end) {
            now = std::max(now, std::exchange(wake_up, CX_TIMER_OFF));
            device.timer_expired();
        }
        now = end;
    }
    static void note(Device &device, u32 number) {
        auto &test = *static_cast<TimerTest *>(device.host);
        test.ran.push_back({number, test.now});
        if (number == kAgain) test.again->start(test.now, kAgain);
    }

    static constexpr u32 kAgain = 77;
    u64 now = 1000, wake_up = CX_TIMER_OFF;
    unsigned calls = 0;
    std::vector<Ran> ran;
    Timer *again = nullptr;

    static constexpr cx_host_ops kOps = {
        .dma_read = nullptr,
        .dma_write = nullptr,
        .dma_write_entry = nullptr,
        .interrupt = nullptr,
        .frame_out = nullptr,
        .now_ns = [](void *host) -> uint64_t { return static_cast<TimerTest *>(host)->now; },
        .set_timer =
            [](void *host, uint64_t at_ns) {
                auto &test = *static_cast<TimerTest *>(host);
                test.wake_up = at_ns;
                ++test.calls;
            },
        .guest_error = nullptr,
        .trace = nullptr,
    };

    Device device{&kOps,
                  this,
                  {.mac = {2},
                   .queues = 8,
                   .vectors = 16,
                   .inline_headers = 0,
                   .speed_mbps = 100000,
                   .real_time_clock = false}};
};

TEST_F(TimerTest, RunsAtItsTimeAndOnce) {
    Timer timer(device.timers, note);
    timer.start(1500, 3);
    EXPECT_TRUE(timer.running());
    advance_to(1499);
    EXPECT_TRUE(ran.empty());
    advance_to(9000);
    EXPECT_EQ(ran, (std::vector<Ran>{{3, 1500}}));
    EXPECT_FALSE(timer.running());
    EXPECT_EQ(wake_up, CX_TIMER_OFF);
}

TEST_F(TimerTest, ATimeThatHasPassedRunsAtTheNextWakeUpNotInTheCall) {
    Timer timer(device.timers, note);
    timer.start(10, 1);
    EXPECT_TRUE(ran.empty());
    advance_to(now);
    EXPECT_EQ(ran, (std::vector<Ran>{{1, 1000}}));
}

TEST_F(TimerTest, AStoppedOrDestroyedTimerDoesNothing) {
    Timer stopped(device.timers, note);
    auto destroyed = std::make_unique<Timer>(device.timers, note);
    stopped.start(1100, 1);
    destroyed->start(1200, 2);
    stopped.stop();
    destroyed.reset();
    advance_to(5000);
    EXPECT_TRUE(ran.empty());
    EXPECT_EQ(wake_up, CX_TIMER_OFF) << "the wake-up that was left found nothing and asked for no other";
}

TEST_F(TimerTest, MovingToLaterAsksNothingOfTheHost) {
    Timer timer(device.timers, note);
    timer.start(1100, 1);
    for (u64 due = 1200; due <= 5000; due += 100)
        timer.start(due, 1);
    EXPECT_EQ(calls, 1u);
    advance_to(6000);
    EXPECT_EQ(ran, (std::vector<Ran>{{1, 5000}}));
}

TEST_F(TimerTest, MovingToSoonerMovesTheWakeUp) {
    Timer timer(device.timers, note);
    timer.start(9000, 1);
    timer.start(1100, 1);
    EXPECT_EQ(wake_up, 1100u);
    advance_to(9999);
    EXPECT_EQ(ran, (std::vector<Ran>{{1, 1100}}));
}

TEST_F(TimerTest, AnActionThatStartsItsTimerForNowDoesNotHoldTheCard) {
    Timer timer(device.timers, note);
    again = &timer;
    timer.start(1100, kAgain);
    now = 1100;
    wake_up = CX_TIMER_OFF;
    device.timer_expired();
    EXPECT_EQ(ran.size(), 1u);
    EXPECT_EQ(wake_up, 1100u) << "it is due, and the host knows";
}

TEST_F(TimerTest, TeardownOfTheObjectsLeavesOtherTimersRunning) {
    Timer timer(device.timers, note);
    timer.start(1100, 1);
    device.drop_objects();
    advance_to(5000);
    EXPECT_EQ(ran, (std::vector<Ran>{{1, 1100}}));
}

TEST_F(TimerTest, PowerOnCancelsTheWakeUp) {
    Timer timer(device.timers, note);
    timer.start(1100, 1);
    timer.stop();
    device.reset();
    EXPECT_EQ(wake_up, CX_TIMER_OFF);
}

// Against a plain list: any order of starts, stops and times.
TEST_F(TimerTest, ManyTimersRunInTheOrderOfTheirTimes) {
    constexpr u32 kTimers = 40;
    std::mt19937 random(1);
    std::vector<std::unique_ptr<Timer>> timers;
    std::vector<u64> due(kTimers, CX_TIMER_OFF);
    for (u32 i = 0; i < kTimers; ++i)
        timers.push_back(std::make_unique<Timer>(device.timers, note));
    for (int step = 0; step < 5000; ++step) {
        u32 i = random() % kTimers;
        if (random() % 3) {
            due[i] = now + 1 + random() % 500;
            timers[i]->start(due[i], i);
        } else {
            due[i] = CX_TIMER_OFF;
            timers[i]->stop();
        }
        if (random() % 4) continue;
        u64 end = now + random() % 200;
        std::vector<u64> expected;
        for (u64 &one : due)
            if (one <= end) expected.push_back(std::exchange(one, CX_TIMER_OFF));
        std::sort(expected.begin(), expected.end());
        ran.clear();
        advance_to(end);
        std::vector<u64> times;
        for (const Ran &one : ran)
            times.push_back(one.at);
        ASSERT_EQ(times, expected) << "step " << step;
        for (u32 j = 0; j < kTimers; ++j)
            ASSERT_EQ(timers[j]->running(), due[j] != CX_TIMER_OFF);
    }
}

} // namespace
} // namespace niclab::connectx
