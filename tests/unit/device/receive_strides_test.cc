// SPDX-License-Identifier: GPL-2.0-or-later
// Striding receive queues: where frames land, and that the strides of each WQE's completions add up.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "support/card.h"

namespace niclab::test {
namespace {

class StridesTest : public testing::Test {
  protected:
    static constexpr u32 kWqes = 4, kStrides = 8, kStrideBytes = 64, kWqeBytes = kStrides * kStrideBytes;

    static Bytes plain(usize bytes) { return ethernet(0x88b5) + pattern(bytes - 14); }
    Bytes memory(u64 address, usize bytes) { return card_.host.memory.bytes(address, bytes); }

    CommandInput input(Queue &rq, WqType type = WqType::linked_list_striding) {
        return card_.rq_input(rq, 2, 5, cq_.number)
            .set(WqContext::wq_type, static_cast<u32>(type), CreateQueueIn::wq)
            .set(WqContext::log_wqe_num_of_strides, u32(3 - 9), CreateQueueIn::wq)
            .set(WqContext::log_wqe_stride_size, 6 - 6, CreateQueueIn::wq);
    }
    void put_wqe(u32 index, u32 next, u32 lkey, u64 address, u32 bytes = kWqeBytes) {
        card_.host.memory.put(rq_.slot(index), be32(next) + zeros(12) + be32(bytes) + be32(lkey) +
                                                   be32(static_cast<u32>(address >> 32)) +
                                                   be32(static_cast<u32>(address)));
    }
    // A ready queue whose WQEs are filled in, linked in a circle, and not yet posted.
    void start(WqType type = WqType::linked_list_striding) {
        rq_.number = card_.driver.must(input(rq_, type)).number();
        for (u32 i = 0; i < kWqes; ++i) {
            buffers_[i] = card_.host.memory.allocate(kWqeBytes);
            card_.host.memory.fill(buffers_[i], kWqeBytes, 0xee);
            put_wqe(i, (i + 1) % kWqes, card_.lkey, buffers_[i]);
        }
        ASSERT_TRUE(card_.modify_rq(rq_, QueueState::reset, QueueState::ready).ok());
        table_ = card_.catch_all(card_.create_tir(rq_.number));
    }
    void post(u32 count) {
        rq_.producer += count;
        card_.publish(rq_);
    }
    Completion receive(const Bytes &frame) {
        card_.host.frame_in(frame);
        return card_.poll(cq_).value();
    }

    Card card_;
    Queue cq_ = card_.create_cq(7), rq_;
    u64 buffers_[kWqes] = {};
    u32 table_ = 0;
};

TEST_F(StridesTest, FramesFollowEachOtherInOneBuffer) {
    start();
    post(1);
    Completion first = receive(plain(100)), second = receive(plain(64)), third = receive(plain(65));
    EXPECT_EQ(first.opcode(), CqeOpcode::responder_send);
    EXPECT_EQ(load_be32(first.raw.data() + 0x2c), 2u << 16 | 100);
    EXPECT_EQ(first.get(Cqe::user_index), 0xabcdeu);
    EXPECT_EQ(first.counter(), 0u);
    EXPECT_EQ(load_be32(second.raw.data() + 0x2c), 1u << 16 | 64);
    EXPECT_EQ(second.counter(), 2u);
    EXPECT_EQ(load_be32(third.raw.data() + 0x2c), 2u << 16 | 65);
    EXPECT_EQ(third.counter(), 3u);
    EXPECT_EQ(memory(buffers_[0], 100), plain(100));
    EXPECT_EQ(memory(buffers_[0] + 100, 28), Bytes(28, 0xee)) << "nothing behind the frame is touched";
    EXPECT_EQ(memory(buffers_[0] + 2 * 64, 64), plain(64));
    EXPECT_EQ(memory(buffers_[0] + 3 * 64, 65), plain(65));
}

TEST_F(StridesTest, RestOfAWqeComesBackAsFillerWhenAFrameNeedsMore) {
    start();
    post(2);
    receive(plain(6 * 64));
    card_.host.frame_in(plain(3 * 64));
    Completion filler = card_.poll(cq_).value(), next = card_.poll(cq_).value();
    EXPECT_EQ(filler.opcode(), CqeOpcode::responder_send);
    EXPECT_EQ(load_be32(filler.raw.data() + 0x2c), 1u << 31 | 2u << 16);
    EXPECT_EQ(load_be32(filler.raw.data()) & 0xffff, 0u);
    EXPECT_EQ(filler.counter(), 6u);
    EXPECT_EQ(load_be32(next.raw.data()) & 0xffff, 1u);
    EXPECT_EQ(next.counter(), 0u);
    EXPECT_EQ(memory(buffers_[1], 192), plain(192));
    EXPECT_EQ(card_.host.counter("rx_fillers"), 1u);
}

TEST_F(StridesTest, FullWqeNeedsNoFiller) {
    start();
    post(2);
    receive(plain(6 * 64));
    receive(plain(2 * 64));
    EXPECT_EQ(load_be32(receive(plain(60)).raw.data()) & 0xffff, 1u);
    EXPECT_EQ(card_.host.counter("rx_fillers"), 0u);
    EXPECT_EQ(card_.host.counter("receive_wqes"), 1u);
}

// What drivers rely on: a WQE comes back when its strides have added up, and no stride counts twice.
TEST_F(StridesTest, StridesOfEveryWqeAddUpWhateverTheFrames) {
    start();
    post(kWqes);
    std::mt19937 random(7);
    std::map<u32, u32> used;
    u32 frames = 0, seen = 0, order = 0;
    cx_core_set_tracing(card_.host.core(), false);
    while (frames < 4000) {
        card_.host.frame_in(plain(60 + random() % (kWqeBytes - 59)));
        ++frames;
        card_.host.accesses.clear();
        for (const Completion &done : card_.drain(cq_)) {
            u32 wqe = done.get(Cqe::wqe_id);
            ASSERT_EQ(wqe, order % kWqes);
            ASSERT_EQ(done.counter(), used[wqe]) << "strides are taken one after the other";
            used[wqe] += done.get(Cqe::strides);
            ASSERT_LE(used[wqe], kStrides);
            seen += !done.get(Cqe::filler);
            if (used[wqe] < kStrides) continue;
            used[wqe] = 0;
            ++order;
            post(1);
        }
    }
    EXPECT_EQ(seen, frames);
    EXPECT_EQ(card_.out_of_buffer(), 0u);
}

// Drivers write a WQE's link when they post its successor; until then it leads somewhere else.
TEST_F(StridesTest, LinkIsReadWhenTheCardMovesOn) {
    start();
    post(1);
    receive(plain(kWqeBytes));
    card_.host.frame_in(plain(60));
    EXPECT_FALSE(card_.poll(cq_));
    put_wqe(0, 3, card_.lkey, buffers_[0]);
    post(1);
    EXPECT_EQ(receive(plain(60)).get(Cqe::wqe_id), 3u);
    EXPECT_EQ(memory(buffers_[3], 60), plain(60));
}

TEST_F(StridesTest, CyclicQueueGoesByIndex) {
    start(WqType::cyclic_striding);
    for (u32 i = 0; i < kWqes; ++i)
        put_wqe(i, 0, card_.lkey, buffers_[i]);
    for (u32 i = 0; i < 3 * kWqes; ++i) {
        post(1);
        EXPECT_EQ(receive(plain(kWqeBytes)).get(Cqe::wqe_id), i % kWqes);
    }
}

TEST_F(StridesTest, DryQueueCountsAndComesBack) {
    start();
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.out_of_buffer(), 1u);
    post(1);
    receive(plain(7 * 64));
    card_.host.frame_in(plain(2 * 64)); // gives the rest back and finds nothing else
    Completion filler = card_.poll(cq_).value();
    EXPECT_EQ(filler.get(Cqe::filler), 1u);
    EXPECT_EQ(filler.get(Cqe::strides), 1u);
    EXPECT_FALSE(card_.poll(cq_));
    EXPECT_EQ(card_.out_of_buffer(), 2u);
    post(1);
    EXPECT_EQ(receive(plain(2 * 64)).get(Cqe::wqe_id), 1u);
    EXPECT_TRUE(card_.events().empty());
}

TEST_F(StridesTest, FrameLongerThanAWqeIsDroppedAndCounted) {
    start();
    post(1);
    receive(plain(60));
    card_.host.frame_in(plain(kWqeBytes + 1));
    EXPECT_FALSE(card_.poll(cq_)) << "no filler for a frame that fits nowhere";
    EXPECT_EQ(card_.host.counter("rx_drop_wqe_too_small"), 1u);
    EXPECT_EQ(receive(plain(60)).counter(), 1u);
}

TEST_F(StridesTest, BufferShorterThanItsStridesIsNeverOverrun) {
    start();
    put_wqe(0, 1, card_.lkey, buffers_[0], 100);
    post(1);
    receive(plain(64));
    card_.host.frame_in(plain(60));
    EXPECT_FALSE(card_.poll(cq_));
    EXPECT_EQ(card_.host.counter("rx_drop_wqe_too_small"), 1u);
    EXPECT_EQ(memory(buffers_[0] + 64, 64), Bytes(64, 0xee));
}

TEST_F(StridesTest, FrameIsSpreadOverThePagesOfAKey) {
    start();
    u64 first = card_.host.memory.allocate(kPage), second = card_.host.memory.allocate(kPage);
    CommandInput in(Opcode::create_mkey, CreateMkeyIn::bytes);
    in.set(MkeyContext::access_mode, static_cast<u32>(AccessMode::mtt), CreateMkeyIn::context)
        .set(MkeyContext::local_write, 1, CreateMkeyIn::context)
        .set(MkeyContext::qpn, 0xffffff, CreateMkeyIn::context)
        .set(MkeyContext::pd, card_.pd, CreateMkeyIn::context)
        .set(MkeyContext::len, 2 * kPage, CreateMkeyIn::context)
        .set(MkeyContext::translations_octword_size, 1, CreateMkeyIn::context)
        .set(MkeyContext::log_page_size, 12, CreateMkeyIn::context)
        .set(CreateMkeyIn::translations_octword_actual_size, 1)
        .put_be64(CreateMkeyIn::klm_pas_mtt, first)
        .put_be64(CreateMkeyIn::klm_pas_mtt + 8, second);
    put_wqe(0, 1, card_.driver.must(in).number() << 8, kPage - 100);
    post(1);
    receive(plain(150));
    EXPECT_EQ(memory(first + kPage - 100, 100) + memory(second, 50), plain(150));
}

TEST_F(StridesTest, BadKeyStopsTheQueueAndTheRestIsFlushed) {
    start();
    put_wqe(0, 1, card_.lkey ^ 1, buffers_[0]);
    post(3);
    card_.host.frame_in(plain(60));
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 3u);
    for (u32 i = 0; i < 3; ++i) {
        EXPECT_EQ(done[i].get(ErrorCqe::wqe_id), i);
        EXPECT_EQ(done[i].get(ErrorCqe::strides), kStrides);
        EXPECT_EQ(done[i].syndrome(), i == 0 ? CqeSyndrome::local_protection : CqeSyndrome::flushed);
    }
    EXPECT_EQ(card_.rq_state(rq_), QueueState::error);
}

TEST_F(StridesTest, FlushStartsWithWhatIsLeftOfTheWqeInUse) {
    start();
    post(2);
    receive(plain(3 * 64));
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::ready, QueueState::error).ok());
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[0].get(ErrorCqe::strides), 5u);
    EXPECT_EQ(done[1].get(ErrorCqe::wqe_id), 1u);
    EXPECT_EQ(done[1].get(ErrorCqe::strides), kStrides);
    card_.host.frame_in(plain(60));
    EXPECT_TRUE(card_.drain(cq_).empty());
}

TEST_F(StridesTest, RestartBeginsWithTheFirstWqeWhateverWasInUse) {
    start();
    post(3);
    receive(plain(kWqeBytes));
    receive(plain(60));
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::ready, QueueState::reset).ok());
    rq_.producer = 0;
    post(1);
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::reset, QueueState::ready).ok());
    Completion done = receive(plain(60));
    EXPECT_EQ(done.get(Cqe::wqe_id), 0u);
    EXPECT_EQ(done.counter(), 0u);
}

TEST_F(StridesTest, LinkOutOfTheRingStopsTheQueueWithAnEvent) {
    start();
    put_wqe(0, kWqes, card_.lkey, buffers_[0]);
    post(2);
    receive(plain(kWqeBytes));
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.rq_state(rq_), QueueState::error);
    EXPECT_EQ(card_.events_of(Event::wq_catastrophic), 1u);
    EXPECT_EQ(card_.host.counter("rx_drop_queue_error"), 1u);
}

TEST_F(StridesTest, LinksInACircleEndTheFlush) {
    start();
    put_wqe(0, 0, card_.lkey, buffers_[0]);
    post(kWqes);
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::ready, QueueState::error).ok());
    EXPECT_EQ(card_.drain(cq_).size(), kWqes) << "as many as are posted";
}

TEST_F(StridesTest, CreationRefusesWhatItCannotDo) {
    const struct {
        const char *what;
        Field<WqContext> field;
        u32 value;
    } kBad[] = {
        {"one segment too many", WqContext::log_wq_stride, 6},
        {"two bytes in front of each frame", WqContext::two_byte_shift_en, 1},
        {"four strides", WqContext::log_wqe_num_of_strides, u32(2 - 9)},
        {"more strides than a completion counts", WqContext::log_wqe_num_of_strides, 6},
        {"larger than the counter", WqContext::log_wq_sz, 16},
    };
    for (const auto &bad : kBad) {
        Queue rq;
        EXPECT_EQ(card_.driver.run(input(rq).set(bad.field, bad.value, CreateQueueIn::wq)).status(),
                  Status::bad_parameter)
            << bad.what;
    }
}

} // namespace
} // namespace niclab::test
