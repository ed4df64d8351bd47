// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's, the driver's and the card's counters against frames whose number and size we know.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

struct Snapshot {
    Counters driver, card;
    nlohmann::json kernel;
};

class CountersOf : public Scenario {
  protected:
    Snapshot snapshot(Side side) {
        return {need(guest().ethtool_statistics(side)), need(vm().card_counters(side == Side::a ? 0 : 1)),
                need(guest().link_statistics(side))};
    }

    /// Sends `count` frames like `frame` from a to b, and gives both sides' counters before and after.
    void send(const Bytes &frame, unsigned count) {
        for (Side side : kBothSides)
            before_[index(side)] = snapshot(side);
        need(guest().send_frame(Side::a, hex(frame), {.count = count, .vary_offset = 14}));
        need(vm().until("the frames to be received", 20s, [&]() -> Result<bool> {
            after_[index(Side::b)] = snapshot(Side::b);
            return grown(Side::b, "rx_packets") >= count;
        }));
        after_[index(Side::a)] = snapshot(Side::a);
    }

    std::uint64_t grown(Side side, const std::string &name) {
        const Counters &before = before_[index(side)].driver, &after = after_[index(side)].driver;
        if (!before.contains(name) || !after.contains(name))
            need(Status(Error{"ethtool -S has no '" + name + "'"}));
        return after.at(name) - before.at(name);
    }
    std::uint64_t card_grown(Side side, const std::string &name) {
        return after_[index(side)].card.at(name) - before_[index(side)].card.at(name);
    }
    std::uint64_t kernel_grown(Side side, const char *direction, const char *what) {
        auto get = [&](const Snapshot &from) {
            return stats64(from.kernel).at(direction).at(what).get<std::uint64_t>();
        };
        return get(after_[index(side)]) - get(before_[index(side)]);
    }

    void expect_traffic(std::uint64_t packets, std::uint64_t bytes) {
        EXPECT_EQ(grown(Side::a, "tx_packets"), packets);
        EXPECT_EQ(grown(Side::a, "tx_bytes"), bytes);
        EXPECT_EQ(grown(Side::b, "rx_packets"), packets);
        EXPECT_EQ(grown(Side::b, "rx_bytes"), bytes);
        EXPECT_EQ(kernel_grown(Side::a, "tx", "packets"), packets);
        EXPECT_EQ(kernel_grown(Side::a, "tx", "bytes"), bytes);
        EXPECT_EQ(kernel_grown(Side::b, "rx", "packets"), packets);
        EXPECT_EQ(kernel_grown(Side::b, "rx", "bytes"), bytes);
        EXPECT_EQ(card_grown(Side::a, "tx_frames"), packets);
        EXPECT_EQ(card_grown(Side::a, "tx_bytes"), bytes);
        EXPECT_EQ(card_grown(Side::b, "rx_frames"), packets);
        EXPECT_EQ(card_grown(Side::b, "rx_bytes"), bytes);
        EXPECT_EQ(grown(Side::a, "rx_packets"), 0u);
        EXPECT_EQ(grown(Side::b, "tx_packets"), 0u);
    }

    void expect_vport(const std::string &kind, std::uint64_t packets, std::uint64_t bytes) {
        for (auto [side, direction] : {std::pair{Side::a, "tx"}, std::pair{Side::b, "rx"}}) {
            auto vport = [&, way = direction](const char *what) {
                return fmt::format(fmt::runtime(subject().names.vport), way, kind, what);
            };
            EXPECT_EQ(grown(side, vport("packets")), packets) << direction;
            EXPECT_EQ(grown(side, vport("bytes")), bytes) << direction;
            EXPECT_EQ(grown(side, fmt::format(fmt::runtime(subject().names.port_packets), direction)),
                      packets)
                << direction;
        }
    }

  private:
    static std::size_t index(Side side) { return side == Side::a ? 0 : 1; }
    static const nlohmann::json &stats64(const nlohmann::json &link) {
        const nlohmann::json &one = link.is_array() ? link.at(0) : link;
        return one.contains("stats64") ? one.at("stats64") : one;
    }

    std::array<Snapshot, 2> before_, after_;
};

TEST_F(CountersOf, UnicastFramesAreCountedOnceEverywhere) {
    auto silence = quiet();
    for (std::size_t size : {60u, 333u, 1514u}) {
        SCOPED_TRACE(fmt::format("{} bytes", size));
        send(ethernet(mac(Side::b), kLocalExperimental, pattern(size - 14, 1)), 50);
        expect_traffic(50, 50 * size);
        expect_vport("unicast", 50, 50 * size);
    }
}

TEST_F(CountersOf, BroadcastAndMulticastAreCountedByTheirKind) {
    auto silence = quiet();
    send(ethernet(kBroadcast, kLocalExperimental, pattern(86, 1)), 20);
    expect_traffic(20, 20 * 100);
    expect_vport("broadcast", 20, 20 * 100);

    Afterwards leave([this] { return try_run(Side::b, "ip link set $IF allmulticast off"); });
    run(Side::b, "ip link set $IF allmulticast on");
    send(ethernet({0x01, 0, 0x5e, 9, 9, 9}, kLocalExperimental, pattern(86, 1)), 20);
    expect_traffic(20, 20 * 100);
    expect_vport("multicast", 20, 20 * 100);
}

TEST_F(CountersOf, AFrameForSomebodyElseIsNotCountedAsReceived) {
    auto silence = quiet();
    std::uint64_t before = statistic(Side::b, "rx_packets"),
                  card_before = card_counter(Side::b, "rx_drop_steering");
    Bytes foreign = ethernet({0x02, 0, 0, 0x77, 0, 0x99}, kLocalExperimental, pattern(86, 1));
    expect_arrivals(Side::a, {foreign, foreign, foreign}, {});
    EXPECT_EQ(statistic(Side::b, "rx_packets"), before + 1) << "only the broadcast that ends the wait";
    EXPECT_EQ(card_counter(Side::b, "rx_drop_steering"), card_before + 3);
}

} // namespace
} // namespace niclab::scenarios
