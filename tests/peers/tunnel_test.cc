// SPDX-License-Identifier: GPL-2.0-or-later
// Tunnels whose inner packets the stock driver leaves to the card: checksums and segmentation on the way out,
// verdicts on the way in. Every byte is compared at the other end.
#include <numeric>

#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

struct Kind {
    const char *name;
    const char *link; ///< arguments of `ip link add`; {0} is the own address, {1} the other's
    bool ipv6 = false;
};
void PrintTo(const Kind &kind, std::ostream *os) { *os << kind.name; }

constexpr Kind kKinds[] = {
    {"vxlan", "type vxlan id 5 dstport 4789 local {0} remote {1}"},
    {"vxlan_with_outer_checksum", "type vxlan id 5 dstport 4789 local {0} remote {1} udpcsum"},
    {"vxlan_on_another_port_over_ipv6",
     "type vxlan id 5 dstport 8472 local {0} remote {1} udp6zerocsumtx udp6zerocsumrx", true},
    {"geneve", "type geneve id 5 remote {1}"},
    {"gretap_with_key", "type gretap key 7 local {0} remote {1}"},
    {"gre", "type gre local {0} remote {1}"},
};

class TunnelScenario : public Scenario {
  protected:
    /// With the first device of some kinds the kernel would make others that stay, in every namespace.
    Status nothing_but_ours(bool on) {
        const std::string set =
            fmt::format("echo {} >/proc/sys/net/core/fb_tunnels_only_for_init_net", on ? 2 : 0);
        CommandResult done = NICLAB_TRY(vm().run({"sh", "-c", set}, 10s));
        return done.ok() ? Status{} : Status(Error{done.err});
    }
};

class Tunnels : public TunnelScenario, public ::testing::WithParamInterface<Kind> {
  protected:
    void add(Side side) {
        std::string arguments =
            fmt::format(fmt::runtime(GetParam().link), Guest::address(side, GetParam().ipv6),
                        Guest::address(other(side), GetParam().ipv6));
        run(side,
            fmt::format("ip link add tunnel {} && ip addr add {}/24 dev tunnel && ip link set tunnel up",
                        arguments, inner_address(side)));
    }
    static std::string inner_address(Side side) { return side == Side::a ? "10.78.0.1" : "10.78.0.2"; }
    Status remove(Side side) { return try_run(side, "ip link del tunnel"); }
};

TEST_P(Tunnels, InnerPacketsAreCutAndSummedByTheCard) {
    Afterwards remove_both([this]() -> Status {
        NICLAB_TRY(remove(Side::a));
        NICLAB_TRY(remove(Side::b));
        return nothing_but_ours(false);
    });
    need(nothing_but_ours(true));
    add(Side::a);
    add(Side::b);
    for (Side from : kBothSides) {
        Side to = other(from);
        std::uint64_t large = statistic(from, "tx_tso_inner_packets"),
                      summed = statistic(from, "tx_csum_partial_inner"),
                      bad = snmp(to, "Tcp", "InCsumErrors");
        TransferOptions options{.bytes = 2 << 20};
        options.address = inner_address(to);
        expect_transfer(from, options);
        EXPECT_GT(statistic(from, "tx_tso_inner_packets"), large);
        EXPECT_GT(statistic(from, "tx_csum_partial_inner"), summed);
        EXPECT_EQ(snmp(to, "Tcp", "InCsumErrors"), bad);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Tunnels, ::testing::ValuesIn(kKinds),
                         [](const auto &kind) { return std::string(kind.param.name); });

class TunnelVerdict : public TunnelScenario {};

// Of GRE the stock driver spreads flows by what is inside; the outer packets are all alike.
TEST_F(TunnelVerdict, FlowsInsideATunnelAreSpreadOverTheQueues) {
    need(nothing_but_ours(true));
    Afterwards remove([this]() -> Status {
        NICLAB_TRY(try_run(Side::a, "ip link del tunnel"));
        return nothing_but_ours(false);
    });
    run(Side::a, fmt::format("ip link add tunnel type gretap local {} remote {} && ip link set tunnel up",
                             Guest::address(Side::a), Guest::address(Side::b)));
    expect_ping(); // so that the outer destination is known
    auto queues = [this] {
        std::vector<std::uint64_t> each;
        for (unsigned queue = 0; queue < 4; ++queue)
            each.push_back(statistic(Side::b, fmt::format("rx{}_packets", queue)));
        return each;
    };
    constexpr unsigned kFlows = 64, kPorts = 14 + 20;
    Bytes inside = udp(kBroadcast, Family::ipv4, 1000, 2000, pattern(20, 1));
    inside[kPorts + 6] = inside[kPorts + 7] = 0; // no UDP checksum, for the ports vary
    std::vector<std::uint64_t> before = queues();
    run(Side::a, fmt::format("echo {} | /niclab/wire send tunnel - --count {} --vary {}", hex(inside), kFlows,
                             kPorts));
    need(vm().until("the frames", 20s, [&]() -> Result<bool> {
        std::vector<std::uint64_t> now = queues();
        return std::accumulate(now.begin(), now.end(), std::uint64_t{0}) >=
               std::accumulate(before.begin(), before.end(), std::uint64_t{kFlows});
    }));
    std::vector<std::uint64_t> after = queues();
    for (unsigned queue = 0; queue < 4; ++queue)
        EXPECT_GE(after[queue] - before[queue], 4u) << "queue " << queue;
}

TEST_F(TunnelVerdict, TheCardVouchesForTheInnerPacketWhenTheStackDoesNotSumUp) {
    auto flag = [this](const char *state) {
        return guest().ethtool(Side::b,
                               {"--set-priv-flags", interface(Side::b), "rx_no_csum_complete", state});
    };
    need(flag("on"));
    Afterwards back([&] { return flag("off"); });
    std::uint64_t before = statistic(Side::b, "rx_csum_unnecessary_inner");
    for (Side side : kBothSides)
        run(side, fmt::format("ip link add tunnel type vxlan id 5 dstport 4789 local {} remote {} && "
                              "ip addr add 10.78.0.{}/24 dev tunnel && ip link set tunnel up",
                              Guest::address(side), Guest::address(other(side)), side == Side::a ? 1 : 2));
    Afterwards remove([this]() -> Status {
        NICLAB_TRY(try_run(Side::a, "ip link del tunnel"));
        return try_run(Side::b, "ip link del tunnel");
    });
    TransferOptions options{.bytes = 1 << 20};
    options.address = "10.78.0.2";
    expect_transfer(Side::a, options);
    EXPECT_GT(statistic(Side::b, "rx_csum_unnecessary_inner"), before);
}

} // namespace
} // namespace niclab::scenarios
