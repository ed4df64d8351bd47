// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "support/card.h"

namespace niclab::test {
namespace {

class RqTest : public testing::Test {
  protected:
    static Bytes plain(usize bytes) { return ethernet(0x88b5) + pattern(bytes - 14); }
    Bytes memory(u64 address, usize bytes) { return card_.host.memory.bytes(address, bytes); }
    u64 fresh(u32 bytes) {
        u64 address = card_.host.memory.allocate(bytes);
        card_.host.memory.fill(address, bytes, 0xee);
        return address;
    }
    // Posts one list, receives `frame` and returns its completion.
    Completion receive(const std::vector<Card::Piece> &list, const Bytes &frame) {
        card_.post_list(rq_, list);
        card_.publish(rq_);
        card_.host.frame_in(frame);
        return card_.poll(cq_).value();
    }

    // The card drops the frame and counts it; the list is not used up.
    void expect_too_small(const std::vector<Card::Piece> &list, const Bytes &frame) {
        u64 before = card_.host.counter("rx_drop_wqe_too_small");
        card_.post_list(rq_, list);
        card_.publish(rq_);
        card_.host.frame_in(frame);
        EXPECT_FALSE(card_.poll(cq_));
        EXPECT_EQ(card_.host.counter("rx_drop_wqe_too_small"), before + 1);
    }

    Card card_;
    Queue cq_ = card_.create_cq(6), rq_ = card_.create_rq(3, 6, cq_.number);
    u32 tirn_ = card_.create_tir(rq_.number);
    u32 table_ = card_.catch_all(tirn_);
};

TEST_F(RqTest, FrameLandsInThePostedBufferAndItsCompletionSaysSo) {
    u64 buffer = card_.post_buffer(rq_);
    Bytes frame = plain(100);
    card_.host.frame_in(frame);
    Completion done = card_.poll(cq_).value();
    EXPECT_EQ(done.opcode(), CqeOpcode::responder_send);
    EXPECT_EQ(done.get(Cqe::byte_cnt), 100u);
    EXPECT_EQ(done.counter(), 0u);
    EXPECT_EQ(done.get(Cqe::user_index), 0xabcdeu);
    EXPECT_EQ(done.get(Cqe::qpn), 0u);
    EXPECT_EQ(done.get(Cqe::ft_metadata), 0u);
    EXPECT_EQ(load_be64(done.raw.data() + 0x30), card_.host.now_ns);
    EXPECT_EQ(memory(buffer, 100), frame);
    EXPECT_EQ(memory(buffer + 100, 1), Bytes{0xee}) << "nothing behind the frame is touched";
}

TEST_F(RqTest, FrameIsSpreadOverTheListInOrderAndStopsWhereItEnds) {
    u64 a = fresh(64), b = fresh(64), c = fresh(64), d = fresh(64);
    Bytes frame = plain(120);
    Completion done = receive(
        {{50, card_.lkey, a}, {0x80000000 | 60, card_.lkey, b}, {64, card_.lkey, c}, {64, card_.lkey, d}},
        frame);
    EXPECT_EQ(done.get(Cqe::byte_cnt), 120u);
    EXPECT_EQ(memory(a, 50) + memory(b, 60) + memory(c, 10), frame);
    EXPECT_EQ(memory(a + 50, 14), Bytes(14, 0xee));
    EXPECT_EQ(memory(c + 10, 54), Bytes(54, 0xee));
    EXPECT_EQ(memory(d, 64), Bytes(64, 0xee));
}

TEST_F(RqTest, OneWriteForEachSegmentThatIsUsed) {
    u64 a = fresh(64), b = fresh(64);
    u64 before = card_.host.counter("dma_payload_writes");
    receive({{64, card_.lkey, a}, {64, card_.lkey, b}}, plain(60));
    receive({{64, card_.lkey, a}, {64, card_.lkey, b}}, plain(100));
    EXPECT_EQ(card_.host.counter("dma_payload_writes") - before, 3u);
}

TEST_F(RqTest, TerminatorEndsTheListAndEmptySegmentsAreSkipped) {
    u64 a = fresh(64), b = fresh(64);
    Bytes frame = plain(100);
    receive({{0, 0, 0}, {64, card_.lkey, a}, {0, card_.lkey, b}, {64, card_.lkey, b}}, frame);
    EXPECT_EQ(memory(a, 64) + memory(b, 36), frame);
    expect_too_small({{64, card_.lkey, a}, {0, kTerminatorLkey, 0}, {64, card_.lkey, b}}, frame);
}

// Counted where the driver looks, and the list stays for a frame that fits.
TEST_F(RqTest, FrameLongerThanItsListIsDroppedAndCounted) {
    u64 small = fresh(64);
    expect_too_small({{64, card_.lkey, small}}, plain(65));
    EXPECT_EQ(memory(small, 64), Bytes(64, 0xee));
    EXPECT_EQ(card_.rq_state(rq_), QueueState::ready);
    card_.host.frame_in(plain(64));
    Completion next = card_.poll(cq_).value();
    EXPECT_EQ(next.opcode(), CqeOpcode::responder_send);
    EXPECT_EQ(next.counter(), 0u);
    EXPECT_EQ(memory(small, 64), plain(64));
}

// Field case: descriptors that are all zero must not make the card spin or write.
TEST_F(RqTest, EmptyAndNullDescriptorsHoldNoFrame) {
    expect_too_small({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, plain(60));
    expect_too_small({{0, card_.lkey, 0}}, plain(60));
    EXPECT_EQ(card_.host.counter("dma_payload_writes"), 0u);
}

TEST_F(RqTest, BadKeysAndAddressesStopTheQueueWithAProtectionError) {
    u64 good = fresh(64);
    u32 read_only = card_.create_mkey(AccessMode::physical, true, 0, 0, true, /*write=*/false).number() << 8 |
                    Card::kKeyByte;
    u32 window = card_.create_mkey(AccessMode::physical, false, good, 32).number() << 8 | Card::kKeyByte;
    const std::vector<Card::Piece> kBad[] = {
        {{64, 0, good}},
        {{64, card_.lkey ^ 1, good}},
        {{64, card_.lkey + 0x100000, good}},
        {{64, read_only, good}},
        {{64, window, good}},
        {{64, card_.lkey, 0}},
        {{64, card_.lkey, 0x7000'0000}},
        {{64, card_.lkey, ~u64{0} - 5}},
    };
    for (const auto &list : kBad) {
        Completion done = receive(list, plain(60));
        EXPECT_EQ(done.syndrome(), CqeSyndrome::local_protection);
        EXPECT_EQ(card_.rq_state(rq_), QueueState::error);
        ASSERT_TRUE(card_.modify_rq(rq_, QueueState::error, QueueState::reset).ok());
        rq_.producer = 0;
        card_.publish(rq_);
        ASSERT_TRUE(card_.modify_rq(rq_, QueueState::reset, QueueState::ready).ok());
    }
    EXPECT_EQ(memory(good, 64), Bytes(64, 0xee));
}

TEST_F(RqTest, KeyDestroyedWhileBuffersArePostedFailsTheNextFrame) {
    card_.post_buffer(rq_);
    card_.post_buffer(rq_);
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.poll(cq_).value().opcode(), CqeOpcode::responder_send);
    ASSERT_TRUE(card_.destroy(Opcode::destroy_mkey, card_.lkey >> 8).ok());
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.poll(cq_).value().syndrome(), CqeSyndrome::local_protection);
}

TEST_F(RqTest, DryQueueCountsAndComesBackWhenBuffersAreThere) {
    card_.host.frame_in(plain(60));
    EXPECT_FALSE(card_.poll(cq_));
    EXPECT_EQ(card_.out_of_buffer(), 1u);
    EXPECT_TRUE(card_.events().empty());
    for (int lap = 0; lap < 30; ++lap) {
        card_.post_buffer(rq_);
        card_.host.frame_in(plain(60));
        ASSERT_TRUE(card_.poll(cq_)) << "the record was not read again";
        card_.host.frame_in(plain(60));
        ASSERT_FALSE(card_.poll(cq_));
    }
    EXPECT_EQ(card_.out_of_buffer(), 31u);
    EXPECT_EQ(card_.host.counter("rx_drop_out_of_buffer"), 31u);
}

TEST_F(RqTest, BuffersPostedWhileOthersAreFetchedAreSeen) {
    card_.post_buffer(rq_);
    card_.post_buffer(rq_);
    card_.host.frame_in(plain(60));
    u64 late = card_.post_buffer(rq_);
    card_.host.frame_in(plain(60));
    card_.host.frame_in(plain(70));
    EXPECT_EQ(card_.drain(cq_).size(), 3u);
    EXPECT_EQ(memory(late, 70), plain(70));
    EXPECT_EQ(card_.out_of_buffer(), 0u);
}

TEST_F(RqTest, CounterRunsThrough16Bits) {
    Bytes frame = plain(60);
    for (int i = 0; i < 8; ++i)
        card_.post_buffer(rq_); // the lists stay, only the record moves
    cx_core_set_tracing(card_.host.core(), false);
    for (u32 i = 0; i < 65536 + 20; ++i) {
        card_.host.accesses.clear();
        card_.host.frame_in(frame);
        ASSERT_EQ(card_.poll(cq_).value().counter(), i & 0xffff);
        ++rq_.producer;
        card_.publish(rq_);
    }
    EXPECT_EQ(card_.out_of_buffer(), 0u);
}

TEST_F(RqTest, ProducerThatJumpsBeyondTheRingStopsTheQueueWithAnEvent) {
    card_.host.memory.put_be32(rq_.record, 9); // a ring of 8
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.rq_state(rq_), QueueState::error);
    std::vector<Bytes> events = card_.events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0][1], 0x05);
    EXPECT_EQ(events[0][0x34], 1) << "a receive queue";
    EXPECT_EQ(load_be32(events[0].data() + 0x38), rq_.number);
    EXPECT_TRUE(card_.drain(cq_).empty());
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.host.counter("rx_drop_queue_error"), 2u);
}

TEST_F(RqTest, UnmappedRecordOrRingStopsTheQueue) {
    card_.post_buffer(rq_);
    card_.host.memory.unmap(rq_.ring, kPage);
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.rq_state(rq_), QueueState::error);
    Queue other = card_.create_rq(3, 6, cq_.number);
    card_.host.memory.unmap(other.record, kPage);
    card_.catch_all(card_.create_tir(other.number));
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.rq_state(other), QueueState::error);
    EXPECT_EQ(card_.events_of(Event::wq_catastrophic), 2u);
}

TEST_F(RqTest, MoveToErrorFlushesEveryPostedList) {
    for (int i = 0; i < 5; ++i)
        card_.post_buffer(rq_);
    card_.host.frame_in(plain(60));
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::ready, QueueState::error).ok());
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 5u);
    for (u32 i = 1; i < 5; ++i) {
        EXPECT_EQ(done[i].syndrome(), CqeSyndrome::flushed);
        EXPECT_EQ(done[i].counter(), i);
    }
    card_.host.frame_in(plain(60));
    EXPECT_TRUE(card_.drain(cq_).empty());
}

TEST_F(RqTest, WithoutTheFlushBitNothingIsFlushed) {
    Queue rq;
    card_.start_rq(
        rq,
        card_.rq_input(rq, 3, 6, cq_.number).set(RqContext::flush_in_error_en, 0, CreateQueueIn::context));
    card_.post_buffer(rq);
    ASSERT_TRUE(card_.modify_rq(rq, QueueState::ready, QueueState::error).ok());
    EXPECT_TRUE(card_.drain(cq_).empty());
}

TEST_F(RqTest, RestartForgetsWhatWasPostedBefore) {
    u64 old = card_.post_buffer(rq_);
    card_.post_buffer(rq_);
    card_.host.frame_in(plain(60)); // fetches both lists
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::ready, QueueState::reset).ok());
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.host.counter("rx_drop_queue_not_ready"), 1u);
    card_.drain(cq_);
    rq_.producer = 0;
    card_.publish(rq_);
    ASSERT_TRUE(card_.modify_rq(rq_, QueueState::reset, QueueState::ready).ok());
    card_.host.memory.fill(old, 64, 0xee);
    u64 now = card_.post_buffer(rq_);
    card_.host.frame_in(plain(70));
    EXPECT_EQ(card_.poll(cq_).value().counter(), 0u);
    EXPECT_EQ(memory(now, 70), plain(70));
    EXPECT_EQ(memory(old, 64), Bytes(64, 0xee));
}

TEST_F(RqTest, StatesMoveAsTheTableSaysAndNoOtherWay) {
    expect_state_moves(
        [&] {
            Queue queue;
            queue.number = card_.driver.must(card_.rq_input(queue, 3, 6, cq_.number)).number();
            return queue;
        },
        [&](const Queue &queue, QueueState from, QueueState to) { return card_.modify_rq(queue, from, to); },
        [&](const Queue &queue) { return card_.rq_state(queue); });
}

TEST_F(RqTest, FullCompletionQueueStopsTheQueueAndLosesTheFrame) {
    Queue cq = card_.create_cq(0), rq = card_.create_rq(3, 6, cq.number);
    card_.catch_all(card_.create_tir(rq.number));
    for (int i = 0; i < 3; ++i)
        card_.post_buffer(rq);
    for (int i = 0; i < 3; ++i)
        card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.drain(cq).size(), 1u);
    EXPECT_EQ(card_.rq_state(rq), QueueState::error);
    EXPECT_EQ(card_.host.counter("rx_drop_queue_error"), 2u);
}

TEST_F(RqTest, CounterSetAndStrippingChangeWhileReady) {
    u32 other = card_.driver.alloc(Opcode::alloc_q_counter);
    CommandInput in = card_.modify_rq_input(rq_, QueueState::ready, QueueState::ready);
    in.set(ModifyQueueIn::modify_bitmask, ModifyQueueIn::kRqCounterSet | ModifyQueueIn::kRqVsd)
        .set(RqContext::counter_set_id, other, ModifyQueueIn::context)
        .set(RqContext::vsd, 1, ModifyQueueIn::context);
    ASSERT_TRUE(card_.driver.run(in).ok());
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.out_of_buffer(), 0u);
    CommandInput old(Opcode::dealloc_q_counter, DeallocQCounterIn::bytes);
    EXPECT_TRUE(card_.driver.run(old.set(DeallocQCounterIn::counter_set_id, card_.counter_set)).ok())
        << "no user is left";
    EXPECT_EQ(card_.driver.run(old.set(DeallocQCounterIn::counter_set_id, other)).status(),
              Status::bad_resource_state);
    CommandResult out =
        card_.driver.must(Card::number_input(Opcode::query_rq, rq_.number), QueryQueueOut::bytes);
    EXPECT_EQ(out.get(RqContext::vsd, QueryQueueOut::context), 1u);
    EXPECT_EQ(out.get(RqContext::counter_set_id, QueryQueueOut::context), other);
}

// The stock driver makes one such queue and points everything that nobody wants at it.
TEST_F(RqTest, QueueWithoutDomainDropsSilentlyAndCanUseNoKey) {
    Queue rq;
    card_.start_rq(rq, card_.rq_input(rq, 0, 4, cq_.number).set(WqContext::pd, 0, CreateQueueIn::wq));
    card_.catch_all(card_.create_tir(rq.number));
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.out_of_buffer(), 1u);
    EXPECT_FALSE(card_.poll(cq_));
    card_.post_buffer(rq);
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.poll(cq_).value().syndrome(), CqeSyndrome::local_protection);
}

TEST_F(RqTest, CreationRefusesWhatItCannotDo) {
    auto make = [&] {
        Queue queue;
        return card_.rq_input(queue, 3, 6, cq_.number);
    };
    expect_refusals<RqContext>(
        card_, CreateQueueIn::context, make,
        {
            {"reserved key", RqContext::rlky, 1, Status::bad_parameter},
            {"shared memory pool", RqContext::mem_rq_type, 1, Status::bad_parameter},
            {"real time stamps", RqContext::ts_format, 2, Status::bad_parameter},
            {"born ready", RqContext::state, 1, Status::bad_parameter},
            {"no such CQ", RqContext::cqn, 999, Status::bad_resource},
            {"no such counter set", RqContext::counter_set_id, 99, Status::bad_resource},
        });
    expect_refusals<WqContext>(
        card_, CreateQueueIn::wq, make,
        {
            {"linked list", WqContext::wq_type, 0, Status::bad_parameter},
            {"no such kind", WqContext::wq_type, 4, Status::bad_parameter},
            {"less than one segment", WqContext::log_wq_stride, 3, Status::bad_parameter},
            {"longer than offered", WqContext::log_wq_stride, 10, Status::bad_parameter},
            {"larger than the counter", WqContext::log_wq_sz, 16, Status::bad_parameter},
            {"more lists than pages", WqContext::log_wq_sz, 7, Status::bad_parameter},
            {"no such PD", WqContext::pd, 999, Status::bad_resource},
        });
}

TEST_F(RqTest, QueueInUseStaysAndNothingTouchesItsMemoryAfterDestroy) {
    EXPECT_EQ(card_.destroy(Opcode::destroy_rq, rq_.number).status(), Status::bad_resource_state);
    card_.post_buffer(rq_);
    Queue other = card_.create_rq(3, 6, cq_.number);
    card_.catch_all(card_.create_tir(other.number));
    // The first table still forwards to the first TIR; take them apart from the top.
    CommandInput entry(Opcode::delete_flow_table_entry, DeleteFteIn::bytes);
    ASSERT_TRUE(card_.driver.run(entry.set(FlowTableIn::table_id, table_)).ok());
    ASSERT_TRUE(card_.destroy(Opcode::destroy_tir, tirn_).ok());
    ASSERT_TRUE(card_.destroy(Opcode::destroy_rq, rq_.number).ok());
    card_.host.memory.unmap(rq_.ring, kPage);
    card_.host.memory.unmap(rq_.record, kPage);
    card_.host.frame_in(plain(60));
    EXPECT_EQ(card_.host.counter("dma_faults"), 0u);
    EXPECT_EQ(card_.destroy(Opcode::destroy_rq, rq_.number).status(), Status::bad_resource);
}

} // namespace
} // namespace niclab::test
