// SPDX-License-Identifier: GPL-2.0-or-later
// Interrupt moderation of completion queues: how long an event that was asked for is held back.
#include <gtest/gtest.h>

#include <random>

#include "support/card.h"

namespace niclab::test {
namespace {

constexpr u64 kMicrosecond = 1000;

struct Moderation {
    u32 period = 0, count = 0, mode = kPeriodFromEqe;
    bool on() const { return period != 0 && count != 0; }
};

class ModerationTest : public testing::Test {
  protected:
    ModerationTest() : cq_(card_.create_cq(8)), sq_(card_.create_sq(8, cq_.number)) {}

    CommandInput modify_input(const Moderation &to) {
        return CommandInput(Opcode::modify_cq, ModifyCqIn::bytes)
            .set(ModifyCqIn::cqn, cq_.number)
            .set(ModifyCqIn::select_period, 1)
            .set(ModifyCqIn::select_count, 1)
            .set(ModifyCqIn::select_period_mode, 1)
            .set(CqContext::cq_period, to.period, ModifyCqIn::context)
            .set(CqContext::cq_max_count, to.count, ModifyCqIn::context)
            .set(CqContext::cq_period_mode, to.mode, ModifyCqIn::context);
    }
    void modify(const Moderation &to) { card_.driver.must(modify_input(to)); }
    void complete(int n = 1) {
        for (int i = 0; i < n; ++i)
            card_.send(sq_, {.opcode = WqeOpcode::nop});
    }
    // As a poll loop ends: everything is consumed, the next entry shall raise an event.
    void drain_and_arm() {
        card_.drain(cq_);
        card_.arm(cq_, cq_.consumer);
    }
    usize events() { return card_.events_of(Event::completion); }
    void advance(u64 microseconds) { card_.host.advance(microseconds * kMicrosecond); }
    // One event at the time now, from which periods run.
    void fire_once() {
        modify({});
        drain_and_arm();
        complete();
        ASSERT_EQ(events(), 1u);
        drain_and_arm();
    }

    Card card_;
    Queue cq_, sq_;
};

TEST_F(ModerationTest, PeriodFromTheEventHoldsTheNextOneBack) {
    modify({.period = 16, .count = 64});
    drain_and_arm();
    complete(); // long after the last event, of which there was none
    EXPECT_EQ(events(), 1u);
    drain_and_arm();
    advance(10);
    complete(3);
    advance(5);
    EXPECT_EQ(events(), 0u) << "15 microseconds after the event";
    advance(1);
    EXPECT_EQ(events(), 1u);
}

TEST_F(ModerationTest, PeriodFromTheEventThatHasPassedHoldsNothingBack) {
    modify({.period = 16, .count = 64});
    drain_and_arm();
    complete();
    EXPECT_EQ(events(), 1u);
    drain_and_arm();
    advance(16);
    complete();
    EXPECT_EQ(events(), 1u);
}

TEST_F(ModerationTest, PeriodFromTheEntryStartsAgainWithEachEntry) {
    modify({.period = 8, .count = 100, .mode = kPeriodFromCqe});
    drain_and_arm();
    for (int i = 0; i < 20; ++i) {
        complete();
        advance(7);
        EXPECT_EQ(events(), 0u) << i;
    }
    advance(1);
    EXPECT_EQ(events(), 1u);
    advance(100);
    EXPECT_EQ(events(), 0u) << "one event for one arm request";
}

TEST_F(ModerationTest, CountEndsTheWait) {
    for (u32 mode : {kPeriodFromEqe, kPeriodFromCqe}) {
        fire_once();
        modify({.period = 4095, .count = 5, .mode = mode});
        complete(4);
        EXPECT_EQ(events(), 0u);
        complete();
        EXPECT_EQ(events(), 1u);
        advance(5000);
        EXPECT_EQ(events(), 0u) << "the timer was stopped";
    }
}

TEST_F(ModerationTest, CountIsOfEntriesThatTheArmRequestHasNotSeen) {
    fire_once();
    modify({.period = 4095, .count = 3});
    card_.arm(cq_, cq_.consumer);
    complete(2);
    card_.drain(cq_); // polled without an event
    card_.arm(cq_, cq_.consumer);
    complete(2);
    EXPECT_EQ(events(), 0u);
    complete();
    EXPECT_EQ(events(), 1u);
}

TEST_F(ModerationTest, ZeroPeriodOrZeroCountHoldsNothingBack) {
    for (Moderation off : {Moderation{0, 64}, Moderation{16, 0}, Moderation{0, 64, kPeriodFromCqe}}) {
        fire_once();
        modify(off);
        complete();
        EXPECT_EQ(events(), 1u);
    }
}

// The entries came between the guest's last look and its request: their event must come as well.
TEST_F(ModerationTest, ArmBehindTheProducerIsHeldBackNotLost) {
    for (u32 mode : {kPeriodFromEqe, kPeriodFromCqe}) {
        fire_once();
        modify({.period = 20, .count = 64, .mode = mode});
        complete();
        card_.drain(cq_);
        card_.arm(cq_, (cq_.consumer - 1) & 0xffffff);
        EXPECT_EQ(events(), 0u);
        advance(20);
        EXPECT_EQ(events(), 1u);
    }
}

TEST_F(ModerationTest, NothingHappensWhenTheGuestPolledEverythingMeanwhile) {
    fire_once();
    modify({.period = 20, .count = 64});
    complete();
    drain_and_arm(); // the request moved behind the entry
    advance(100);
    EXPECT_EQ(events(), 0u);
    complete();
    EXPECT_EQ(events(), 1u);
}

TEST_F(ModerationTest, ChangeWhileAnEventWaits) {
    fire_once();
    modify({.period = 4000, .count = 64});
    complete(2);
    advance(50);
    EXPECT_EQ(events(), 0u);
    modify({.period = 100, .count = 64});
    advance(49);
    EXPECT_EQ(events(), 0u);
    advance(1);
    EXPECT_EQ(events(), 1u) << "the shorter period, since the last event";

    drain_and_arm();
    complete(2);
    modify({.period = 100, .count = 2});
    EXPECT_EQ(events(), 1u) << "the smaller count is reached";

    drain_and_arm();
    modify({.period = 100, .count = 64});
    complete();
    modify({});
    EXPECT_EQ(events(), 1u) << "switched off";
}

TEST_F(ModerationTest, EachFieldIsChangedByItsOwnSelection) {
    modify({.period = 7, .count = 9, .mode = kPeriodFromCqe});
    auto expect = [&](u32 period, u32 count, u32 mode) {
        CommandResult out =
            card_.driver.must(Card::number_input(Opcode::query_cq, cq_.number), QueryCqOut::bytes);
        EXPECT_EQ(out.get(CqContext::cq_period, QueryCqOut::context), period);
        EXPECT_EQ(out.get(CqContext::cq_max_count, QueryCqOut::context), count);
        EXPECT_EQ(out.get(CqContext::cq_period_mode, QueryCqOut::context), mode);
    };
    auto change = [&](Field<ModifyCqIn> select) {
        CommandInput input = modify_input({.period = 1, .count = 2, .mode = kPeriodFromEqe});
        input.set(ModifyCqIn::field_select, 0).set(select, 1);
        card_.driver.must(input);
    };
    expect(7, 9, kPeriodFromCqe);
    change(ModifyCqIn::select_period);
    expect(1, 9, kPeriodFromCqe);
    change(ModifyCqIn::select_count);
    expect(1, 2, kPeriodFromCqe);
    change(ModifyCqIn::select_period_mode);
    expect(1, 2, kPeriodFromEqe);
}

TEST_F(ModerationTest, AModeThatDoesNotExistIsRefused) {
    for (u32 mode : {2u, 3u}) {
        EXPECT_EQ(card_.driver.run(modify_input({.period = 1, .count = 1, .mode = mode})).status(),
                  Status::bad_parameter);
        Queue cq;
        CommandInput create = card_.cq_input(cq, 2).set(CqContext::cq_period_mode, mode, CreateCqIn::context);
        EXPECT_EQ(card_.driver.run(create).status(), Status::bad_parameter);
    }
}

TEST_F(ModerationTest, ADestroyedQueueRaisesNothingMore) {
    fire_once();
    modify({.period = 20, .count = 64});
    complete();
    ASSERT_EQ(card_.destroy(Opcode::destroy_sq, sq_.number).status(), Status::ok);
    ASSERT_EQ(card_.destroy(Opcode::destroy_cq, cq_.number).status(), Status::ok);
    advance(1000);
    EXPECT_EQ(events(), 0u);
}

TEST_F(ModerationTest, ResetRaisesNothingMoreAndCancelsTheWakeUp) {
    fire_once();
    modify({.period = 20, .count = 64});
    complete();
    ASSERT_NE(card_.host.timer_at, CX_TIMER_OFF);
    usize interrupts = card_.host.interrupts.size();
    cx_core_reset(card_.host.core());
    EXPECT_EQ(card_.host.timer_at, CX_TIMER_OFF);
    advance(1000);
    EXPECT_EQ(card_.host.interrupts.size(), interrupts);
}

// Any order of entries, requests, changes and time. What must hold after each step is said by the rule
// itself: an event comes when, and only when, a request stands that some entry answers and neither count nor
// period holds it back.
class AnyOrder : public ModerationTest {
  protected:
    void step() {
        switch (any(8)) {
        case 0:
        case 1:
        case 2:
            complete();
            ++produced_;
            if (rule_.on() && rule_.mode == kPeriodFromCqe) last_entry_ = now(); // others start no period
            break;
        case 3: // polled in part or whole
            for (u32 n = any(8); n > 0 && card_.poll(cq_); --n) {
            }
            break;
        case 4:
            armed_ = true;
            armed_at_ = cq_.consumer;
            card_.arm(cq_, armed_at_ & 0xffffff);
            break;
        case 5:
            if (any(4)) break;
            rule_ = {any(4) * 5, any(4) * 2, any(2)};
            modify(rule_);
            break;
        default:
            advance(1);
        }
    }
    u32 any(u32 below) { return static_cast<u32>(random_() % below); }
    u64 now() { return card_.host.now_ns; }
    bool due() {
        if (!armed_ || produced_ == armed_at_) return false;
        u64 since = rule_.mode == kPeriodFromCqe ? last_entry_ : last_event_;
        return !rule_.on() || produced_ - armed_at_ >= rule_.count ||
               now() >= since + rule_.period * kMicrosecond;
    }

    std::mt19937 random_{7};
    Moderation rule_;
    u32 produced_ = 0, armed_at_ = 0;
    bool armed_ = false;
    u64 last_entry_ = 0, last_event_ = 0;
};

TEST_F(AnyOrder, OneEventExactlyWhenItIsDue) {
    usize seen = 0;
    for (int i = 0; i < 20000; ++i) {
        if (produced_ - cq_.consumer > 200) card_.drain(cq_);
        step();
        bool expected = due();
        ASSERT_EQ(events(), expected ? 1u : 0u) << "step " << i;
        if (!expected) continue;
        ++seen;
        armed_ = false;
        last_event_ = now();
    }
    EXPECT_GT(seen, 500u);
}

} // namespace
} // namespace niclab::test
