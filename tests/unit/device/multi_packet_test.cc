// SPDX-License-Identifier: GPL-2.0-or-later
// Enhanced multi-packet send: one WQE, a frame for each of its data segments.
#include <gtest/gtest.h>

#include "support/send_test.h"

namespace niclab::test {
namespace {

class MultiPacket : public SendTest {
  protected:
    SendWqe &point_to(SendWqe &wqe, const Bytes &bytes) {
        return wqe.pointer(card_.lkey, card_.buffer(bytes), static_cast<u32>(bytes.size()));
    }

    const SendWqe kEmpty{.opcode = WqeOpcode::multi_packet_send};
    const Bytes kFrame = ethernet(0x88b5) + pattern(100);
};

TEST_F(MultiPacket, EveryPointerIsAFrameAndTheWqeCompletesOnce) {
    for (usize packets = 1; packets <= 61; ++packets) { // 63 units is what the field holds
        SendWqe wqe = kEmpty;
        std::vector<Bytes> expected;
        for (usize i = 0; i < packets; ++i) {
            expected.push_back(ethernet(0x88b5) + pattern(46 + i, static_cast<u8>(i)));
            point_to(wqe, expected.back());
        }
        u32 first = sq_.producer;
        EXPECT_EQ(wire(wqe), expected) << packets;
        std::vector<Completion> done = card_.drain(cq_);
        ASSERT_EQ(done.size(), 1u) << packets;
        EXPECT_EQ(done[0].counter(), first & 0xffff);
    }
}

TEST_F(MultiPacket, InlinePacketsOfEverySizeMixWithPointers) {
    for (usize n = 14; n <= 200; ++n) {
        Bytes small = ethernet(0x88b5) + pattern(n - 14, 7), padded = small;
        padded.resize(std::max<usize>(n, 60));
        SendWqe wqe = kEmpty;
        wqe.inlined(small);
        point_to(wqe, kFrame).inlined(small).inlined(small);
        point_to(wqe, kFrame);
        EXPECT_EQ(wire(wqe), (std::vector<Bytes>{padded, kFrame, padded, padded, kFrame})) << n;
    }
}

TEST_F(MultiPacket, ChecksumFlagsCountForEveryPacket) {
    Bytes four = frame(Ipv4{}, Tcp{}, pattern(77)), six = frame(Ipv6{}, Udp{}, pattern(31));
    Bytes spoilt_four = four, spoilt_six = six;
    spoilt_four[24] ^= 0xff; // IPv4 header checksum
    spoilt_four[50] ^= 0xff; // TCP checksum
    spoilt_six[60] ^= 0xff;  // UDP checksum
    SendWqe wqe = kEmpty;
    wqe.checksums = 0xc0;
    point_to(wqe, spoilt_four).inlined(spoilt_six);
    point_to(wqe, spoilt_four);
    EXPECT_EQ(wire(wqe), (std::vector<Bytes>{four, six, four}));
    wqe.checksums = 0;
    EXPECT_EQ(wire(wqe), (std::vector<Bytes>{spoilt_four, spoilt_six, spoilt_four}));
}

TEST_F(MultiPacket, StartsAnywhereInTheRingAndWrapsAroundItsEnd) {
    for (u32 start = 0; start < sq_.size(); ++start)
        for (usize packets : {1, 2, 3, 10, 26}) {
            while (sq_.producer % sq_.size() != start)
                card_.send(sq_, {.opcode = WqeOpcode::nop});
            SendWqe wqe = kEmpty;
            for (usize i = 0; i < packets; ++i)
                point_to(wqe, kFrame);
            ASSERT_EQ(wire(wqe), std::vector<Bytes>(packets, kFrame)) << start << " " << packets;
            card_.drain(cq_);
        }
}

TEST_F(MultiPacket, WhatItCannotBeFailsWithTheManualsSyndrome) {
    u64 good = card_.buffer(kFrame);
    auto one = [&] { return SendWqe(kEmpty).pointer(card_.lkey, good, 114); };
    auto with = [&](auto change) {
        SendWqe wqe = one();
        change(wqe);
        return wqe;
    };
    SendWqe beyond = one();
    beyond.data = beyond.data + be32(0x800003ff) + zeros(12);
    SendWqe second_is_bad = one().pointer(card_.lkey ^ 1, good, 114);
    struct {
        const char *what;
        SendWqe wqe;
        CqeSyndrome syndrome;
        usize frames; // that left before the error was met
    } const kCases[] = {
        {"no packet", kEmpty, CqeSyndrome::local_qp_operation, 0},
        {"only a control segment", with([](auto &w) { w.ds = 1; }), CqeSyndrome::local_qp_operation, 0},
        {"longer than what was posted", with([](auto &w) { w.ds = 63; }), CqeSyndrome::local_qp_operation, 0},
        {"segment size", with([](auto &w) { w.mss = 100; }), CqeSyndrome::local_qp_operation, 0},
        {"inserted tag", with([](auto &w) { w.insert = 1u << 31 | 5; }), CqeSyndrome::local_qp_operation, 0},
        {"IPsec trailer", with([](auto &w) { w.insert = 1u << 30; }), CqeSyndrome::local_qp_operation, 0},
        {"inline header", with([](auto &w) { w.insert = 18u << 16; }), CqeSyndrome::local_qp_operation, 0},
        {"inline packet beyond the WQE", beyond, CqeSyndrome::local_qp_operation, 1},
        {"pointer to nothing", one().pointer(card_.lkey, good, 0), CqeSyndrome::local_length, 1},
        {"too short for Ethernet", one().inlined(Bytes(13)), CqeSyndrome::local_length, 1},
        {"two gigabytes", one().pointer(card_.lkey, good, 0x7fffffff), CqeSyndrome::local_length, 1},
        {"second key is bad", second_is_bad, CqeSyndrome::local_protection, 1},
    };
    for (const auto &c : kCases) {
        card_.host.frames.clear();
        EXPECT_EQ(failure(c.wqe), c.syndrome) << c.what;
        EXPECT_EQ(card_.host.frames.size(), c.frames) << c.what;
    }
}

TEST_F(MultiPacket, CountersSeeEveryPacket) {
    SendWqe wqe = kEmpty;
    point_to(wqe, kFrame).inlined(Bytes(kFrame.begin(), kFrame.begin() + 20));
    wire(wqe);
    EXPECT_EQ(card_.host.counter("send_wqes"), 1u);
    EXPECT_EQ(card_.host.counter("tx_frames"), 2u);
    EXPECT_EQ(card_.host.counter("tx_bytes"), 114u + 60u);
}

} // namespace
} // namespace niclab::test
