// SPDX-License-Identifier: GPL-2.0-or-later
// Event queues: laps, arming, overrun, and who gets which event. Port events serve as the event that a test
// can raise at will.
#include <gtest/gtest.h>

#include "spec/queues.h"
#include "spec/registers.h"
#include "support/command_driver.h"

namespace niclab::test {
namespace {

constexpr u64 kPortChange = 1u << 0x09, kCommandDone = 1u << 0x0a;

class EqTest : public testing::Test {
  protected:
    static constexpr u32 kLogSize = 3;
    static constexpr unsigned kVector = 5;

    void SetUp() override {
        driver.bring_up();
        page = driver.alloc(Opcode::alloc_uar);
        driver.set_port(PortState::up);
    }

    CommandInput create_input(u64 events, u32 log_size = kLogSize, unsigned vector = kVector) {
        ring = host.memory.allocate(std::max<u64>(kPage, kEqeBytes << log_size));
        CommandInput input(Opcode::create_eq, CreateEqIn::bytes);
        input.set(EqContext::log_eq_size, log_size, CreateEqIn::context)
            .set(EqContext::uar_page, page, CreateEqIn::context)
            .set(EqContext::intr, vector, CreateEqIn::context);
        input.put_be64(CreateEqIn::event_bitmask, events);
        for (u64 at = 0; at < std::max<u64>(kPage, kEqeBytes << log_size); at += kPage)
            input.put_be64(CreateEqIn::pas + at / kPage * 8, ring + at);
        return input;
    }
    void create(u64 events = kPortChange) {
        CommandInput input = create_input(events);
        host.memory.fill(ring, kEqeBytes << kLogSize,
                         0x01); // as drivers do: not yet written on the first lap
        eqn = driver.must(input).get(CreateEqOut::eq_number);
    }
    void event() { cx_core_set_cable(host.core(), plugged = !plugged); }
    void arm(u32 ci) { host.write32(u64{page} * kPage + 0x40, eqn << 24 | ci); }
    void update(u32 ci) { host.write32(u64{page} * kPage + 0x48, eqn << 24 | ci); }
    u8 owner(u32 slot) { return host.memory.bytes(ring + slot * kEqeBytes + 0x3f, 1)[0]; }
    CommandResult query() {
        return driver.must(CommandInput(Opcode::query_eq, 0x10).set(EqNumberIn::eq_number, eqn), 0x110);
    }
    u32 state() { return query().get(EqContext::st, 0x10); }

    FakeHost host;
    CommandDriver driver{host};
    u32 page = 0, eqn = 0;
    u64 ring = 0;
    bool plugged = true;
};

TEST_F(EqTest, OwnerBitIsZeroOnTheFirstLapAndOneOnTheSecond) {
    create();
    constexpr u32 kEntries = 1 << kLogSize;
    for (u32 i = 0; i < 3 * kEntries; ++i) {
        event();
        EXPECT_EQ(owner(i % kEntries), i / kEntries % 2) << "entry " << i;
        update(i + 1);
    }
}

TEST_F(EqTest, AnEntryIsWrittenBodyFirstOwnerLast) {
    create();
    host.accesses.clear();
    event();
    ASSERT_EQ(host.accesses.size(), 2u);
    EXPECT_EQ(host.accesses[0].iova, ring);
    EXPECT_EQ(host.accesses[0].bytes, 0x3cu);
    EXPECT_EQ(host.accesses[1].iova, ring + 0x3c);
}

TEST_F(EqTest, APortEventHasTypeSubTypeAndPortInTheirPlaces) {
    create();
    event(); // unplugged
    std::vector<u8> down(kEqeBytes, 0);
    down[0x01] = 0x09;
    down[0x03] = 1;
    down[0x28] = 0x10; // port 1 in the high nibble
    EXPECT_EQ(host.memory.bytes(ring, kEqeBytes), down);
    event(); // plugged
    EXPECT_EQ(host.memory.bytes(ring + kEqeBytes, 4), (std::vector<u8>{0, 0x09, 0, 4}));
}

TEST_F(EqTest, ANewQueueDoesNotFireBeforeItIsArmed) {
    create();
    event();
    EXPECT_TRUE(host.interrupts.empty());
    EXPECT_EQ(host.counter("events"), 1u);
}

TEST_F(EqTest, AnArmedQueueFiresOnceUntilItIsArmedAgain) {
    create();
    arm(0);
    event();
    EXPECT_EQ(host.interrupts, (std::vector<unsigned>{kVector}));
    event();
    event();
    EXPECT_EQ(host.interrupts.size(), 1u);
    arm(3);
    EXPECT_EQ(host.interrupts.size(), 1u) << "nothing new";
    event();
    EXPECT_EQ(host.interrupts.size(), 2u);
}

TEST_F(EqTest, ArmingBehindTheProducerFiresAtOnce) {
    create();
    event();
    event();
    arm(1); // the second entry came after the handler last looked
    EXPECT_EQ(host.interrupts.size(), 1u);
    event();
    EXPECT_EQ(host.interrupts.size(), 1u) << "fired, and not armed since";
    EXPECT_EQ(state(), 0xau);
}

TEST_F(EqTest, AnUpdateWithoutArmOnlyMovesTheConsumer) {
    create();
    event();
    update(1);
    event();
    EXPECT_TRUE(host.interrupts.empty());
    EXPECT_EQ(query().get(EqContext::consumer_counter, 0x10), 1u);
}

TEST_F(EqTest, ConsumerIndexWrapsAt24Bits) {
    create();
    // Two to the power of 24 events are too many for a test; a queue that ignores overrun takes any index.
    CommandInput input = create_input(kPortChange).set(EqContext::oi, 1, CreateEqIn::context);
    eqn = driver.must(input).get(CreateEqOut::eq_number);
    host.write32(u64{page} * kPage + 0x48, eqn << 24 | 0xffffff);
    EXPECT_EQ(query().get(EqContext::consumer_counter, 0x10), 0xffffffu);
    EXPECT_TRUE(host.guest_errors.empty());
}

TEST_F(EqTest, ConsumerIndexOutsideOfWhatWasProducedIsRefused) {
    create();
    event();
    event();
    update(1);
    for (u32 wrong : {0u, 3u, 0xffffffu}) {
        host.guest_errors.clear();
        update(wrong);
        EXPECT_EQ(host.guest_errors.size(), 1u) << wrong;
    }
    EXPECT_EQ(query().get(EqContext::consumer_counter, 0x10), 1u);
    EXPECT_EQ(host.counter("doorbells_invalid"), 3u);
}

TEST_F(EqTest, DoorbellsOfUnknownQueuesOrThroughAnotherPageAreRefused) {
    create();
    u32 other = driver.alloc(Opcode::alloc_uar);
    host.write32(u64{other} * kPage + 0x40, eqn << 24);
    host.write32(u64{page} * kPage + 0x40, (eqn + 1) << 24);
    EXPECT_EQ(host.counter("doorbells_invalid"), 2u);
    event();
    EXPECT_TRUE(host.interrupts.empty()) << "nothing was armed";
}

TEST_F(EqTest, AFullQueueStopsAndShowsInHealthAndCounters) {
    create();
    arm(0);
    for (int i = 0; i < 8; ++i)
        event();
    EXPECT_EQ(host.counter("eq_overruns"), 0u);
    std::vector<u8> before = host.memory.bytes(ring, kEqeBytes << kLogSize);
    event();
    EXPECT_EQ(host.counter("eq_overruns"), 1u);
    EXPECT_EQ(host.memory.bytes(ring, kEqeBytes << kLogSize), before) << "unread entries stay";
    EXPECT_EQ(cx_core_read(host.core(), 0x23d, 1), 0x0cu) << "health syndrome";
    EXPECT_EQ(host.read32(0x1010) >> 24, 0x0cu);
    EXPECT_EQ(query().get(EqContext::status, 0x10), 0x9u);
    update(8);
    event();
    EXPECT_EQ(host.counter("events"), 8u) << "an overrun queue stays dead";
}

TEST_F(EqTest, AnUnmappedRingStopsTheQueueAndShowsInHealth) {
    create();
    arm(0);
    host.memory.unmap(ring, kPage);
    event();
    EXPECT_EQ(host.counter("dma_faults"), 1u);
    EXPECT_TRUE(host.interrupts.empty());
    EXPECT_EQ(cx_core_read(host.core(), 0x23d, 1), 0x0du);
    EXPECT_EQ(query().get(EqContext::status, 0x10), 0xau);
    event();
    EXPECT_EQ(host.counter("dma_faults"), 1u) << "no further try";
}

TEST_F(EqTest, HealthIsGoodAgainAfterReset) {
    create();
    host.memory.unmap(ring, kPage);
    event();
    cx_core_reset(host.core());
    EXPECT_EQ(cx_core_read(host.core(), 0x23d, 1), 0u);
}

TEST_F(EqTest, EventsGoToEveryQueueThatAskedAndToNoOther) {
    create(kPortChange);
    u64 first = ring;
    create(kPortChange | kCommandDone);
    u64 second = ring;
    create(0);
    u64 third = ring;
    u64 events = host.counter("events");
    event();
    EXPECT_EQ(host.counter("events"), events + 2);
    EXPECT_EQ(host.memory.bytes(first + 1, 1)[0], 0x09);
    EXPECT_EQ(host.memory.bytes(third + 0x3f, 1)[0], 1) << "untouched";
    EXPECT_NE(first, second);
}

TEST_F(EqTest, ADestroyedQueueIsSilent) {
    create();
    arm(0);
    driver.must(CommandInput(Opcode::destroy_eq, 0x10).set(EqNumberIn::eq_number, eqn));
    host.accesses.clear();
    event();
    EXPECT_TRUE(host.interrupts.empty());
    EXPECT_TRUE(host.accesses.empty());
}

TEST_F(EqTest, AlwaysArmedFiresForEveryEvent) {
    CommandInput input = create_input(kPortChange).set(EqContext::st, 0xb, CreateEqIn::context);
    eqn = driver.must(input).get(CreateEqOut::eq_number);
    event();
    event();
    EXPECT_EQ(host.interrupts.size(), 2u);
}

TEST_F(EqTest, MayBeCreatedArmed) {
    CommandInput input = create_input(kPortChange).set(EqContext::st, 0x9, CreateEqIn::context);
    eqn = driver.must(input).get(CreateEqOut::eq_number);
    event();
    event();
    EXPECT_EQ(host.interrupts.size(), 1u);
}

TEST_F(EqTest, RingsOfSeveralPagesAndOfLargePagesAreFilledInOrder) {
    CommandInput several = create_input(kPortChange, 8); // four pages of 64 entries
    eqn = driver.must(several).get(CreateEqOut::eq_number);
    for (int i = 0; i < 65; ++i)
        event();
    EXPECT_EQ(host.memory.bytes(ring + kPage + 1, 1)[0], 0x09) << "entry 64 opens the second page";

    CommandInput large = create_input(kPortChange, 8).set(EqContext::log_page_size, 2, CreateEqIn::context);
    large.raw.resize(CreateEqIn::pas + 8); // one page of 16 KiB
    eqn = driver.must(large).get(CreateEqOut::eq_number);
    for (int i = 0; i < 65; ++i)
        event();
    EXPECT_EQ(host.memory.bytes(ring + kPage + 1, 1)[0], 0x09);
}

TEST_F(EqTest, RingMayStartInsideItsFirstPage) {
    CommandInput input = create_input(kPortChange).set(EqContext::page_offset, 2, CreateEqIn::context);
    driver.must(input);
    event();
    EXPECT_EQ(host.memory.bytes(ring + 0x80 + 1, 1)[0], 0x09) << "offsets count in 64 bytes";
}

TEST_F(EqTest, QueryShowsTheContextAsCreatedWithTheRunningCounts) {
    create(kPortChange | kCommandDone);
    event();
    update(1); // EQE of CREATE_EQ's own completion is not there: that command was polled
    CommandResult result = query();
    EXPECT_EQ(result.get(EqContext::log_eq_size, 0x10), kLogSize);
    EXPECT_EQ(result.get(EqContext::uar_page, 0x10), page);
    EXPECT_EQ(result.get(EqContext::intr, 0x10), kVector);
    EXPECT_EQ(result.get(EqContext::producer_counter, 0x10), 1u);
    EXPECT_EQ(result.get(EqContext::consumer_counter, 0x10), 1u);
    EXPECT_EQ(load_be64(result.out.data() + 0x58), kPortChange | kCommandDone);
}

TEST_F(EqTest, CreateRefusesWhatCannotWork) {
    auto status = [&](CommandInput input) { return driver.run(input).status(); };
    auto context = CreateEqIn::context;
    EXPECT_EQ(status(create_input(0).set(EqContext::log_eq_size, 17, context)), Status::bad_parameter);
    EXPECT_EQ(status(create_input(0, 3, 16)), Status::bad_parameter) << "vector behind the MSI-X table";
    EXPECT_EQ(status(create_input(0).set(EqContext::uar_page, page + 1, context)), Status::bad_resource);
    EXPECT_EQ(status(create_input(0).set(EqContext::uar_page, 0, context)), Status::bad_resource);
    CommandInput short_list = create_input(0, 8);
    short_list.raw.resize(CreateEqIn::pas + 3 * 8);
    EXPECT_EQ(status(short_list), Status::bad_parameter) << "four pages are needed";
    EXPECT_EQ(status(create_input(0).put_be64(CreateEqIn::pas, ring + 8)), Status::bad_parameter)
        << "crooked page";
    EXPECT_EQ(status(create_input(0).set(EqContext::log_page_size, 31, context)), Status::bad_parameter);
    EXPECT_EQ(host.counter("live_objects"), 1u) << "the doorbell page";
}

TEST_F(EqTest, SixtyFourQueuesAreThereAndNoMore) {
    for (int i = 0; i < 64; ++i)
        ASSERT_TRUE(driver.run(create_input(0)).ok()) << i;
    EXPECT_EQ(driver.run(create_input(0)).status(), Status::limits_exceeded);
}

TEST_F(EqTest, ADoorbellPageInUseStays) {
    create();
    auto dealloc = CommandInput(Opcode::dealloc_uar, 0x10).set(ObjectIn::number, page);
    EXPECT_EQ(driver.run(dealloc).status(), Status::bad_resource_state);
    driver.must(CommandInput(Opcode::destroy_eq, 0x10).set(EqNumberIn::eq_number, eqn));
    EXPECT_TRUE(driver.run(dealloc).ok());
}

} // namespace
} // namespace niclab::test
