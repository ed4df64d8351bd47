// SPDX-License-Identifier: GPL-2.0-or-later
// Rules that only the stock driver offers: ntuple, aRFS and flower, on the card's flow tables and counters.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

constexpr std::uint16_t kPort = 7777;

/// The datagram as ICMP: only the header's protocol, and its checksum with it, change.
Bytes as_icmp(Bytes frame) {
    constexpr std::size_t kProtocol = 23, kChecksum = 24;
    unsigned sum = (frame[kChecksum] << 8 | frame[kChecksum + 1]) + frame[kProtocol] - 1u;
    sum = (sum & 0xffff) + (sum >> 16);
    frame[kProtocol] = 1;
    frame[kChecksum] = static_cast<std::uint8_t>(sum >> 8);
    frame[kChecksum + 1] = static_cast<std::uint8_t>(sum);
    return frame;
}

class Rules : public Scenario {
  protected:
    struct Case {
        std::string rule; ///< as `ethtool -N` takes it
        Bytes frame;      ///< matches this rule and none of the others
    };
    /// One rule for each kind that the driver knows; the addresses are those of our frames.
    std::vector<Case> cases() {
        Mac to = mac(Side::b);
        auto udp_to = [&](Family family, unsigned port) {
            return udp(to, family, 1000, static_cast<std::uint16_t>(port), pattern(32, port));
        };
        return {
            {"flow-type udp4 dst-port 7777", udp_to(Family::ipv4, 7777)},
            {"flow-type udp4 src-ip 10.77.0.201 dst-ip 10.77.0.202 src-port 1000 dst-port 7778",
             udp_to(Family::ipv4, 7778)},
            {"flow-type udp6 dst-ip fd77::ca dst-port 7779", udp_to(Family::ipv6, 7779)},
            {"flow-type tcp4 src-port 40001 dst-port 40002", tcp(to, Family::ipv4, {}, pattern(20, 1))},
            {"flow-type tcp6 src-ip fd77::c9", tcp(to, Family::ipv6, {}, pattern(20, 2))},
            {fmt::format("flow-type ether src 02:00:00:77:00:01 dst {} proto 0x88b5", address_text(Side::b)),
             ethernet(to, kLocalExperimental, pattern(46, 3))},
            {"flow-type udp4 dst-port 7780 vlan 7 m 0xf000", tagged(udp_to(Family::ipv4, 7780), 0x8100, 7)},
            {fmt::format("flow-type udp4 dst-port 7781 dst-mac {}", address_text(Side::b)),
             udp_to(Family::ipv4, 7781)},
            {"flow-type ip4 src-ip 10.77.0.201 l4proto 1", as_icmp(udp_to(Family::ipv4, 7782))},
        };
    }
    /// All rules with one action, at locations 1, 2, and so on. A rule replaces the one at its place.
    void set_all(const std::vector<Case> &all, int action) {
        std::string script = "set -e\n";
        for (std::size_t i = 0; i < all.size(); ++i)
            script += fmt::format("ethtool -N $IF {} action {} loc {}\n", all[i].rule, action, i + 1);
        run(Side::b, script);
    }
    Bytes datagram(std::uint16_t port) { return udp(mac(Side::b), Family::ipv4, 1000, port, pattern(32, 1)); }
    std::uint64_t queue(unsigned number) { return statistic(Side::b, fmt::format("rx{}_packets", number)); }
};

TEST_F(Rules, NtupleRulesOfEveryKindSteerOrDropUntilTheyGo) {
    auto silence = quiet();
    auto on = with_features(Side::b, {"ntuple", "on"});
    std::vector<Case> all = cases();
    std::vector<Bytes> frames;
    for (const Case &one : all)
        frames.push_back(one.frame);
    const std::string remove =
        fmt::format("for i in $(seq {}); do ethtool -N $IF delete $i || exit 1; done", all.size());
    {
        Afterwards gone([&] { return try_run(Side::b, remove); });
        for (unsigned number : {3u, 1u}) {
            set_all(all, static_cast<int>(number));
            std::uint64_t before = queue(number);
            expect_arrivals(Side::a, frames, frames);
            EXPECT_EQ(queue(number), before + all.size()) << "queue " << number;
        }
        set_all(all, -1);
        std::uint64_t drops = card_counter(Side::b, "rx_drop_steering");
        Bytes other = datagram(kPort + 100);
        frames.push_back(other);
        expect_arrivals(Side::a, frames, {other});
        EXPECT_EQ(card_counter(Side::b, "rx_drop_steering"), drops + all.size());
    }
    expect_arrivals(Side::a, {datagram(kPort)}, {datagram(kPort)});
}

TEST_F(Rules, AFlowerRuleDropsInTheCardAndCounts) {
    if (subject().kernel != "6.1")
        GTEST_SKIP() << "Debian builds the driver of " << subject().kernel << " without hardware tc";
    auto silence = quiet();
    auto on = with_features(Side::b, {"hw-tc-offload", "on"});
    Afterwards gone([this] { return try_run(Side::b, "tc qdisc del dev $IF ingress"); });
    run(Side::b,
        fmt::format("tc qdisc add dev $IF ingress && tc filter add dev $IF ingress pref 1 protocol ip flower "
                    "skip_sw ip_proto udp dst_port {} action drop",
                    kPort));
    expect_arrivals(Side::a, std::vector<Bytes>(20, datagram(kPort)), {});
    expect_arrivals(Side::a, {datagram(kPort + 1)}, {datagram(kPort + 1)});
    need(vm().until("the driver to read the counter", 20s, [&]() -> Result<bool> {
        return run(Side::b, "tc -s filter show dev $IF ingress").find("Sent hardware 1480 bytes 20 pkt") !=
               std::string::npos;
    }));
}

TEST_F(Rules, AFlowFollowsTheProcessThatReadsIt) {
    auto on = with_features(Side::b, {"ntuple", "on"});
    Afterwards off([this]() -> Status {
        // The table of sockets belongs to the whole machine and is set outside the namespaces.
        NICLAB_TRY(vm().script("sysctl -qw net.core.rps_sock_flow_entries=0", 20s));
        return try_run(Side::b, "for f in /sys/class/net/$IF/queues/rx-*/rps_flow_cnt; do echo 0 >$f; done");
    });
    need(vm().script("sysctl -qw net.core.rps_sock_flow_entries=4096", 20s));
    run(Side::b, "for f in /sys/class/net/$IF/queues/rx-*/rps_flow_cnt; do echo 1024 >$f; done");
    for (unsigned processor : {1u, 2u}) {
        int server = need(guest().start(
            Side::b, {"taskset", fmt::format("{:x}", 1u << processor), "iperf3", "-s", "-1", "-p", "5301"}));
        need(vm().until("the server to listen", 20s,
                        [&]() -> Result<bool> { return try_run(Side::b, "ss -ltn | grep -q :5301").ok(); }));
        std::uint64_t before = queue(processor), all = statistic(Side::b, "rx_packets");
        run(Side::a, fmt::format("iperf3 -c {} -p 5301 -n 8M", Guest::address(Side::b)), 120s);
        EXPECT_TRUE(need(vm().wait(server, "iperf3", 60s)).ok());
        std::uint64_t there = queue(processor) - before, total = statistic(Side::b, "rx_packets") - all;
        EXPECT_GT(there, total / 2) << "of " << total << " packets on queue " << processor;
    }
}

} // namespace
} // namespace niclab::scenarios
