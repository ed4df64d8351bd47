// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/packet.h"

#include <gtest/gtest.h>

#include "support/frames.h"

namespace niclab::test {
namespace {

using connectx::Extent;
using connectx::L3;
using connectx::L4;
using connectx::Packet;
using connectx::parse;

TEST(PacketTest, OffsetsOfPlainPackets) {
    Packet four =
        parse(frame(Ipv4{.tos = 3, .ttl = 9}, Tcp{.flags = 0x12, .options = Bytes(4, 1)}, pattern(10)));
    EXPECT_EQ(four.ethertype, 0x0800);
    EXPECT_EQ(four.l3, L3::ipv4);
    EXPECT_EQ(four.l3_at, 14);
    EXPECT_EQ(four.l4, L4::tcp);
    EXPECT_EQ(four.l4_at, 34);
    EXPECT_EQ(four.payload_at, 58);
    EXPECT_EQ(four.l3_end, 68u);
    EXPECT_EQ(four.tcp_flags, 0x12);
    EXPECT_EQ(four.traffic_class, 3);
    EXPECT_EQ(four.ttl, 9);
    Packet six = parse(frame(Ipv6{}, Udp{}, pattern(10)));
    EXPECT_EQ(six.l3, L3::ipv6);
    EXPECT_EQ(six.l4, L4::udp);
    EXPECT_EQ(six.l4_at, 54);
    EXPECT_EQ(six.payload_at, 62);
}

TEST(PacketTest, TagsAreSkippedAndTheOuterOneIsKept) {
    Packet packet = parse(frame(Ipv4{}, Udp{}, {}, vlan_tag(0x88a8, 0x1234) + vlan_tag(0x8100, 0x5678)));
    EXPECT_EQ(packet.outer_tpid, 0x88a8);
    EXPECT_EQ(packet.outer_tci, 0x1234);
    EXPECT_EQ(packet.ethertype, 0x0800);
    EXPECT_EQ(packet.l3_at, 22);
    Bytes many;
    for (int i = 0; i < 300; ++i)
        many = many + vlan_tag(0x8100, 1);
    EXPECT_EQ(parse(frame(Ipv4{}, Udp{}, {}, many)).l3, L3::none) << "the walk is bounded";
}

TEST(PacketTest, PaddingIsBehindTheDatagram) {
    Packet packet = parse(frame(Ipv4{}, Udp{}, Bytes{1}) + zeros(17));
    EXPECT_EQ(packet.bytes, 60u);
    EXPECT_EQ(packet.l3_end, 43u);
    EXPECT_FALSE(packet.cut);
}

TEST(PacketTest, LengthOfTheFrameCountsWhenAskedFor) {
    Bytes whole = frame(Ipv6{}, Tcp{}, pattern(100));
    whole[18] = whole[19] = 0; // as segmentation templates beyond 64 KiB have it
    EXPECT_EQ(parse(whole).l4, L4::none);
    Packet packet = parse(whole, Extent::frame);
    EXPECT_EQ(packet.l4, L4::tcp);
    EXPECT_EQ(packet.l3_end, whole.size());
}

TEST(PacketTest, BrokenIpHeadersAreNoIp) {
    Bytes good = frame(Ipv4{}, Tcp{}, {});
    for (u8 first : {0x55, 0x44, 0x40, 0x65}) {
        Bytes bad = good;
        bad[14] = first;
        EXPECT_EQ(parse(bad).l3, L3::none) << int{first};
    }
    Bytes tiny = good;
    tiny[16] = 0;
    tiny[17] = 19; // total length below the header's
    EXPECT_EQ(parse(tiny).l3, L3::none);
    Bytes six = frame(Ipv6{}, Tcp{}, {});
    six[14] = 0x45;
    EXPECT_EQ(parse(six).l3, L3::none);
}

TEST(PacketTest, BrokenTcpHeadersAreNoTcp) {
    for (u8 offset : {0x00, 0x40, 0x60, 0xf0}) {
        Bytes bad = frame(Ipv4{}, Tcp{}, {});
        bad[14 + 20 + 12] = offset;
        EXPECT_EQ(parse(bad).l4, L4::none) << int{offset};
    }
}

TEST(PacketTest, ExtensionHeadersAreWalked) {
    Bytes hop{60, 0, 1, 4, 0, 0, 0, 0}, options{43, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        routing{17, 0, 0, 0, 0, 0, 0, 0};
    Packet packet =
        parse(frame(Ipv6{.extensions = hop + options + routing, .first_header = 0}, Udp{}, pattern(5)));
    EXPECT_EQ(packet.protocol, 17);
    EXPECT_EQ(packet.l4, L4::udp);
    EXPECT_EQ(packet.l4_at, 14 + 40 + 32);
    EXPECT_TRUE(packet.options);
    EXPECT_FALSE(packet.routed);
    routing[3] = 1;
    EXPECT_TRUE(parse(frame(Ipv6{.extensions = routing, .first_header = 43}, Udp{}, {})).routed);
}

TEST(PacketTest, ChainOfExtensionHeadersIsBounded) {
    Bytes chain;
    for (int i = 0; i < 100; ++i)
        chain = chain + Bytes{60, 0, 1, 4, 0, 0, 0, 0};
    EXPECT_EQ(parse(frame(Ipv6{.extensions = chain, .first_header = 60}, Udp{}, {})).l4, L4::none);
}

TEST(PacketTest, FragmentsHaveNoLayerFour) {
    for (u16 fragment : {0x2000, 0x0001, 0x3fff}) {
        Packet packet = parse(frame(Ipv4{.fragment = fragment}, Udp{}, pattern(20)));
        EXPECT_TRUE(packet.fragment);
        EXPECT_EQ(packet.l4, L4::none);
        EXPECT_EQ(packet.protocol, 17);
    }
    EXPECT_FALSE(parse(frame(Ipv4{.fragment = 0x4000}, Udp{}, pattern(20))).fragment);
    EXPECT_TRUE(
        parse(frame(Ipv6{.extensions = {17, 0, 0, 1, 0, 0, 0, 0}, .first_header = 44}, Udp{}, {})).fragment);
    Packet atomic =
        parse(frame(Ipv6{.extensions = {17, 0, 0, 0, 0, 0, 0, 0}, .first_header = 44}, Udp{}, {}));
    EXPECT_FALSE(atomic.fragment) << "offset 0 and nothing to come";
    EXPECT_EQ(atomic.l4, L4::udp);
    Packet reserved =
        parse(frame(Ipv6{.extensions = {17, 9, 0, 0, 0, 0, 0, 0}, .first_header = 44}, Udp{}, {}));
    EXPECT_EQ(reserved.l4, L4::udp) << "the second byte of a fragment header is no length";
}

// Field case F33. Exactly as long as the cut, on the heap: the sanitizer sees one byte too far.
TEST(PacketTest, EveryOffsetLiesInsideFramesCutAnywhere) {
    std::vector<Bytes> all = frames_with_long_headers(pattern(4));
    all.push_back(
        frame(Ipv6{.extensions = Bytes{6, 255, 1, 4, 0, 0, 0, 0}, .first_header = 60}, Tcp{}, pattern(4)));
    all.push_back(ethernet(0x0800) + Ipv4{.protocol = 51}.header(12) + pattern(12));
    all.push_back(ethernet(0x86dd) + Ipv6{.protocol = 50}.header(8) + pattern(8));
    for (const Bytes &whole : all)
        for (usize cut = 0; cut <= whole.size(); ++cut)
            for (Extent extent : {Extent::header, Extent::frame}) {
                Bytes part(whole.begin(), whole.begin() + static_cast<long>(cut));
                part.shrink_to_fit();
                Packet packet = parse(part, extent);
                EXPECT_LE(packet.l3_at, cut);
                EXPECT_LE(packet.l3_end, cut);
                EXPECT_TRUE(packet.l3 == L3::none || packet.l3_at <= packet.l3_end);
                EXPECT_TRUE(packet.l4 == L4::none || packet.payload_at <= packet.l3_end);
                EXPECT_TRUE(!packet.spi || packet.spi_at + 4u <= packet.l3_end);
            }
}

} // namespace
} // namespace niclab::test
