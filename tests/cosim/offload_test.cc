// SPDX-License-Identifier: GPL-2.0-or-later
// Checksums, VLAN tags, large sends, spreading, filters.
#include <numeric>

#include "cosim/port.h"

namespace niclab::test {
namespace {

using namespace scenarios;
using CosimOffload = CosimTest;

// Ones' complement sum of everything behind the Ethernet header, not inverted.
u16 sum_behind_header(const Bytes &frame) {
    u32 sum = 0;
    for (usize i = 14; i < frame.size(); ++i)
        sum += i % 2 ? frame[i] : static_cast<u32>(frame[i] << 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<u16>(sum);
}

// What the driver says about the checksum must hold for the frame as delivered.
void expect_true_checksum(const Received &received) {
    EXPECT_FALSE(received.meta.checksum_ok && !fault_in(received.frame).empty()) << hex(received.frame);
    if (!received.meta.checksum_complete) return;
    u16 sum = static_cast<u16>(received.meta.checksum << 8 | received.meta.checksum >> 8);
    EXPECT_EQ(sum % 0xffff, sum_behind_header(received.frame) % 0xffff) << hex(received.frame);
}

TEST_F(CosimOffload, ChecksumsAreFilledInAndVerified) {
    bring_up();
    for (Family family : {Family::ipv4, Family::ipv6}) {
        for (usize bytes : {0, 1, 5, 100, 1001, 1400}) {
            for (const Bytes &whole : {udp(mac_of(*b_), family, 1000, 2000, pattern(bytes, 3)),
                                       tcp(mac_of(*b_), family, {}, pattern(bytes, 4))}) {
                transfer(*a_, with_partial_checksum(whole), {.pieces = {14}, .checksum = true});
                ASSERT_EQ(b_->received.size(), 1u);
                EXPECT_EQ(b_->received[0].frame, padded(whole));
                EXPECT_TRUE(b_->received[0].meta.checksum_ok);
                expect_true_checksum(b_->received[0]);
                b_->received.clear();
            }
        }
    }
}

TEST_F(CosimOffload, ABadChecksumIsNotCalledGood) {
    bring_up();
    Bytes frame = udp(mac_of(*b_), Family::ipv4, 1000, 2000, pattern(700, 3));
    frame[l4_checksum_offset(frame)] ^= 0x40;
    transfer(*a_, frame);
    ASSERT_EQ(b_->received.size(), 1u);
    EXPECT_FALSE(b_->received[0].meta.checksum_ok);
    EXPECT_TRUE(b_->received[0].meta.checksum_complete);
    expect_true_checksum(b_->received[0]);
}

// The card's sum leaves out padding and a VLAN header that stays in the frame; the driver must not pass it on
// then.
TEST_F(CosimOffload, TheSumIsOnlyGivenWhenItCoversTheFrame) {
    nic_params params = Port::parameters();
    params.vlan_strip = 0;
    bring_up(params);
    Bytes bad = udp(mac_of(*b_), Family::ipv4, 1, 2, pattern(100, 9));
    bad[l4_checksum_offset(bad)] ^= 1;
    Bytes trailing = bad;
    trailing.insert(trailing.end(), 20, 0x5a);
    for (const Bytes &frame :
         {bad, trailing, tagged(bad, 0x8100, 5), tagged(trailing, 0x8100, 5), tagged(bad, 0x88a8, 5)})
        transfer(*a_, frame);
    ASSERT_EQ(b_->received.size(), 5u);
    for (const Received &received : b_->received)
        expect_true_checksum(received);
    EXPECT_TRUE(b_->received[0].meta.checksum_complete);
    for (usize i = 1; i < 5; ++i)
        EXPECT_FALSE(b_->received[i].meta.checksum_complete) << i;
}

TEST_F(CosimOffload, TagsAreInsertedAndStripped) {
    bring_up();
    Bytes frame = udp(mac_of(*b_), Family::ipv4, 1, 2, pattern(300, 1));
    transfer(*a_, frame, {.checksum = true, .vlan = 0x6123});
    transfer(*a_, frame);
    ASSERT_EQ(b_->received.size(), 2u);
    EXPECT_TRUE(b_->received[0].meta.vlan_stripped);
    EXPECT_EQ(b_->received[0].meta.vlan_tci, 0x6123);
    EXPECT_EQ(b_->received[0].frame, frame);
    EXPECT_FALSE(b_->received[1].meta.vlan_stripped);
}

TEST_F(CosimOffload, StrippingIsSwitchedWhileRunning) {
    bring_up();
    Bytes frame = udp(mac_of(*b_), Family::ipv4, 1, 2, pattern(300, 1));
    ASSERT_EQ(nic_set_vlan_strip(b_->driver, 0), 0);
    transfer(*a_, frame, {.vlan = 7});
    ASSERT_EQ(nic_set_vlan_strip(b_->driver, 1), 0);
    transfer(*a_, frame, {.vlan = 7});
    ASSERT_EQ(b_->received.size(), 2u);
    EXPECT_FALSE(b_->received[0].meta.vlan_stripped);
    EXPECT_EQ(b_->received[0].frame, tagged(frame, 0x8100, 7));
    EXPECT_EQ(b_->received[1].frame, frame);
}

TEST_F(CosimOffload, LargeSendsAreCutIntoRightSegments) {
    bring_up();
    for (Family family : {Family::ipv4, Family::ipv6}) {
        for (std::optional<u16> vlan : {std::optional<u16>{}, std::optional<u16>{77}}) {
            for (usize bytes : {1449, 2896, 20001, 60000}) {
                TcpFields fields{
                    .sequence = 0xfffffff0, .flags = kFin | kPsh | kAck, .options = Bytes(12, 1)};
                Bytes large = tcp(mac_of(*b_), family, fields, pattern(bytes, 5));
                transfer(*a_, with_partial_checksum(large), {.pieces = {1, 447}, .vlan = vlan, .mss = 1400});
                auto expected = segments_of(large, 1400);
                ASSERT_EQ(b_->received.size(), expected.size());
                for (usize i = 0; i < expected.size(); ++i) {
                    EXPECT_EQ(b_->received[i].frame, expected[i]) << i;
                    EXPECT_EQ(b_->received[i].meta.vlan_stripped, vlan.has_value());
                    EXPECT_TRUE(b_->received[i].meta.checksum_ok);
                }
                b_->received.clear();
            }
        }
    }
    EXPECT_GT(a_->stats().tx_segments, 4 * a_->stats().tx_packets);
}

TEST_F(CosimOffload, FlowsSpreadOverAllQueuesAndEachStaysOnOne) {
    nic_params params = Port::parameters();
    params.channels = 4;
    bring_up(params);
    std::vector<unsigned> hits(4);
    for (u16 port = 1; port <= 128; ++port) {
        Bytes frame = udp(mac_of(*b_), port % 2 ? Family::ipv4 : Family::ipv6, port, 9, pattern(30, port));
        for (int i = 0; i < 2; ++i)
            transfer(*a_, frame, {.queue = port % 4u});
        ASSERT_EQ(b_->received.size(), 2u);
        EXPECT_EQ(b_->received[0].queue, b_->received[1].queue);
        EXPECT_EQ(b_->received[0].meta.hash, b_->received[1].meta.hash);
        EXPECT_EQ(b_->received[0].meta.hash_kind, NIC_HASH_L4);
        ++hits[b_->received[0].queue];
        b_->received.clear();
    }
    for (unsigned n : hits)
        EXPECT_GT(n, 128u / 4 / 3);
}

TEST_F(CosimOffload, OtherTrafficHasNoHashAndTheFirstQueue) {
    nic_params params = Port::parameters();
    params.channels = 4;
    bring_up(params);
    transfer(*a_, ethernet(mac_of(*b_), kLocalExperimental, pattern(200, 1)));
    ASSERT_EQ(b_->received.size(), 1u);
    EXPECT_EQ(b_->received[0].queue, 0u);
    EXPECT_EQ(b_->received[0].meta.hash_kind, NIC_HASH_NONE);
}

class CosimFilter : public CosimTest {
  protected:
    // True when a frame to `to` reaches the receiver, whole.
    bool arrives(const Mac &to, std::optional<u16> vlan = {}) {
        b_->received.clear();
        transfer(*a_, ethernet(to, kLocalExperimental, pattern(100, 1)), {.vlan = vlan});
        return b_->received.size() == 1;
    }
    static constexpr Mac kOther = {0x02, 1, 2, 3, 4, 5}, kGroup = {0x33, 0x33, 0, 0, 0, 1},
                         kGroup2 = {0x33, 0x33, 0, 0, 0, 2};
};

TEST_F(CosimFilter, OnlyOwnAddressAndBroadcastWithoutMore) {
    bring_up();
    EXPECT_TRUE(arrives(mac_of(*b_)));
    EXPECT_TRUE(arrives(kBroadcast));
    EXPECT_FALSE(arrives(kOther));
    EXPECT_FALSE(arrives(kGroup));
}

TEST_F(CosimFilter, NothingArrivesBeforeTheFirstFilter) {
    ASSERT_EQ(a_->start(), 0);
    ASSERT_EQ(b_->start(), 0);
    ASSERT_EQ(a_->open(), 0);
    ASSERT_EQ(b_->open(), 0);
    EXPECT_FALSE(arrives(mac_of(*b_)));
    ASSERT_EQ(b_->filter(), 0);
    EXPECT_TRUE(arrives(mac_of(*b_)));
}

TEST_F(CosimFilter, AddressesComeAndGo) {
    bring_up();
    unsigned char list[2][6] = {{0x33, 0x33, 0, 0, 0, 1}, {0x02, 1, 2, 3, 4, 5}};
    auto with = [&](unsigned count) {
        return b_->filter([&](nic_filter &f) { f.addresses = list, f.address_count = count; });
    };
    ASSERT_EQ(with(2), 0);
    EXPECT_TRUE(arrives(kOther));
    EXPECT_TRUE(arrives(kGroup));
    EXPECT_FALSE(arrives(kGroup2));
    ASSERT_EQ(with(1), 0);
    EXPECT_FALSE(arrives(kOther));
    EXPECT_TRUE(arrives(kGroup));
    EXPECT_TRUE(arrives(mac_of(*b_)));
    ASSERT_EQ(with(0), 0);
    EXPECT_FALSE(arrives(kGroup));
}

TEST_F(CosimFilter, PromiscuousAndAllMulticast) {
    bring_up();
    ASSERT_EQ(b_->filter([](nic_filter &f) { f.all_multicast = 1; }), 0);
    EXPECT_TRUE(arrives(kGroup2));
    EXPECT_FALSE(arrives(kOther));
    ASSERT_EQ(b_->filter([](nic_filter &f) { f.promiscuous = f.vlan_filter = 1; }), 0);
    EXPECT_TRUE(arrives(kOther));
    EXPECT_TRUE(arrives(kOther, 99));
    ASSERT_EQ(b_->filter(), 0);
    EXPECT_FALSE(arrives(kGroup2));
    EXPECT_FALSE(arrives(kOther));
}

TEST_F(CosimFilter, VlansAreFilteredWhenAsked) {
    bring_up();
    EXPECT_TRUE(arrives(mac_of(*b_), 5));
    const unsigned short vlans[] = {0, 5, 4095};
    auto with = [&](unsigned count) {
        return b_->filter([&](nic_filter &f) { f.vlan_filter = 1, f.vlans = vlans, f.vlan_count = count; });
    };
    ASSERT_EQ(with(3), 0);
    for (u16 wanted : {0, 5, 4095})
        EXPECT_TRUE(arrives(mac_of(*b_), wanted)) << wanted;
    EXPECT_FALSE(arrives(mac_of(*b_), 6));
    EXPECT_TRUE(arrives(mac_of(*b_)));
    ASSERT_EQ(with(1), 0);
    EXPECT_FALSE(arrives(mac_of(*b_), 5));
    EXPECT_TRUE(arrives(mac_of(*b_)));
}

// Linux means customer tags by its VLAN filter; a service tag is nobody's to drop.
TEST_F(CosimFilter, ServiceTagsPassTheVlanFilter) {
    bring_up();
    ASSERT_EQ(b_->filter([](nic_filter &f) { f.vlan_filter = 1; }), 0);
    constexpr u16 kServiceTag = 0x88a8;
    transfer(*a_, ethernet(mac_of(*b_), kServiceTag, pattern(100, 1)));
    EXPECT_EQ(b_->received.size(), 1u);
    EXPECT_FALSE(arrives(mac_of(*b_), 5));
}

TEST_F(CosimFilter, TooManyAddressesLetEverythingIn) {
    bring_up();
    std::vector<unsigned char> many(1100 * 6);
    for (usize i = 0; i < 1100; ++i)
        many[6 * i] = 0x33, many[6 * i + 4] = static_cast<u8>(i >> 8), many[6 * i + 5] = static_cast<u8>(i);
    auto list = reinterpret_cast<const unsigned char(*)[6]>(many.data());
    ASSERT_EQ(b_->filter([&](nic_filter &f) { f.addresses = list, f.address_count = 1100; }), 0);
    EXPECT_TRUE(arrives(kOther));
    ASSERT_EQ(b_->filter(), 0);
    EXPECT_FALSE(arrives(kOther));
}

TEST_F(CosimOffload, PortStatisticsAgreeWithWhatWasSent) {
    bring_up();
    Bytes unicast = ethernet(mac_of(*b_), kLocalExperimental, pattern(186, 1));
    Bytes broadcast = ethernet(kBroadcast, kLocalExperimental, pattern(86, 1));
    for (int i = 0; i < 5; ++i)
        transfer(*a_, unicast);
    for (int i = 0; i < 3; ++i)
        transfer(*a_, broadcast);
    struct nic_port_stats a, b;
    ASSERT_EQ(nic_get_port_stats(a_->driver, &a), 0);
    ASSERT_EQ(nic_get_port_stats(b_->driver, &b), 0);
    EXPECT_EQ(a.tx_unicast_packets, 5u);
    EXPECT_EQ(a.tx_unicast_bytes, 1000u);
    EXPECT_EQ(a.tx_broadcast_packets, 3u);
    EXPECT_EQ(b.rx_unicast_packets, 5u);
    EXPECT_EQ(b.rx_broadcast_bytes, 300u);
    EXPECT_EQ(a.phy_tx_packets, 8u);
    EXPECT_EQ(b.phy_rx_packets, 8u);
    nic_queue_stats queues = b_->stats();
    EXPECT_EQ(queues.rx_packets, 8u);
    EXPECT_EQ(queues.rx_bytes, 1300u);
    EXPECT_EQ(a_->stats().tx_packets, 8u);
    EXPECT_EQ(a_->stats().tx_bytes, 1300u);
}

TEST_F(CosimOffload, StatisticsSurviveCloseAndOpen) {
    bring_up();
    transfer(*a_, ethernet(mac_of(*b_), kLocalExperimental, pattern(186, 1)));
    b_->close();
    ASSERT_EQ(b_->open(), 0);
    EXPECT_EQ(b_->stats().rx_packets, 1u);
    struct nic_port_stats port;
    ASSERT_EQ(nic_get_port_stats(b_->driver, &port), 0);
    EXPECT_EQ(port.rx_unicast_packets, 1u);
}

TEST_F(CosimOffload, DropsForWantOfBuffersAreReported) {
    bring_up();
    for (unsigned i = 0; i < 100; ++i)
        ASSERT_EQ(a_->send(ethernet(mac_of(*b_), kLocalExperimental, pattern(60, i))), 0);
    a_->kick();
    settle();
    struct nic_port_stats port;
    ASSERT_EQ(nic_get_port_stats(b_->driver, &port), 0);
    EXPECT_EQ(port.rx_out_of_buffer, 36u);
    EXPECT_EQ(b_->received.size(), 64u);
}

} // namespace
} // namespace niclab::test
