// SPDX-License-Identifier: GPL-2.0-or-later
// Interrupt moderation of the stock driver as `ethtool -C` sets it, seen in the card's count of events.
#include <chrono>

#include <fmt/format.h>

#include "scenarios/generator.h"
#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kFrames = 2000, kGapNanoseconds = 100'000;

class Moderation : public Scenario {
  protected:
    /// `ethtool -C` words on side b until the end of the scope, without adaptive moderation. That goes first:
    /// the driver falls back to its own values when it changes.
    [[nodiscard]] std::unique_ptr<Afterwards> with_coalescing(const std::string &words) {
        auto restore = std::make_unique<Afterwards>(
            [this, first = coalescing()]() -> Status { return try_run(Side::b, "ethtool -C $IF " + first); });
        run(Side::b, "ethtool -C $IF adaptive-rx off adaptive-tx off && ethtool -C $IF " + words);
        return restore;
    }
    std::string coalescing() {
        std::string words = run(Side::b, R"(ethtool -c $IF | awk '
            /^Adaptive/ {print "adaptive-rx", $3, "adaptive-tx", $5}
            /^(rx|tx)-(usecs|frames):/ {sub(":", "", $1); print $1, $2}' | tr '\n' ' ')");
        EXPECT_NE(words.find("rx-usecs"), std::string::npos) << words;
        return words;
    }

    struct Received {
        std::uint64_t events;
        double milliseconds; // no less than it took in the guest
    };
    /// What side b's card did for frames that come one by one.
    Received receive(Generator &generator) {
        std::uint64_t events = card_counter(Side::b, "events"), frames = card_counter(Side::b, "rx_frames");
        auto from = Clock::now();
        generator.send();
        need(vm().until("the frames to be received", 20s, [&]() -> Result<bool> {
            return card_counter(Side::b, "rx_frames") - frames >= kFrames;
        }));
        std::chrono::duration<double, std::milli> took = Clock::now() - from;
        return {card_counter(Side::b, "events") - events, took.count()};
    }
};

TEST_F(Moderation, PeriodAndCountBoundTheEvents) {
    auto silence = quiet();
    Generator generator(guest(), Side::a, address_text(Side::b),
                        {.count = kFrames, .gap_nanoseconds = kGapNanoseconds});
    constexpr double kPeriodMilliseconds = 4;
    constexpr unsigned kOthers = 40; // commands and port events
    std::uint64_t each, held_back;
    {
        auto off = with_coalescing("rx-usecs 0 rx-frames 0");
        each = receive(generator).events;
    }
    {
        auto on = with_coalescing("rx-usecs 4000 rx-frames 1000");
        Received with = receive(generator);
        held_back = with.events;
        EXPECT_LE(static_cast<double>(held_back),
                  with.milliseconds / kPeriodMilliseconds + kFrames / 1000. + kOthers);
    }
    RecordProperty("events_off", std::to_string(each));
    RecordProperty("events_on", std::to_string(held_back));
    EXPECT_LT(held_back, each);
}

TEST_F(Moderation, AdaptiveModerationCarriesTraffic) {
    auto adaptive = with_coalescing("adaptive-rx on adaptive-tx on");
    expect_ping();
    for (Side from : kBothSides)
        expect_transfer(from, {.bytes = 8 << 20});
}

TEST_F(Moderation, PeriodsFromTheEventAndFromTheEntryCarryTraffic) {
    for (const char *flag : {"rx_cqe_moder", "tx_cqe_moder"}) {
        std::string first = run(Side::b, fmt::format("ethtool --show-priv-flags $IF | "
                                                     "awk '$1 == \"{}\" {{print $3}}'",
                                                     flag));
        first.pop_back();
        auto set = [&](const std::string &to) {
            return try_run(Side::b, fmt::format("ethtool --set-priv-flags $IF {} {}", flag, to));
        };
        Afterwards back([&] { return set(first); });
        need(set(first == "on" ? "off" : "on"));
        need(guest().wait_link(Side::b));
        expect_ping();
        expect_transfer(Side::a);
    }
}

TEST_F(Moderation, LongestPeriodLosesNoEvent) {
    auto longest = with_coalescing("rx-usecs 4095 rx-frames 65535 tx-usecs 4095 tx-frames 65535");
    expect_ping();
    for (Side from : kBothSides)
        expect_transfer(from, {.bytes = 1 << 20});
}

} // namespace
} // namespace niclab::scenarios
