// SPDX-License-Identifier: GPL-2.0-or-later
// Traffic classes, and what becomes of a send queue that the card stopped.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class StockTransmit : public Scenario {
  protected:
    /// What `devlink health` counts of all transmit reporters. A later driver has them on another device than
    /// an earlier one.
    std::uint64_t reported(const char *what) {
        CommandResult shown = need(vm().run({"devlink", "-j", "health", "show"}, 20s));
        auto all = nlohmann::json::parse(shown.out, nullptr, /*allow_exceptions=*/false);
        std::uint64_t sum = 0;
        unsigned reporters = 0;
        for (const auto &[owner, list] : all.at("health").items())
            for (const auto &reporter : list)
                if (reporter.value("reporter", "") == "tx") {
                    ++reporters;
                    sum += reporter.value(what, std::uint64_t{0});
                }
        EXPECT_EQ(reporters, 2u) << shown.out;
        return sum;
    }
};

// BIG TCP: the stack hands over more than the 64 KiB that an IPv6 header can tell.
TEST_F(StockTransmit, SendsLargerThanALengthFieldOfTheStack) {
    if (subject().kernel == "6.12")
        GTEST_SKIP()
            << "the driver of 6.12 warns of its own copy of the headers: field-spanning write in en_tx.c";
    Afterwards back([this] { return try_run(Side::a, "ip link set dev $IF gso_max_size 65536"); });
    run(Side::a, "ip link set dev $IF gso_max_size 185000");
    int watch =
        need(guest().start(Side::a, {"timeout", "60", "tcpdump", "-Z", "root", "-ni", interface(Side::a),
                                     "-s", "96", "-c", "1", "-Q", "out", "greater", "70000"}));
    expect_transfer(Side::a, {.bytes = 32 << 20, .ipv6 = true});
    CommandResult seen = need(vm().wait(watch, "a send of more than 70 000 bytes", 70s));
    EXPECT_TRUE(seen.ok()) << seen.err;
}

// The driver goes by the priority in the VLAN tag.
TEST_F(StockTransmit, EveryTrafficClassHasQueuesOfItsOwn) {
    Afterwards back([this]() -> Status {
        for (Side side : kBothSides)
            NICLAB_TRY(try_run(side, "ip link del tagged"));
        return try_run(Side::a, "tc qdisc del dev $IF root");
    });
    run(Side::a, "tc qdisc add dev $IF root mqprio num_tc 8 map 0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0 hw 1");
    for (Side side : kBothSides)
        run(side, fmt::format("ip link add link $IF name tagged type vlan id 100 egress-qos-map 2:2 6:6 && "
                              "ip addr add 10.79.0.{}/24 dev tagged && ip link set tagged up",
                              side == Side::a ? 1 : 2));
    const auto channels = static_cast<unsigned>(
        std::stoul(run(Side::a, "ethtool -l $IF | awk '/Combined/ {print $2}' | tail -1")));
    auto of_class = [&](unsigned traffic_class) {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < channels; ++i)
            sum += statistic(Side::a, fmt::format("tx{}_packets", traffic_class * channels + i));
        return sum;
    };
    // The kernel's priority for a type of service: 2 for throughput, 6 for low delay.
    for (auto [service, traffic_class] : {std::pair{"0x08", 2u}, {"0x10", 6u}}) {
        std::uint64_t before = of_class(traffic_class);
        run(Side::a,
            fmt::format("ping -n -q -c 20 -i 0.01 -Q {} 10.79.0.2 | grep ' 0% packet loss'", service));
        EXPECT_GE(of_class(traffic_class), before + 20);
    }
    expect_transfer(Side::a);
}

// A fragment that is to be cut as if it were a whole packet is a request that the card cannot carry out. The
// kernel lets it through.
TEST_F(StockTransmit, TheDriverBringsAQueueBackThatTheCardStopped) {
    std::size_t console = vm().console_size();
    std::uint64_t errors = reported("error"), recoveries = reported("recover"),
                  failed = card_counter(Side::a, "error_completions");
    Bytes fragment = tcp(mac(Side::b), Family::ipv4, {.flags = kAck}, pattern(4000, 1));
    fragment[20] |= 0x20; // more fragments
    fill_checksums(fragment);
    need(guest().send_frame(Side::a, hex(with_partial_checksum(fragment)),
                            {.checksum = std::pair{static_cast<unsigned>(l4_offset(fragment)), 16u},
                             .gso = "tcp4",
                             .gso_size = 1000,
                             .header_length = static_cast<unsigned>(headers_length(fragment))}));
    need(vm().until("the driver to recover the queue", 30s,
                    [&]() -> Result<bool> { return reported("recover") > recoveries; }));
    EXPECT_EQ(reported("error"), errors + 1);
    EXPECT_EQ(card_counter(Side::a, "error_completions"), failed + 1);
    expect_ping();
    expect_transfer(Side::a);
    EXPECT_TRUE(vm().kernel_complaints(console).empty()) << describe(vm().kernel_complaints(console));
    // The error was asked for; reporters count until the driver is bound anew.
    need(lab().repair());
    need(guest().mark());
}

} // namespace
} // namespace niclab::scenarios
