// SPDX-License-Identifier: GPL-2.0-or-later
// Flow counters and the entries that use them.
#include "support/card.h"

namespace niclab::test {
namespace {

constexpr u32 kCountAndForward = flow_action::kForward | flow_action::kCount;

class FlowCounterTest : public testing::Test {
  protected:
    FlowCounterTest() {
        cq_ = card_.create_cq(5);
        rq_ = card_.create_rq(5, 4, cq_.number);
        tirn_ = card_.create_tir(rq_.number);
        table_ = card_.create_table(1);
        group_ = card_.create_group(table_, 0, 3);
        card_.set_root(table_);
    }
    u32 alloc() {
        CommandResult result = card_.driver.must({Opcode::alloc_flow_counter, 0x10});
        return load_be32(result.out.data() + 8);
    }
    CommandResult dealloc(u32 id) {
        return card_.driver.run(
            CommandInput(Opcode::dealloc_flow_counter, 0x10).set(AllocFlowCounterOut::flow_counter_id, id));
    }
    static CommandInput query_input(u32 id, u32 run = 0, u32 clear = 0) {
        return CommandInput(Opcode::query_flow_counter, 0x20)
            .set(QueryFlowCounterIn::clear, clear)
            .set(QueryFlowCounterIn::num_of_counters, run)
            .set(QueryFlowCounterIn::flow_counter_id, id);
    }
    std::pair<u64, u64> query(u32 id, u32 clear = 0) {
        CommandResult result = card_.driver.must(query_input(id, 0, clear), 0x20);
        return {load_be64(result.out.data() + 0x10), load_be64(result.out.data() + 0x18)};
    }
    // An entry that counts and forwards to `to`, or drops; the counter stands behind the destinations.
    CommandInput counting(u32 counter, bool drop = false, u16 op_mod = 0) {
        std::vector<Card::To> to;
        if (!drop) to.push_back({Destination::tir, tirn_});
        CommandInput input = card_.entry_input(table_, group_, 0, {}, to, op_mod);
        input.set(SetFteIn::action, drop ? flow_action::kDrop | flow_action::kCount : kCountAndForward)
            .set(SetFteIn::flow_counter_list_size, 1);
        return input.put_be64(SetFteIn::destination + 8 * to.size(), u64{counter} << 32);
    }
    Status status(const CommandInput &input) { return card_.driver.run(input).status(); }
    usize receive(usize bytes) {
        card_.post_buffer(rq_);
        card_.host.frame_in(Bytes(bytes, 0));
        return card_.drain(cq_).size();
    }

    Card card_;
    Queue cq_, rq_;
    u32 tirn_ = 0, table_ = 0, group_ = 0;
};

TEST_F(FlowCounterTest, CountsFramesAndBytesThatItsEntryForwards) {
    u32 counter = alloc();
    ASSERT_EQ(status(counting(counter)), Status::ok);
    EXPECT_EQ(receive(60), 1u);
    EXPECT_EQ(receive(100), 1u);
    EXPECT_EQ(query(counter), std::pair(u64{2}, u64{160}));
    EXPECT_EQ(query(counter, 1), std::pair(u64{2}, u64{160})) << "cleared afterwards";
    EXPECT_EQ(query(counter), std::pair(u64{0}, u64{0}));
}

TEST_F(FlowCounterTest, CountsWhatItsEntryDrops) {
    u32 counter = alloc();
    ASSERT_EQ(status(counting(counter, /*drop=*/true)), Status::ok);
    EXPECT_EQ(receive(60), 0u);
    EXPECT_EQ(query(counter), std::pair(u64{1}, u64{60}));
    EXPECT_EQ(card_.host.counter("rx_drop_steering"), 1u);
}

TEST_F(FlowCounterTest, AnEntryCanGetAnotherCounterOrNone) {
    u32 first = alloc(), second = alloc();
    ASSERT_EQ(status(counting(first)), Status::ok);
    receive(60);
    ASSERT_EQ(status(counting(second, false, 1)
                         .set(SetFteIn::modify_enable_mask,
                              SetFteIn::kModifyCounters | SetFteIn::kModifyDestinations)),
              Status::ok);
    receive(60);
    EXPECT_EQ(query(first).first, 1u);
    EXPECT_EQ(query(second).first, 1u);
    EXPECT_TRUE(dealloc(first).ok()) << "no longer in use";
    EXPECT_EQ(dealloc(second).status(), Status::bad_resource_state);
    CommandInput plain = card_.entry_input(table_, group_, 0, {}, {}, 1);
    plain.set(SetFteIn::action, flow_action::kForward)
        .set(SetFteIn::modify_enable_mask, SetFteIn::kModifyAction);
    ASSERT_EQ(status(plain), Status::ok);
    EXPECT_EQ(receive(60), 1u) << "the destination stays";
    EXPECT_EQ(query(second).first, 1u);
    EXPECT_TRUE(dealloc(second).ok());
}

TEST_F(FlowCounterTest, GoesOnlyWhenNoEntryUsesIt) {
    u32 counter = alloc();
    ASSERT_EQ(status(counting(counter)), Status::ok);
    EXPECT_EQ(dealloc(counter).status(), Status::bad_resource_state);
    CommandInput remove(Opcode::delete_flow_table_entry, DeleteFteIn::bytes);
    ASSERT_EQ(status(remove.set(FlowTableIn::table_id, table_)), Status::ok);
    EXPECT_TRUE(dealloc(counter).ok());
    EXPECT_EQ(dealloc(counter).status(), Status::bad_resource);
}

TEST_F(FlowCounterTest, EntriesRefuseCountersThatCannotWork) {
    u32 counter = alloc();
    EXPECT_EQ(status(counting(counter + 1)), Status::bad_resource);
    EXPECT_EQ(status(counting(counter).set(SetFteIn::flow_counter_list_size, 2)), Status::bad_parameter);
    EXPECT_EQ(status(counting(counter).set(SetFteIn::action, flow_action::kForward)), Status::bad_parameter)
        << "a counter that does not count";
    EXPECT_EQ(status(counting(counter).set(SetFteIn::action, flow_action::kCount)), Status::bad_parameter)
        << "goes nowhere";
    EXPECT_EQ(status(counting(counter).set(SetFteIn::flow_counter_list_size, 0)), Status::bad_parameter);
    CommandInput cut = counting(counter);
    cut.raw.resize(SetFteIn::destination + 8);
    EXPECT_EQ(status(cut), Status::bad_parameter) << "the list is cut";
    EXPECT_TRUE(dealloc(counter).ok()) << "nothing kept it";
}

TEST_F(FlowCounterTest, ARunReadsNumbersWithoutACounterAsZeros) {
    u32 first = alloc(), second = alloc();
    EXPECT_EQ(first, 1u);
    ASSERT_EQ(status(counting(second)), Status::ok);
    receive(60);
    CommandResult result = card_.driver.must(query_input(0, 4), 0x10 + 4 * 0x10);
    for (u32 id = 0; id < 4; ++id)
        EXPECT_EQ(load_be64(result.out.data() + 0x10 + 0x10 * id), id == second ? 1u : 0u) << id;
    EXPECT_TRUE(card_.driver.run(query_input(0xffff'fffc, 4), 0x50).ok());
    EXPECT_TRUE(card_.driver.run(query_input(0, 1024), 0x10 + 1024 * 0x10).ok());
}

TEST_F(FlowCounterTest, RefusesRunsThatAreCrookedTooLongOrHaveNoRoom) {
    u32 counter = alloc();
    EXPECT_EQ(card_.driver.run(query_input(2, 4), 0x50).status(), Status::bad_parameter);
    EXPECT_EQ(card_.driver.run(query_input(0, 3), 0x50).status(), Status::bad_parameter);
    EXPECT_EQ(card_.driver.run(query_input(0, 1028), 0x10 + 1028 * 0x10).status(), Status::bad_parameter);
    EXPECT_EQ(card_.driver.run(query_input(0, 4), 0x4c).status(), Status::bad_output_length);
    EXPECT_EQ(card_.driver.run(query_input(counter), 0x1c).status(), Status::bad_output_length);
    EXPECT_EQ(card_.driver.run(query_input(counter + 1), 0x20).status(), Status::bad_resource);
}

TEST_F(FlowCounterTest, AreGivenOutOneByOneAndBounded) {
    CommandInput bulk(Opcode::alloc_flow_counter, 0x10);
    EXPECT_EQ(status(bulk.set(AllocFlowCounterIn::flow_counter_bulk, 1)), Status::bad_parameter);
    for (u32 i = 0; i < 0x8000; ++i)
        alloc();
    EXPECT_EQ(status({Opcode::alloc_flow_counter, 0x10}), Status::limits_exceeded);
    EXPECT_TRUE(dealloc(7).ok());
    EXPECT_EQ(alloc(), 7u);
}

} // namespace
} // namespace niclab::test
