// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <optional>

#include "support/card.h"

namespace niclab::test {
namespace {

class CqTest : public testing::Test {
  protected:
    // Completes `n` NOPs one by one.
    void complete(Queue &sq, int n = 1) {
        for (int i = 0; i < n; ++i)
            card_.send(sq, {.opcode = WqeOpcode::nop});
    }
    u8 op_own(const Queue &cq, u32 index) {
        return card_.host.memory.bytes(cq.slot(index) + Cqe::op_own_byte, 1)[0];
    }

    Card card_;
};

TEST_F(CqTest, OwnerBitTogglesWithEveryLap) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    for (u32 i = 0; i < 20; ++i) {
        complete(sq);
        EXPECT_EQ(op_own(cq, i), (i / 4) & 1) << "entry " << i; // opcode 0, format 0, not solicited
        ASSERT_TRUE(card_.poll(cq)) << "entry " << i;
        EXPECT_FALSE(card_.poll(cq));
    }
}

TEST_F(CqTest, RingOfOneEntryTogglesEachTime) {
    Queue cq = card_.create_cq(0), sq = card_.create_sq(4, cq.number);
    for (u32 i = 0; i < 5; ++i) {
        complete(sq);
        EXPECT_EQ(op_own(cq, 0), i & 1);
        ASSERT_TRUE(card_.poll(cq));
    }
}

TEST_F(CqTest, RequesterEntryNamesQueueCounterAndTime) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    complete(sq, 3);
    card_.poll(cq);
    card_.poll(cq);
    card_.host.now_ns += 1;
    Completion last = card_.poll(cq).value();
    EXPECT_EQ(last.opcode(), CqeOpcode::requester);
    EXPECT_EQ(last.get(Cqe::qpn), sq.number);
    EXPECT_EQ(last.counter(), 2u);
    EXPECT_EQ(last.get(Cqe::byte_cnt), 0u);
    EXPECT_EQ(load_be64(last.raw.data() + 0x30), 1'000'000'000u);
}

// The guest may poll while the entry is written: the byte that makes it valid must come last.
TEST_F(CqTest, OwnerByteIsWrittenAfterTheRestOfTheEntry) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    usize seen = 0;
    std::vector<bool> covered(kCqeBytes);
    card_.host.on_access = [&](const FakeHost::Access &access) {
        u64 slot = cq.slot(0);
        if (!access.write || access.iova < slot || access.iova >= slot + kCqeBytes) return;
        if (access.iova + access.bytes == slot + kCqeBytes) {
            for (u64 i = 0; i < access.iova - slot; ++i)
                EXPECT_TRUE(covered[i]) << "byte " << i << " comes after the owner";
            EXPECT_LE(access.bytes, 8u);
            ++seen;
        }
        for (u64 i = 0; i < access.bytes; ++i)
            covered[access.iova - slot + i] = true;
    };
    complete(sq);
    card_.host.on_access = nullptr;
    EXPECT_EQ(seen, 1u);
}

TEST_F(CqTest, AnEntryIsOneRequestToTheHost) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    card_.arm(cq, 0);
    u64 entries = card_.host.counter("dma_cqe_writes"), events = card_.host.counter("dma_eqe_writes");
    complete(sq);
    EXPECT_EQ(card_.host.counter("dma_cqe_writes") - entries, 1u);
    EXPECT_EQ(card_.host.counter("dma_eqe_writes") - events, 1u);
}

// A peer that stamps the same frame must not see it before it was sent.
TEST_F(CqTest, EverythingThatADoorbellStartsHappensAtItsTime) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    Bytes frame = ethernet(0x88b5) + pattern(60);
    for (int i = 0; i < 2; ++i)
        card_.post(sq, SendWqe{}.pointer(card_.lkey, card_.buffer(frame), static_cast<u32>(frame.size())));
    u64 start = card_.host.now_ns;
    card_.host.on_frame = [&](std::span<const u8>) { card_.host.now_ns += 100; };
    card_.ring(sq);
    ASSERT_EQ(card_.host.frames.size(), 2u);
    for (const Completion &done : card_.drain(cq))
        EXPECT_EQ(load_be64(done.raw.data() + 0x30), start);
    complete(sq);
    EXPECT_EQ(load_be64(card_.poll(cq).value().raw.data() + 0x30), start + 200);
}

TEST_F(CqTest, UnarmedQueueRaisesNoEvent) {
    Queue cq = card_.create_cq(4), sq = card_.create_sq(4, cq.number);
    complete(sq, 5);
    EXPECT_EQ(card_.events_of(Event::completion), 0u);
}

TEST_F(CqTest, ArmedQueueRaisesOneEventForTheNextEntryOnly) {
    Queue cq = card_.create_cq(4), sq = card_.create_sq(4, cq.number);
    card_.arm(cq, 0);
    EXPECT_EQ(card_.events_of(Event::completion), 0u);
    complete(sq, 3);
    std::vector<Bytes> events = card_.events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(load_be32(events[0].data() + 0x38), cq.number);
    EXPECT_EQ(card_.host.interrupts_on(Card::kVector), 1u);
}

TEST_F(CqTest, ArmBehindTheProducerFiresAtOnce) {
    Queue cq = card_.create_cq(4), sq = card_.create_sq(4, cq.number);
    complete(sq, 3);
    card_.arm(cq, 2); // entry 2 is there already
    EXPECT_EQ(card_.events_of(Event::completion), 1u);
    complete(sq);
    EXPECT_EQ(card_.events_of(Event::completion), 0u) << "it fired and must be armed again";
}

TEST_F(CqTest, ArmAtTheProducerWaits) {
    Queue cq = card_.create_cq(4), sq = card_.create_sq(4, cq.number);
    complete(sq, 3);
    card_.arm(cq, 3);
    EXPECT_EQ(card_.events_of(Event::completion), 0u);
    complete(sq);
    EXPECT_EQ(card_.events_of(Event::completion), 1u);
}

TEST_F(CqTest, ArmTwiceStillFiresOnce) {
    Queue cq = card_.create_cq(4), sq = card_.create_sq(4, cq.number);
    card_.arm(cq, 0);
    card_.arm(cq, 0);
    complete(sq, 2);
    EXPECT_EQ(card_.events_of(Event::completion), 1u);
}

TEST_F(CqTest, SolicitedOnlyArmIgnoresPlainEntriesAndTakesErrors) {
    Queue cq = card_.create_cq(4), sq = card_.create_sq(4, cq.number);
    card_.arm(cq, 0, /*solicited_only=*/true);
    complete(sq, 2);
    EXPECT_EQ(card_.events_of(Event::completion), 0u);
    card_.send(sq, {.opcode = WqeOpcode::umr});
    EXPECT_EQ(card_.events_of(Event::completion), 1u);
}

TEST_F(CqTest, SolicitedOnlyArmFiresAtOnceForAnErrorThatIsThereAlready) {
    Queue cq = card_.create_cq(4), sq = card_.create_sq(4, cq.number);
    card_.send(sq, {.opcode = WqeOpcode::umr});
    card_.arm(cq, 1, /*solicited_only=*/true);
    EXPECT_EQ(card_.events_of(Event::completion), 0u) << "the error was consumed";
    card_.arm(cq, 0, /*solicited_only=*/true);
    EXPECT_EQ(card_.events_of(Event::completion), 1u);
}

TEST_F(CqTest, ArmOfAnUnknownQueueIsAGuestError) {
    Queue none;
    none.number = 4711;
    card_.arm(none, 0);
    EXPECT_EQ(card_.host.guest_errors.size(), 1u);
    EXPECT_EQ(card_.events_of(Event::completion), 0u);
}

TEST_F(CqTest, FullRingIsNeverOverwrittenAndRaisesOneErrorEvent) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    complete(sq, 4);
    Bytes before = card_.host.memory.bytes(cq.ring, 4 * kCqeBytes);
    complete(sq, 3);
    EXPECT_EQ(card_.host.memory.bytes(cq.ring, 4 * kCqeBytes), before);
    std::vector<Bytes> events = card_.events();
    usize errors = 0;
    for (const Bytes &event : events)
        if (event[1] == 0x04) {
            ++errors;
            EXPECT_EQ(load_be32(event.data() + 0x20), cq.number);
            EXPECT_EQ(event[0x2b], 1) << "overrun";
        }
    EXPECT_EQ(errors, 1u);
    EXPECT_EQ(card_.host.counter("cq_overruns"), 1u);
    EXPECT_EQ(card_.sq_state(sq), QueueState::error);
}

TEST_F(CqTest, ConsumerIndexFreesTheRingWithoutAnArm) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    for (int i = 0; i < 50; ++i) {
        complete(sq, 4);
        EXPECT_EQ(card_.drain(cq).size(), 4u);
    }
    EXPECT_EQ(card_.host.counter("cq_overruns"), 0u);
}

TEST_F(CqTest, IndicesWrapAt24Bits) {
    // A ring of one entry reaches 2^24 too slowly; the visible part of the rule is that an index far ahead
    // does not fire.
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    complete(sq, 1);
    card_.arm(cq, 0xffffff); // one behind 0: entry 0 is beyond it
    EXPECT_EQ(card_.events_of(Event::completion), 1u);
    card_.arm(cq, 0x400000); // claims to have consumed what is not there yet
    EXPECT_EQ(card_.events_of(Event::completion), 0u);
}

TEST_F(CqTest, UnmappedRingStopsTheQueueWithAnAccessError) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    card_.host.memory.unmap(cq.ring, kPage);
    complete(sq);
    std::vector<Bytes> events = card_.events();
    ASSERT_GE(events.size(), 1u);
    EXPECT_EQ(events[0][1], 0x04);
    EXPECT_EQ(events[0][0x2b], 2) << "access violation";
}

TEST_F(CqTest, ModerationIsKeptForQuery) {
    Queue cq = card_.create_cq(2);
    card_.driver.must(CommandInput(Opcode::modify_cq, ModifyCqIn::bytes)
                          .set(ModifyCqIn::cqn, cq.number)
                          .set(ModifyCqIn::select_period, 1)
                          .set(ModifyCqIn::select_count, 1)
                          .set(CqContext::cq_period, 16, ModifyCqIn::context)
                          .set(CqContext::cq_max_count, 64, ModifyCqIn::context));
    CommandResult out = card_.driver.must(Card::number_input(Opcode::query_cq, cq.number), QueryCqOut::bytes);
    EXPECT_EQ(out.get(CqContext::cq_period, QueryCqOut::context), 16u);
    EXPECT_EQ(out.get(CqContext::cq_max_count, QueryCqOut::context), 64u);
}

TEST_F(CqTest, ResizeAndUnknownSelectionsAreRefused) {
    Queue cq = card_.create_cq(2);
    CommandInput in(Opcode::modify_cq, ModifyCqIn::bytes, /*op_mod=*/1);
    EXPECT_EQ(card_.driver.run(in.set(ModifyCqIn::cqn, cq.number)).status(), Status::bad_parameter);
    CommandInput other(Opcode::modify_cq, ModifyCqIn::bytes);
    other.set(ModifyCqIn::cqn, cq.number).set(ModifyCqIn::field_select, 0x100);
    EXPECT_EQ(card_.driver.run(other).status(), Status::bad_parameter);
}

TEST_F(CqTest, QueryShowsIndicesAndState) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    complete(sq, 3);
    card_.arm(cq, 3);
    CommandResult out = card_.driver.must(Card::number_input(Opcode::query_cq, cq.number), QueryCqOut::bytes);
    EXPECT_EQ(out.get(CqContext::producer_counter, QueryCqOut::context), 3u);
    EXPECT_EQ(out.get(CqContext::st, QueryCqOut::context), 0x9u);
    EXPECT_EQ(out.get(CqContext::log_cq_size, QueryCqOut::context), 2u);
}

TEST_F(CqTest, CreationRefusesWhatItCannotDo) {
    auto make = [&] {
        Queue queue;
        return card_.cq_input(queue, 2);
    };
    expect_refusals<CqContext>(
        card_, CreateCqIn::context, make,
        {
            {"128-byte entries", CqContext::cqe_sz, 1, Status::bad_parameter},
            {"offset in the page", CqContext::page_offset, 1, Status::bad_parameter},
            {"too large", CqContext::log_cq_size, 21, Status::bad_parameter},
            {"largest number", CqContext::log_cq_size, 31, Status::bad_parameter},
            {"more entries than pages", CqContext::log_cq_size, 7, Status::bad_parameter},
            {"no such EQ", CqContext::c_eqn, 77, Status::bad_resource},
            {"no such UAR", CqContext::uar_page, 3, Status::bad_resource},
        });
    Queue cq;
    CommandInput odd = card_.cq_input(cq, 2).set(CqContext::dbr_addr, cq.record + 4, CreateCqIn::context);
    EXPECT_EQ(card_.driver.run(odd).status(), Status::bad_parameter) << "record not aligned";
}

TEST_F(CqTest, QueueInUseCannotBeDestroyed) {
    Queue cq = card_.create_cq(2), sq = card_.create_sq(4, cq.number);
    EXPECT_EQ(card_.destroy(Opcode::destroy_cq, cq.number).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::destroy_sq, sq.number).status(), Status::ok);
    EXPECT_EQ(card_.destroy(Opcode::destroy_cq, cq.number).status(), Status::ok);
    EXPECT_EQ(card_.destroy(Opcode::destroy_cq, cq.number).status(), Status::bad_resource);
}

TEST_F(CqTest, EqStaysWhileAQueueReportsToIt) {
    Queue cq = card_.create_cq(2);
    CommandInput destroy(Opcode::destroy_eq, EqNumberIn::bytes);
    destroy.set(EqNumberIn::eq_number, card_.eq.number);
    EXPECT_EQ(card_.driver.run(destroy).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::destroy_cq, cq.number).status(), Status::ok);
    EXPECT_EQ(card_.driver.run(destroy).status(), Status::ok);
}

TEST_F(CqTest, NumbersOfLiveQueuesAreDistinct) {
    Queue a = card_.create_cq(1), b = card_.create_cq(1);
    EXPECT_NE(a.number, b.number);
    EXPECT_EQ(card_.destroy(Opcode::destroy_cq, a.number).status(), Status::ok);
    Queue c = card_.create_cq(1);
    EXPECT_NE(c.number, b.number);
}

} // namespace
} // namespace niclab::test
