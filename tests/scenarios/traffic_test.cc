// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

/// Every size up to 64, the edges of caches, pages and fragments, and on to the largest of a 9 000-byte MTU.
std::vector<unsigned> payload_sizes() {
    std::vector<unsigned> sizes(65);
    std::iota(sizes.begin(), sizes.end(), 0);
    sizes.insert(sizes.end(), {65,   100,  127,  128,  129,  200,  255,  256,  257,  511,  512,  513,  1000,
                               1023, 1024, 1025, 1399, 1451, 1452, 1453, 1471, 1472, 1473, 1500, 2000, 2047,
                               2048, 2049, 2951, 2952, 2953, 3000, 4000, 4055, 4056, 4095, 4096, 4097, 6000,
                               8000, 8191, 8192, 8193, 8951, 8952, 8953, 8971, 8972, 8973, 9000});
    return sizes;
}

class Ping : public Scenario {
  protected:
    Afterwards jumbo() {
        for (Side side : kBothSides)
            need(guest().set_mtu(side, 9000));
        return Afterwards([this]() -> Status {
            for (Side side : kBothSides)
                NICLAB_TRY(guest().set_mtu(side, 1500));
            return {};
        });
    }
};

TEST_F(Ping, EveryPayloadSizeComesBackIntactOverIpv4) {
    EXPECT_EQ(ping_sizes(Side::a, payload_sizes(), Guest::address(Side::b)), "");
}

TEST_F(Ping, EveryPayloadSizeComesBackIntactOverIpv6) {
    EXPECT_EQ(ping_sizes(Side::b, payload_sizes(), Guest::address(Side::a, /*ipv6=*/true)), "");
}

TEST_F(Ping, AnMtuOf9000CarriesThemInOneFrame) {
    Afterwards back = jumbo();
    std::vector<unsigned> sizes = {0, 1, 1472, 1473, 2048, 4000, 4054, 4055, 4096, 8191, 8192, 8971, 8972};
    EXPECT_EQ(ping_sizes(Side::a, sizes, Guest::address(Side::b), "-M do"), "");
    EXPECT_FALSE(try_run(Side::a, "ping -c 1 -W 2 -M do -s 8973 " + Guest::address(Side::b)).ok());
    sizes.resize(sizes.size() - 2);
    sizes.push_back(8952); // an IPv6 header is 20 bytes longer
    EXPECT_EQ(ping_sizes(Side::b, sizes, Guest::address(Side::a, /*ipv6=*/true), "-M do"), "");
}

class Transfer : public Scenario {};

TEST_F(Transfer, TcpArrivesIntactBothWaysOverIpv4AndIpv6) {
    for (Side from : kBothSides)
        for (bool ipv6 : {false, true})
            expect_transfer(from, {.bytes = 16 << 20, .seed = from == Side::a ? 1u : 2u, .ipv6 = ipv6});
}

TEST_F(Transfer, TcpArrivesIntactWithJumboFrames) {
    for (Side side : kBothSides)
        need(guest().set_mtu(side, 9000));
    {
        Afterwards back([this]() -> Status {
            for (Side side : kBothSides)
                NICLAB_TRY(guest().set_mtu(side, 1500));
            return {};
        });
        for (Side from : kBothSides)
            expect_transfer(from, {.bytes = 16 << 20});
    }
    expect_ping();
}

TEST_F(Transfer, TcpArrivesIntactAfterMtuChangesUnderTraffic) {
    BackgroundTraffic traffic(guest(), Side::a);
    for (unsigned mtu : {9000u, 1280u, 4000u, 1500u}) {
        for (Side side : kBothSides)
            need(guest().set_mtu(side, mtu));
        for (Side side : kBothSides)
            need(guest().wait_link(side));
        for (Side from : kBothSides)
            expect_transfer(from, {.bytes = 1 << 20});
    }
    EXPECT_GT(need(traffic.stop()), 0u);
}

struct Features {
    const char *name;
    std::vector<std::string> words;
    const char *seen_as; ///< the name `ethtool -k` gives what is now off
};

class TransferWithout : public Transfer, public ::testing::WithParamInterface<Features> {};

TEST_P(TransferWithout, TcpArrivesIntact) {
    auto a = with_features(Side::a, GetParam().words);
    auto b = with_features(Side::b, GetParam().words);
    EXPECT_FALSE(need(guest().offloads(Side::a)).at(GetParam().seen_as));
    for (Side from : kBothSides)
        for (bool ipv6 : {false, true})
            expect_transfer(from, {.bytes = 2 << 20, .ipv6 = ipv6});
}

INSTANTIATE_TEST_SUITE_P(
    Offloads, TransferWithout,
    ::testing::Values(Features{"Segmentation",
                               {"tx-tcp-segmentation", "off", "tx-tcp6-segmentation", "off"},
                               "tcp-segmentation-offload"},
                      Features{"ReceiveMerging", {"gro", "off"}, "generic-receive-offload"},
                      Features{"ReceiveChecksum", {"rx", "off"}, "rx-checksumming"},
                      Features{"TransmitChecksum", {"tx", "off"}, "tx-checksumming"},
                      Features{"ScatterGather", {"sg", "off"}, "scatter-gather"},
                      Features{"Anything",
                               {"tx-tcp-segmentation", "off", "tx-tcp6-segmentation", "off", "gso", "off",
                                "gro", "off", "rx", "off", "tx", "off", "sg", "off"},
                               "generic-segmentation-offload"}),
    [](const auto &each) { return each.param.name; });

} // namespace
} // namespace niclab::scenarios
