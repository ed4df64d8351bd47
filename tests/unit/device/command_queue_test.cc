// SPDX-License-Identifier: GPL-2.0-or-later
// Queue entries, mailbox chains, delivery status.
#include <gtest/gtest.h>

#include "spec/queues.h"
#include "spec/registers.h"
#include "support/command_driver.h"

namespace niclab::test {
namespace {

class CommandQueueTest : public testing::Test {
  protected:
    // A command whose input (3 blocks) and output (8 blocks) both live in mailboxes.
    void prepare_query() {
        driver.prepare(CommandInput(Opcode::query_hca_cap, 0x10 + 3 * 512, 1).raw, 0x1010, 0);
    }
    CommandResult ring() {
        driver.ring(0);
        return driver.collect(0);
    }

    FakeHost host;
    CommandDriver driver{host};
};

TEST_F(CommandQueueTest, StatusWordIsWrittenLast) {
    driver.prepare(CommandInput(Opcode::enable_hca, 0x10).raw, 0x10, 3);
    host.accesses.clear();
    driver.ring(3);
    ASSERT_FALSE(host.accesses.empty());
    FakeHost::Access last = host.accesses.back();
    EXPECT_TRUE(last.write);
    EXPECT_EQ(last.iova, driver.entry(3) + 0x3f);
    EXPECT_EQ(last.bytes, 1u);
}

TEST_F(CommandQueueTest, ADoorbellMaskRunsEachEntryOnce) {
    driver.prepare(CommandInput(Opcode::enable_hca, 0x10).raw, 0x10, 0);
    driver.prepare(CommandInput(Opcode::query_pages, 0x10, 1).raw, 0x10, 31);
    host.write32(0x018, 1u << 31 | 1u);
    EXPECT_TRUE(driver.collect(0).ok());
    EXPECT_TRUE(driver.collect(31).ok());
    EXPECT_EQ(host.counter("commands"), 2u);
}

TEST_F(CommandQueueTest, AnEntryThatSoftwareOwnsIsLeftAlone) {
    driver.prepare(CommandInput(Opcode::enable_hca, 0x10).raw, 0x10, 0);
    driver.ring(0);
    driver.ring(0); // the card gave it back already
    EXPECT_EQ(host.counter("commands"), 1u);
    EXPECT_EQ(host.guest_errors.size(), 1u);
}

TEST_F(CommandQueueTest, AnUnmappedQueueIsReportedAndNothingRuns) {
    host.memory.unmap(driver.queue, kPage);
    driver.ring(0);
    EXPECT_EQ(host.counter("commands"), 0u);
    EXPECT_EQ(host.counter("dma_faults"), 1u);
    EXPECT_EQ(host.guest_errors.size(), 1u);
}

TEST_F(CommandQueueTest, ADoorbellBeforeTheQueueIsRegisteredIsReported) {
    FakeHost fresh;
    fresh.write32(0x018, 1);
    EXPECT_EQ(fresh.guest_errors.size(), 1u);
    EXPECT_TRUE(fresh.accesses.empty());
}

TEST_F(CommandQueueTest, MoreOutputThanInTheEntryIsSpreadOverTheChain) {
    driver.enable();
    CommandResult result = driver.run({Opcode::query_hca_cap, 0x10, 1}, 0x1010);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result.out.size(), 0x1010u);
    EXPECT_EQ(load_be16(result.out.data() + 0x10 + 0x50 + 2), 1024u) << "max_wqe_sz_sq";
}

TEST_F(CommandQueueTest, BlocksBehindTheLastUsedOneMayHoldAnything) {
    driver.enable();
    prepare_query();
    std::vector<u64> stale = driver.make_chain(2, 99);
    host.memory.put_be64(driver.input_chain.back() + 0x230, stale[0]);
    host.memory.put_be64(driver.output_chain.back() + 0x230, 0xdead'beef'0001);
    EXPECT_TRUE(ring().ok());
}

TEST_F(CommandQueueTest, AnOutputEndsWhereItsLengthEnds) {
    driver.enable();
    driver.prepare(CommandInput(Opcode::query_issi, 0x10).raw, 0x70, 0);
    host.memory.fill(driver.output_chain[0] + 0x60, 0x200 - 0x60, 0xcc);
    ASSERT_TRUE(ring().ok());
    EXPECT_EQ(host.memory.be32(driver.output_chain[0] + 0x60), 0xccccccccu);
}

// ---- delivery
// ------------------------------------------------------------------------------------------------------
struct Spoiled {
    const char *what;
    Delivery delivery;
    void (*spoil)(FakeHost &, CommandDriver &);
};
void PrintTo(const Spoiled &s, std::ostream *os) { *os << s.what; }

class CommandDelivery : public testing::TestWithParam<Spoiled> {};

TEST_P(CommandDelivery, FailsWithItsCodeAndTheCommandHasNoEffect) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    u64 commands = host.counter("commands");
    // Long enough for two blocks each way; would create an object if it ran.
    driver.prepare(CommandInput(Opcode::alloc_pd, 0x10 + 600).raw, 0x10 + 600, 0);
    GetParam().spoil(host, driver);
    driver.ring(0);
    u8 status_own = host.memory.bytes(driver.entry(0) + 0x3f, 1)[0];
    EXPECT_EQ(status_own, static_cast<u8>(GetParam().delivery) << 1);
    EXPECT_EQ(host.counter("commands"), commands);
    EXPECT_EQ(host.counter("live_objects"), 0u);
    EXPECT_FALSE(host.guest_errors.empty());
}

constexpr Spoiled kSpoiled[] = {
    {"type", Delivery::bad_descriptor,
     [](FakeHost &h, CommandDriver &d) { h.memory.fill(d.entry(0), 1, 6); }},
    {"input too short", Delivery::bad_input_length,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be32(d.entry(0) + 4, 7); }},
    {"input too long", Delivery::bad_input_length,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be32(d.entry(0) + 4, 0xffffffff); }},
    {"output too short", Delivery::bad_output_length,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be32(d.entry(0) + 0x38, 0); }},
    {"output too long", Delivery::bad_output_length,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be32(d.entry(0) + 0x38, 0x7fffffff); }},
    {"no input pointer", Delivery::bad_input_pointer,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be64(d.entry(0) + 8, 0); }},
    {"crooked input pointer", Delivery::bad_input_pointer,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be64(d.entry(0) + 8, d.input_chain[0] + 0x100); }},
    {"unmapped input", Delivery::bad_input_pointer,
     [](FakeHost &h, CommandDriver &d) { h.memory.unmap(d.input_chain[1], kPage); }},
    {"input chain ends early", Delivery::bad_input_pointer,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be64(d.input_chain[0] + 0x230, 0); }},
    {"crooked input link", Delivery::bad_input_pointer,
     [](FakeHost &h, CommandDriver &d) {
         h.memory.put_be64(d.input_chain[0] + 0x230, d.input_chain[1] + 0x200);
     }},
    {"input chain bites its tail", Delivery::bad_block,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be64(d.input_chain[0] + 0x230, d.input_chain[0]); }},
    {"input block number", Delivery::bad_block,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be32(d.input_chain[1] + 0x238, 2); }},
    {"input token", Delivery::token,
     [](FakeHost &h, CommandDriver &d) { h.memory.fill(d.input_chain[1] + 0x23d, 1, 0); }},
    {"no output pointer", Delivery::bad_output_pointer,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be64(d.entry(0) + 0x30, 0); }},
    {"crooked output pointer", Delivery::bad_output_pointer,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be64(d.entry(0) + 0x30, d.output_chain[0] + 8); }},
    {"unmapped output", Delivery::bad_output_pointer,
     [](FakeHost &h, CommandDriver &d) { h.memory.unmap(d.output_chain[0], kPage); }},
    {"output chain ends early", Delivery::bad_output_pointer,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be64(d.output_chain[0] + 0x230, 0); }},
    {"output block number", Delivery::bad_block,
     [](FakeHost &h, CommandDriver &d) { h.memory.put_be32(d.output_chain[0] + 0x238, 1); }},
    {"output token", Delivery::token,
     [](FakeHost &h, CommandDriver &d) { h.memory.fill(d.output_chain[1] + 0x23d, 1, 0); }},
};
INSTANTIATE_TEST_SUITE_P(Each, CommandDelivery, testing::ValuesIn(kSpoiled));

// ---- completion by event
// -------------------------------------------------------------------------------------------
class CommandEvents : public CommandQueueTest {
  protected:
    void SetUp() override {
        driver.bring_up();
        page = driver.alloc(Opcode::alloc_uar);
        ring_at = host.memory.allocate(kPage);
        host.memory.fill(ring_at, kPage, 0x01); // software owns every entry on the first lap
        CommandInput create(Opcode::create_eq, CreateEqIn::bytes);
        create.set(EqContext::log_eq_size, 6, CreateEqIn::context)
            .set(EqContext::uar_page, page, CreateEqIn::context);
        create.set(EqContext::intr, 2, CreateEqIn::context);
        create.put_be64(CreateEqIn::event_bitmask, 1u << 0x0a).put_be64(CreateEqIn::pas, ring_at);
        eqn = driver.must(create).number();
    }

    u32 page = 0, eqn = 0;
    u64 ring_at = 0;
};

TEST_F(CommandEvents, TheCommandThatCreatesTheQueueIsStillPolled) {
    EXPECT_EQ(host.counter("events"), 0u);
    EXPECT_TRUE(host.interrupts.empty());
}

TEST_F(CommandEvents, NameTheFinishedEntryInABitMask) {
    driver.run({Opcode::query_issi, 0x10}, 0x70, 5);
    std::vector<u8> eqe = host.memory.bytes(ring_at, kEqeBytes);
    EXPECT_EQ(eqe[0x01], 0x0a);
    EXPECT_EQ(load_be32(eqe.data() + 0x20), 1u << 5);
    EXPECT_EQ(eqe[0x3f], 0) << "first lap";
}

TEST_F(CommandEvents, FollowTheStatusWordAndPrecedeTheInterrupt) {
    host.write32(u64{page} * kPage + 0x40, eqn << 24); // arm
    bool seen = false;
    host.on_interrupt = [&](unsigned vector) {
        seen = true;
        EXPECT_EQ(vector, 2u);
        EXPECT_EQ(host.memory.bytes(driver.entry(0) + 0x3f, 1)[0], 0);
        EXPECT_EQ(host.memory.bytes(ring_at + 0x3f, 1)[0], 0);
    };
    driver.run({Opcode::query_issi, 0x10}, 0x70);
    EXPECT_TRUE(seen);
}

TEST_F(CommandEvents, TellOfUndeliveredCommandsToo) {
    driver.prepare(CommandInput(Opcode::query_issi, 0x10).raw, 0x70, 0);
    host.memory.put_be64(driver.entry(0) + 0x30, 0);
    driver.ring(0);
    EXPECT_EQ(host.counter("events"), 1u);
}

TEST_F(CommandEvents, EndWithTheQueue) {
    host.write32(u64{page} * kPage + 0x40, eqn << 24);
    EXPECT_TRUE(driver.run(CommandInput(Opcode::destroy_eq, 0x10).set(EqNumberIn::eq_number, eqn)).ok());
    driver.run({Opcode::query_issi, 0x10}, 0x70);
    EXPECT_TRUE(host.interrupts.empty());
    EXPECT_EQ(host.counter("events"), 0u);
}

} // namespace
} // namespace niclab::test
