// SPDX-License-Identifier: GPL-2.0-or-later
// Channels, receive-side scaling, rings.
#include <algorithm>

#include <fmt/format.h>

#include "scenarios/generator.h"
#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

constexpr unsigned kChannels = 4; // one for each CPU of the machine

class Queues : public Scenario {
  protected:
    std::unique_ptr<Afterwards> with_channels(Side side, unsigned count) {
        auto restore = std::make_unique<Afterwards>([this, side] { return set_channels(side, kChannels); });
        need(set_channels(side, count));
        return restore;
    }

    Status set_channels(Side side, unsigned count) {
        NICLAB_TRY(guest().ethtool(side, {"-L", interface(side), "combined", std::to_string(count)}));
        return guest().wait_link(side);
    }
};

TEST_F(Queues, ManyFlowsReachEveryQueue) {
    auto silence = quiet();
    for (Family family : {Family::ipv4, Family::ipv6}) {
        std::vector<std::uint64_t> each = spread(family, 256, /*one_flow=*/false);
        ASSERT_EQ(each.size(), kChannels);
        for (std::uint64_t packets : each)
            EXPECT_GT(packets, 256 / kChannels / 4);
    }
}

TEST_F(Queues, OneFlowStaysOnOneQueue) {
    auto silence = quiet();
    for (Family family : {Family::ipv4, Family::ipv6}) {
        std::vector<std::uint64_t> each = spread(family, 64, /*one_flow=*/true);
        EXPECT_EQ(std::count(each.begin(), each.end(), 0u), static_cast<long>(each.size()) - 1);
    }
}

TEST_F(Queues, EveryChannelCountCarriesTraffic) {
    for (unsigned count : {1u, 2u, 3u}) {
        auto a = with_channels(Side::a, count);
        auto b = with_channels(Side::b, count);
        expect_ping();
        expect_transfer(Side::a, {.bytes = 2 << 20});
        expect_transfer(Side::b, {.bytes = 2 << 20});
    }
}

TEST_F(Queues, FewerChannelsMeanFewerQueuesInUse) {
    auto b = with_channels(Side::b, 2);
    auto silence = quiet();
    std::vector<std::uint64_t> each = spread(Family::ipv4, 64, /*one_flow=*/false);
    ASSERT_GE(each.size(), 2u);
    EXPECT_GT(each[0], 0u);
    EXPECT_GT(each[1], 0u);
    EXPECT_EQ(each[0] + each[1], 64u);
}

TEST_F(Queues, ChannelsChangeUnderTraffic) {
    BackgroundTraffic traffic(guest(), Side::b);
    for (unsigned count : {1u, 3u, 2u, kChannels})
        need(set_channels(Side::a, count));
    EXPECT_GT(need(traffic.stop()), 0u);
    expect_ping();
}

TEST_F(Queues, RingsOfOtherSizesCarryTraffic) {
    std::string first = run(Side::a, "ethtool -g $IF | awk '/^Current/ {now = 1} now && /^RX:/ {rx = $2} "
                                     "now && /^TX:/ {tx = $2} END {print \"rx \" rx \" tx \" tx}'");
    first.pop_back();
    for (const char *sizes : {"rx 128 tx 128", "rx 4096 tx 2048"}) {
        Afterwards back([&]() -> Status {
            for (Side side : kBothSides) {
                NICLAB_TRY(try_run(side, "ethtool -G $IF " + first));
                NICLAB_TRY(guest().wait_link(side));
            }
            return {};
        });
        for (Side side : kBothSides) {
            run(side, fmt::format("ethtool -G $IF {}", sizes));
            need(guest().wait_link(side));
        }
        expect_ping();
        expect_transfer(Side::a);
        expect_transfer(Side::b);
    }
}

TEST_F(Queues, AStarvedRingCountsWhatItDrops) {
    // A striding ring is never shorter than 512 frames.
    constexpr unsigned kBurst = 896, kRing = 64;
    std::string first = run(Side::b, "ethtool -g $IF | awk '/^Current/ {now = 1} now && /^RX:/ {print $2}'");
    std::string receiver = address_text(Side::b);
    {
        Afterwards back([&]() -> Status {
            NICLAB_TRY(try_run(Side::b, "ethtool -G $IF rx " + first));
            return guest().wait_link(Side::b);
        });
        run(Side::b, fmt::format("ethtool -G $IF rx {}", kRing));
        need(guest().wait_link(Side::b));
        auto silence = quiet();
        std::uint64_t received = statistic(Side::b, "rx_packets"),
                      starved = statistic(Side::b, subject().names.out_of_buffer);
        std::uint64_t dropped = card_counter(Side::b, "rx_drop_out_of_buffer");
        // One doorbell for the whole burst: the card has it before the receiver can post anything.
        Generator(guest(), Side::a, receiver, {.count = kBurst, .burst = kBurst}).send();
        need(vm().until("the burst to be counted", 20s, [&]() -> Result<bool> {
            return statistic(Side::b, "rx_packets") - received +
                       statistic(Side::b, subject().names.out_of_buffer) - starved >=
                   kBurst;
        }));
        std::uint64_t lost = statistic(Side::b, subject().names.out_of_buffer) - starved;
        EXPECT_GT(lost, 0u);
        EXPECT_EQ(lost, card_counter(Side::b, "rx_drop_out_of_buffer") - dropped);
        EXPECT_EQ(lost + statistic(Side::b, "rx_packets") - received, kBurst);
    }
    expect_ping();
}

} // namespace
} // namespace niclab::scenarios
