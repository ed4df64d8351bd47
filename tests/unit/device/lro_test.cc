// SPDX-License-Identifier: GPL-2.0-or-later
// Merging of TCP segments: what is put together, what ends it, and what the completion tells.
#include <gtest/gtest.h>

#include "support/card.h"

namespace niclab::test {
namespace {

constexpr usize kHeaders = 14 + 20 + 20;
constexpr u64 kTimeout = 32'000; // ns

class LroTest : public testing::Test {
  protected:
    LroTest() {
        CommandInput in = card_.rq_input(rq_, 2, 5, cq_.number)
                              .set(WqContext::wq_type, 2, CreateQueueIn::wq)
                              .set(WqContext::log_wqe_num_of_strides, 11 - 9, CreateQueueIn::wq);
        rq_.number = card_.driver.must(in).number();
        EXPECT_TRUE(card_.modify_rq(rq_, QueueState::reset, QueueState::ready).ok());
        for (u32 i = 0; i < rq_.size(); ++i) {
            buffers_[i] = card_.host.memory.allocate(kWqeBytes);
            card_.host.memory.put(rq_.slot(i), be32((i + 1) % 4) + zeros(12) + be32(kWqeBytes) +
                                                   be32(card_.lkey) +
                                                   be32(static_cast<u32>(buffers_[i] >> 32)) +
                                                   be32(static_cast<u32>(buffers_[i])));
        }
        rq_.producer = 4;
        card_.publish(rq_);
        tirn_ = card_.driver.must(merging(card_.direct_tir_input(rq_.number))).number();
        card_.catch_all(tirn_);
    }
    static CommandInput merging(CommandInput in, u32 units = 255, u32 mask = 3) {
        return in.set(TirContext::packet_merge_mask, mask, CreateTirIn::context)
            .set(TirContext::lro_max_ip_payload_size, units, CreateTirIn::context)
            .set(TirContext::lro_timeout_period_usecs, kTimeout / 1000, CreateTirIn::context);
    }
    void limit(u32 units) {
        CommandInput in(Opcode::modify_tir, ModifyTirIn::bytes);
        in.set(ModifyTirIn::number, tirn_).set(ModifyTirIn::bitmask, ModifyTirIn::kPacketMerge);
        ASSERT_TRUE(card_.driver.run(merging(in, units)).ok());
    }

    void in(const Bytes &frame) { card_.host.frame_in(frame); }
    // A segment of the standard flow; the sequence number is where its payload starts.
    static Bytes segment(u32 at, usize bytes, Tcp tcp = {}) {
        tcp.sequence = 1000 + at;
        Bytes all = pattern(200'000);
        return frame(Ipv4{}, tcp, Bytes(all.begin() + at, all.begin() + static_cast<long>(at + bytes)));
    }
    static Bytes payload(usize at, usize bytes) {
        Bytes all = pattern(200'000);
        return Bytes(all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(at + bytes));
    }
    Bytes delivered(const Completion &done) {
        return card_.host.memory.bytes(buffers_[done.get(Cqe::wqe_id)] + 64 * done.counter(),
                                       done.get(Cqe::stride_byte_cnt));
    }
    void expect_nothing_yet() { EXPECT_FALSE(card_.poll(cq_)); }
    Completion next() { return card_.poll(cq_).value(); }
    void expect_whole(const Bytes &frame) {
        Completion done = next();
        EXPECT_EQ(done.get(Cqe::lro_num_seg), 0u);
        EXPECT_EQ(delivered(done), frame);
        EXPECT_EQ(done.get(Cqe::check_sum), slow_sum(Bytes(frame.begin() + 14, frame.end())));
    }
    void expect_merged(u32 segments, usize at, usize bytes) {
        Completion done = next();
        EXPECT_EQ(done.get(Cqe::lro_num_seg), segments);
        ASSERT_EQ(done.get(Cqe::stride_byte_cnt), kHeaders + bytes);
        Bytes got = delivered(done);
        EXPECT_EQ(Bytes(got.begin() + kHeaders, got.end()), payload(at, bytes));
    }

    static constexpr u32 kWqeBytes = 2048 * 64;
    Card card_;
    Queue cq_ = card_.create_cq(7), rq_;
    u64 buffers_[4] = {};
    u32 tirn_ = 0;
};

TEST_F(LroTest, SegmentsInARowBecomeOneFrameWhenTimeIsOver) {
    in(segment(0, 1000, {.ack = 5, .flags = 0x10}));
    Bytes second = segment(1000, 1000, {.ack = 6, .flags = 0x10});
    in(second);
    Ipv4 far{.ttl = 50};
    in(frame(far, Tcp{.sequence = 3000, .ack = 9}, payload(2000, 1000)));
    expect_nothing_yet();
    card_.host.advance(kTimeout - 1);
    expect_nothing_yet();
    card_.host.advance(1);
    Completion done = next();
    EXPECT_EQ(load_be32(done.raw.data() + 0x20), 3u << 24 | 0xabcde);
    EXPECT_EQ(load_be32(done.raw.data() + 0x04), 50u << 16 | 0xffff) << "no PSH, least TTL, newest window";
    EXPECT_EQ(load_be32(done.raw.data() + 0x08), 9u) << "newest acknowledgement";
    EXPECT_EQ(done.get(Cqe::stride_byte_cnt), kHeaders + 3000);
    EXPECT_EQ(done.get(Cqe::strides), (kHeaders + 3000 + 63) / 64);
    EXPECT_EQ(done.get(Cqe::check_sum), slow_sum(payload(0, 3000))) << "of the payload";
    EXPECT_EQ(done.get(Cqe::l4_hdr_type), 4u);
    Bytes first = segment(0, 1000, {.ack = 5, .flags = 0x10});
    EXPECT_EQ(delivered(done), Bytes(first.begin(), first.begin() + kHeaders) + payload(0, 3000));
    EXPECT_EQ(card_.host.counter("rx_merged_frames"), 1u);
    EXPECT_EQ(card_.host.counter("rx_merged_segments"), 3u);
    card_.host.advance(1'000'000);
    expect_nothing_yet();
}

TEST_F(LroTest, PushEndsASession) {
    in(segment(0, 1000));
    in(segment(1000, 1000, {.flags = 0x18}));
    Completion done = next();
    EXPECT_EQ(done.get(Cqe::lro_num_seg), 2u);
    EXPECT_EQ(done.get(Cqe::lro_tcp_psh), 1u);
    Bytes alone = segment(2000, 1000, {.flags = 0x18});
    in(alone);
    expect_whole(alone);
}

TEST_F(LroTest, ShorterSegmentIsTheLastOneAndALongerOneDoesNotFollow) {
    in(segment(0, 1000));
    in(segment(1000, 999));
    expect_merged(2, 0, 1999);
    in(segment(1999, 500));
    in(segment(2499, 501));
    Bytes first = segment(1999, 500);
    expect_whole(first);
    card_.host.advance(kTimeout);
    expect_whole(segment(2499, 501));
}

TEST_F(LroTest, GapOrRepetitionStartsAnew) {
    in(segment(0, 100));
    in(segment(100, 100));
    in(segment(300, 100));
    expect_merged(2, 0, 200);
    in(segment(300, 100)); // once more
    expect_whole(segment(300, 100));
    card_.host.advance(kTimeout);
    expect_whole(segment(300, 100));
}

TEST_F(LroTest, WhateverElseTheFlowSendsComesBehindWhatWasCollected) {
    const struct {
        const char *what;
        Bytes frame;
    } kOthers[] = {
        {"SYN", segment(100, 100, {.flags = 0x12})},
        {"FIN", segment(100, 100, {.flags = 0x11})},
        {"RST", segment(100, 100, {.flags = 0x14})},
        {"URG", segment(100, 100, {.flags = 0x30})},
        {"ECE", segment(100, 100, {.flags = 0x50})},
        {"CWR", segment(100, 100, {.flags = 0x90})},
        {"acknowledgement alone", segment(100, 0)},
        {"older acknowledgement", segment(100, 100, {.ack = 0x0a0b0c0c, .flags = 0x18})},
        {"other TCP options", segment(100, 100, {.flags = 0x18, .options = Bytes(4, 1)})},
        {"congestion", frame(Ipv4{.tos = 3}, Tcp{.sequence = 1100}, payload(100, 100))},
        {"other class", frame(Ipv4{.tos = 0x10}, Tcp{.sequence = 1100, .flags = 0x18}, payload(100, 100))},
        {"may be fragmented",
         frame(Ipv4{.fragment = 0}, Tcp{.sequence = 1100, .flags = 0x18}, payload(100, 100))},
        {"IP options", frame(Ipv4{.options = Bytes(4, 1)}, Tcp{.sequence = 1100}, payload(100, 100))},
        {"padding", segment(100, 100) + Bytes{0, 0}},
    };
    for (const auto &other : kOthers) {
        SCOPED_TRACE(other.what);
        in(segment(0, 100));
        in(other.frame);
        expect_whole(segment(0, 100));
        expect_whole(other.frame);
    }
    Bytes damaged = segment(100, 100);
    damaged.back() ^= 1;
    in(segment(0, 100));
    in(damaged);
    expect_whole(segment(0, 100));
    EXPECT_EQ(next().get(Cqe::l4_ok), 0u) << "a segment with a wrong checksum";
}

TEST_F(LroTest, NothingButTcpWaits) {
    for (const Bytes &other : {frame(Ipv4{}, Udp{}, payload(0, 100)), ethernet(0x88b5) + pattern(100),
                               frame(Ipv4{.fragment = 0x2000}, Tcp{}, payload(0, 100))}) {
        in(other);
        EXPECT_EQ(delivered(next()), other);
    }
}

TEST_F(LroTest, LimitCountsTheIpPayload) {
    limit(2); // 512 bytes: the TCP header and 492 of payload
    in(segment(0, 246));
    in(segment(246, 246));
    expect_nothing_yet();
    in(segment(492, 246));
    expect_merged(2, 0, 492);
    card_.host.advance(kTimeout);
    expect_whole(segment(492, 246));
    Bytes large = segment(0, 493);
    in(large);
    expect_whole(large);
}

TEST_F(LroTest, LongestFrameAndLargestNumberOfSegmentsFitTheCompletion) {
    for (u32 i = 0; i < 46; ++i)
        in(segment(i * 1448, 1448));
    expect_merged(45, 0, 45 * 1448); // 65 280 bytes of IP payload are the limit
    card_.host.advance(kTimeout);
    expect_whole(segment(45 * 1448, 1448));
    for (u32 i = 0; i < 256; ++i)
        in(segment(i * 10, 10));
    expect_merged(255, 0, 2550);
}

TEST_F(LroTest, FlowsAreKeptApart) {
    for (u32 i = 0; i < 3; ++i) {
        in(segment(i * 100, 100));
        in(segment(i * 100, 100, {.sport = 1025}));
    }
    card_.host.advance(kTimeout);
    expect_merged(3, 0, 300);
    expect_merged(3, 0, 300);
    expect_nothing_yet();
}

TEST_F(LroTest, OneFlowTooManyEndsTheSessionThatIsTheLongestInUse) {
    for (u16 i = 0; i < 33; ++i)
        in(segment(0, 100, {.sport = static_cast<u16>(2000 + i)}));
    expect_whole(segment(0, 100, {.sport = 2000}));
    expect_nothing_yet();
    card_.host.advance(kTimeout);
    EXPECT_EQ(card_.drain(cq_).size(), 32u);
}

TEST_F(LroTest, TimeStampIsTheNewestAndNeverGoesBack) {
    auto stamped = [](u32 at, u32 value, u32 echo) {
        return segment(at, 100, {.options = be32(0x0101080a) + be32(value) + be32(echo)});
    };
    in(stamped(0, 70, 1));
    in(stamped(100, 75, 2));
    in(stamped(200, 74, 3));
    Completion done = next();
    EXPECT_EQ(done.get(Cqe::lro_num_seg), 2u);
    Bytes got = delivered(done);
    EXPECT_EQ(Bytes(got.begin() + kHeaders, got.begin() + kHeaders + 12),
              be32(0x0101080a) + be32(75) + be32(2));
    card_.host.advance(kTimeout);
    expect_whole(stamped(200, 74, 3));
}

TEST_F(LroTest, SixthVersionAndStrippedTagsMergeToo) {
    for (u32 i = 0; i < 2; ++i)
        in(frame(Ipv6{}, Tcp{.sequence = 100 * i}, payload(100 * i, 100), vlan_tag(0x8100, 7)));
    in(frame(Ipv6{}, Tcp{.sequence = 200}, payload(200, 100), vlan_tag(0x8100, 8)));
    card_.host.advance(kTimeout);
    Completion done = next();
    EXPECT_EQ(done.get(Cqe::lro_num_seg), 2u);
    EXPECT_EQ(done.get(Cqe::vlan_info), 7u);
    Bytes first = frame(Ipv6{}, Tcp{.sequence = 0}, payload(0, 100));
    EXPECT_EQ(delivered(done), Bytes(first.begin(), first.begin() + 74) + payload(0, 200));
    EXPECT_EQ(next().get(Cqe::vlan_info), 8u) << "another VLAN is another flow";
}

TEST_F(LroTest, QueueThatStopsLosesWhatItWaitedFor) {
    in(segment(0, 100));
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::ready, QueueState::reset).ok());
    EXPECT_EQ(card_.host.counter("rx_drop_queue_not_ready"), 1u);
    card_.host.accesses.clear();
    card_.host.advance(kTimeout);
    EXPECT_TRUE(card_.host.accesses.empty());
    rq_.producer = 1;
    card_.publish(rq_);
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::reset, QueueState::ready).ok());
    in(segment(0, 100));
    cx_core_reset(card_.host.core());
    card_.host.accesses.clear();
    card_.host.advance(kTimeout);
    EXPECT_TRUE(card_.host.accesses.empty()) << "nothing after a reset";
}

TEST_F(LroTest, QueuesThatCannotHoldALongFrameGetSegments) {
    Queue plain = card_.create_rq(3, 6, cq_.number);
    card_.catch_all(card_.driver.must(merging(card_.direct_tir_input(plain.number))).number());
    card_.post_buffer(plain);
    in(segment(0, 100));
    EXPECT_EQ(next().get(Cqe::byte_cnt), kHeaders + 100);
}

TEST_F(LroTest, MergingIsSwitchedByVersion) {
    CommandInput modify(Opcode::modify_tir, ModifyTirIn::bytes);
    modify.set(ModifyTirIn::number, tirn_).set(ModifyTirIn::bitmask, ModifyTirIn::kPacketMerge);
    ASSERT_TRUE(card_.driver.run(merging(modify, 255, 2)).ok());
    in(segment(0, 100));
    expect_whole(segment(0, 100));
    ASSERT_TRUE(card_.driver.run(merging(modify, 255, 0)).ok());
    Bytes sixth = frame(Ipv6{}, Tcp{}, payload(0, 100));
    in(sixth);
    expect_whole(sixth);
    EXPECT_EQ(card_.driver.run(merging(modify, 255, 4)).status(), Status::bad_parameter);
    modify.set(TirContext::lro_timeout_period_usecs, 1025, ModifyTirIn::context);
    EXPECT_EQ(card_.driver.run(modify).status(), Status::bad_parameter);
}

} // namespace
} // namespace niclab::test
