// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/segment.h"

#include <gtest/gtest.h>

#include "support/frames.h"

namespace niclab::test {
namespace {

std::vector<Bytes> cut(Bytes whole, u16 mss, u32 header = 0) {
    connectx::Segmenter segmenter;
    std::vector<Bytes> frames;
    connectx::Packet packet = connectx::parse(whole, connectx::Extent::frame);
    if (!segmenter.start(whole, packet, nullptr, header, mss)) return frames;
    for (auto one = segmenter.next(); !one.empty(); one = segmenter.next())
        frames.emplace_back(one.begin(), one.end());
    EXPECT_EQ(frames.size(), segmenter.segments());
    return frames;
}
Bytes part(const Bytes &from, usize at, usize n) {
    return Bytes(from.begin() + static_cast<long>(at),
                 from.begin() + static_cast<long>(std::min(at + n, from.size())));
}

// What each frame must be, built from scratch by the frame maker.
TEST(SegmentTest, TcpOverIpv4) {
    Bytes payload = pattern(250);
    Tcp tcp{.sequence = 0xffffffc0,
            .flags = 0x99,
            .options = Bytes(12, 1)}; // CWR, ACK, PSH, FIN; the sequence wraps
    Ipv4 ip{.id = 0xffff};            // wraps, too
    std::vector<Bytes> got = cut(frame(ip, tcp, payload), 100);
    auto expect = [&](u32 k, u8 flags) {
        Ipv4 own = ip;
        own.id = static_cast<u16>(ip.id + k);
        Tcp header = tcp;
        header.sequence += 100 * k;
        header.flags = flags;
        return frame(own, header, part(payload, 100 * k, 100));
    };
    EXPECT_EQ(got, (std::vector<Bytes>{expect(0, 0x90), expect(1, 0x10), expect(2, 0x19)}));
}

TEST(SegmentTest, TcpOverIpv6WithExtensionsAndTag) {
    Bytes payload = pattern(250);
    Ipv6 ip{.extensions = Bytes{6, 0, 1, 4, 0, 0, 0, 0}, .first_header = 60};
    Tcp tcp{.flags = 0x18};
    Bytes tag = vlan_tag(0x8100, 3);
    auto expect = [&](u32 k, u8 flags) {
        Tcp header = tcp;
        header.sequence += 120 * k;
        header.flags = flags;
        return frame(ip, header, part(payload, 120 * k, 120), tag);
    };
    EXPECT_EQ(cut(frame(ip, tcp, payload, tag), 120),
              (std::vector<Bytes>{expect(0, 0x10), expect(1, 0x10), expect(2, 0x18)}));
}

TEST(SegmentTest, UdpFramesEachCarryTheirOwnLength) {
    Bytes payload = pattern(250);
    Bytes whole = frame(Ipv4{.id = 7}, Udp{}, payload);
    store_be16(whole.data() + 38, 8 + 100); // the stock driver puts one segment's length there
    std::vector<Bytes> expected;
    for (u16 k = 0; k < 3; ++k)
        expected.push_back(frame(Ipv4{.id = static_cast<u16>(7 + k)}, Udp{}, part(payload, 100u * k, 100)));
    EXPECT_EQ(cut(whole, 100), expected);
    Bytes six = frame(Ipv6{}, Udp{}, payload);
    EXPECT_EQ(cut(six, 200), (std::vector<Bytes>{frame(Ipv6{}, Udp{}, part(payload, 0, 200)),
                                                 frame(Ipv6{}, Udp{}, part(payload, 200, 50))}));
}

TEST(SegmentTest, LengthFieldsOfTheTemplateDoNotCount) {
    Bytes payload = pattern(100);
    std::vector<Bytes> expected = cut(frame(Ipv6{}, Tcp{}, payload), 60);
    Bytes whole = frame(Ipv6{}, Tcp{}, payload);
    whole[18] = whole[19] = 0; // more than 64 KiB: the stack leaves 0
    EXPECT_EQ(cut(whole, 60), expected);
    Bytes four = frame(Ipv4{}, Tcp{}, payload);
    expected = cut(four, 60);
    four[16] = four[17] = 0;
    EXPECT_EQ(cut(four, 60), expected);
}

TEST(SegmentTest, EdgesOfTheSegmentSize) {
    Bytes payload = pattern(100);
    Bytes whole = frame(Ipv4{}, Tcp{}, payload);
    EXPECT_EQ(cut(whole, 100), std::vector<Bytes>{whole});
    EXPECT_EQ(cut(whole, 65535), std::vector<Bytes>{whole});
    EXPECT_EQ(cut(whole, 99).size(), 2u);
    EXPECT_EQ(cut(whole, 1).size(), 100u);
    EXPECT_EQ(cut(whole, 1)[99].back(), payload.back());
    EXPECT_EQ(cut(frame(Ipv4{}, Tcp{}, {}), 10).size(), 1u) << "headers alone are one frame";
}

TEST(SegmentTest, WhatCannotBeSegmentedIsRefused) {
    Bytes good = frame(Ipv4{}, Tcp{}, pattern(100));
    EXPECT_TRUE(cut(good, 0).empty());
    EXPECT_TRUE(cut(good, 50, 53).empty()) << "header length that is not the header's";
    EXPECT_EQ(cut(good, 50, 54).size(), 2u);
    EXPECT_TRUE(cut(ethernet(0x0806) + pattern(100), 50).empty());
    EXPECT_TRUE(cut(frame(Ipv4{.fragment = 0x2000}, Tcp{}, pattern(100)), 50).empty());
    EXPECT_TRUE(cut(ethernet(0x0800) + Ipv4{.protocol = 1}.header(100) + pattern(100), 50).empty());
    Ipv6 long_headers{.extensions = Bytes{6, 62, 1, 4} + zeros(500), .first_header = 60};
    EXPECT_TRUE(cut(frame(long_headers, Tcp{}, pattern(100)), 50).empty())
        << "more header than the card keeps";
}

} // namespace
} // namespace niclab::test
