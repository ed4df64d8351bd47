// SPDX-License-Identifier: GPL-2.0-or-later
// The card's life from ENABLE_HCA to DISABLE_HCA, lent pages, ISSI, adapter, reset.
#include <gtest/gtest.h>

#include <set>

#include "spec/queues.h"
#include "spec/registers.h"
#include "support/command_driver.h"

namespace niclab::test {
namespace {

class HcaTest : public testing::Test {
  protected:
    Status status(const CommandInput &input, usize out = 0x110) { return driver.run(input, out).status(); }
    static CommandInput take(u32 count) {
        CommandInput input(Opcode::manage_pages, 0x10, static_cast<u16>(ManagePages::take));
        return input.set(ManagePagesIn::input_num_entries, count);
    }
    // The addresses that one MANAGE_PAGES take with room for `count` returns.
    std::vector<u64> take_back(u32 count) {
        CommandResult result = driver.must(take(count), ManagePagesOut::pas + 8 * count);
        std::vector<u64> pages;
        for (u32 i = 0; i < result.get(ManagePagesOut::output_num_entries); ++i)
            pages.push_back(load_be64(result.out.data() + ManagePagesOut::pas + 8 * i));
        return pages;
    }

    FakeHost host;
    CommandDriver driver{host};
};

// ---- phases
// --------------------------------------------------------------------------------------------------------
TEST_F(HcaTest, GoesThroughItsPhasesAndStartsAgain) {
    for (int round = 0; round < 3; ++round) {
        driver.bring_up();
        EXPECT_EQ(status({Opcode::teardown_hca, 0x10}), Status::ok);
        EXPECT_EQ(take_back(100).size(), 80u);
        EXPECT_EQ(status({Opcode::disable_hca, 0x10}), Status::ok);
        EXPECT_EQ(status({Opcode::query_pages, 0x10, 1}), Status::bad_system_state);
    }
}

TEST_F(HcaTest, RefusesStepsOutOfOrder) {
    driver.enable();
    EXPECT_EQ(status({Opcode::enable_hca, 0x10}), Status::bad_system_state) << "twice by the same owner";
    driver.give_pages(80);
    EXPECT_EQ(status({Opcode::init_hca, 0x10}), Status::ok);
    EXPECT_EQ(status({Opcode::init_hca, 0x10}), Status::bad_system_state);
    EXPECT_EQ(status({Opcode::disable_hca, 0x10}), Status::bad_system_state) << "without TEARDOWN_HCA";
}

TEST_F(HcaTest, RefusesOtherFunctionsAndProfilesThatAreNotOffered) {
    EXPECT_EQ(status(CommandInput(Opcode::enable_hca, 0x10).set(EnableHcaIn::function_id, 1)),
              Status::bad_parameter);
    EXPECT_EQ(status(CommandInput(Opcode::enable_hca, 0x10).set(EnableHcaIn::embedded_cpu, 1)),
              Status::bad_parameter);
    driver.bring_up();
    for (u32 profile : {1u, 2u, 9u})
        EXPECT_EQ(status(CommandInput(Opcode::teardown_hca, 0x10).set(TeardownHcaIn::profile, profile)),
                  Status::bad_parameter);
    EXPECT_EQ(status(CommandInput(Opcode::disable_hca, 0x10).set(EnableHcaIn::function_id, 1)),
              Status::bad_parameter);
}

TEST_F(HcaTest, TeardownLeavesNoObjectBehind) {
    driver.bring_up();
    driver.alloc(Opcode::alloc_pd);
    driver.alloc(Opcode::alloc_uar);
    EXPECT_EQ(host.counter("live_objects"), 2u);
    driver.must({Opcode::teardown_hca, 0x10});
    EXPECT_EQ(host.counter("live_objects"), 0u);
}

TEST_F(HcaTest, ANewOwnerOfTheCommandQueueStartsClean) {
    driver.bring_up();
    driver.alloc(Opcode::alloc_pd);
    driver.set_port(PortState::up);
    ASSERT_TRUE(cx_core_link_up(host.core()));

    driver.register_queue(); // as after kexec: nobody tore anything down
    driver.enable();
    EXPECT_EQ(host.counter("live_objects"), 0u);
    EXPECT_EQ(host.counter("live_pages"), 0u);
    EXPECT_FALSE(cx_core_link_up(host.core()));
    EXPECT_EQ(driver.must({Opcode::query_issi, 0x10}, 0x70).get(QueryIssiOut::current_issi), 0u);
    EXPECT_EQ(status({Opcode::alloc_pd, 0x10}), Status::bad_system_state) << "not initialized yet";
}

TEST_F(HcaTest, ResetForgetsEverythingButTheCable) {
    driver.bring_up();
    driver.alloc(Opcode::alloc_pd);
    cx_core_set_cable(host.core(), false);
    host.accesses.clear();
    cx_core_reset(host.core());
    EXPECT_EQ(host.read32(0x010), 0u);
    EXPECT_EQ(host.read32(0x014), 0x56u);
    EXPECT_EQ(host.counter("live_objects"), 0u);
    EXPECT_EQ(host.counter("live_pages"), 0u);
    EXPECT_TRUE(host.accesses.empty()) << "no DMA";
    driver.register_queue();
    driver.bring_up();
    driver.set_port(PortState::up);
    EXPECT_FALSE(cx_core_link_up(host.core())) << "still unplugged";
}

// ---- ISSI, adapter
// -------------------------------------------------------------------------------------------------
TEST_F(HcaTest, OffersIssiZeroAndOne) {
    driver.enable();
    CommandResult query = driver.must({Opcode::query_issi, 0x10}, 0x70);
    EXPECT_EQ(load_be32(query.out.data() + 0x6c), 0x3u);
    EXPECT_EQ(status(CommandInput(Opcode::set_issi, 0x10).set(SetIssiIn::current_issi, 1)), Status::ok);
    EXPECT_EQ(driver.must({Opcode::query_issi, 0x10}, 0x70).get(QueryIssiOut::current_issi), 1u);
    for (u32 issi : {2u, 31u, 32u, 0xffffu})
        EXPECT_EQ(status(CommandInput(Opcode::set_issi, 0x10).set(SetIssiIn::current_issi, issi)),
                  Status::bad_parameter);
    EXPECT_EQ(driver.must({Opcode::query_issi, 0x10}, 0x70).get(QueryIssiOut::current_issi), 1u);
}

TEST_F(HcaTest, TellsVendorAndBoard) {
    driver.enable();
    CommandResult adapter = driver.must({Opcode::query_adapter, 0x10}, 0x110);
    EXPECT_EQ(load_be32(adapter.out.data() + 0x28), 0x0002c9u);
    std::string psid(adapter.out.begin() + 0x100, adapter.out.begin() + 0x110);
    EXPECT_EQ(psid, std::string("NLB0000000001\0\0\0", 16));
    EXPECT_EQ(status({Opcode::query_adapter, 0x10, 1}), Status::bad_parameter);
}

// ---- pages
// ---------------------------------------------------------------------------------------------------------
TEST_F(HcaTest, AsksForPagesTwiceAndNeedsThemToInitialize) {
    driver.enable();
    EXPECT_EQ(driver.pages_wanted(QueryPages::boot), 16u);
    EXPECT_EQ(status({Opcode::init_hca, 0x10}), Status::no_resources);
    driver.give_pages(16);
    EXPECT_EQ(driver.pages_wanted(QueryPages::boot), 0u);
    EXPECT_EQ(driver.pages_wanted(QueryPages::init), 64u);
    driver.give_pages(63);
    EXPECT_EQ(driver.pages_wanted(QueryPages::init), 1u);
    EXPECT_EQ(status({Opcode::init_hca, 0x10}), Status::no_resources);
    driver.give_pages(1);
    EXPECT_EQ(status({Opcode::init_hca, 0x10}), Status::ok);
    EXPECT_EQ(driver.pages_wanted(QueryPages::regular), 0u);
    EXPECT_EQ(host.counter("live_pages"), 80u);
}

TEST_F(HcaTest, GivesEveryPageBackInSeveralChunksAfterTeardown) {
    std::vector<u64> given = driver.bring_up();
    driver.must({Opcode::teardown_hca, 0x10});
    std::multiset<u64> returned;
    for (u32 room : {1u, 7u, 30u, 768u}) {
        std::vector<u64> chunk = take_back(room);
        EXPECT_LE(chunk.size(), room);
        returned.insert(chunk.begin(), chunk.end());
    }
    EXPECT_EQ(returned, std::multiset<u64>(given.begin(), given.end()));
    EXPECT_TRUE(take_back(768).empty());
    EXPECT_EQ(host.counter("live_pages"), 0u);
    driver.must({Opcode::disable_hca, 0x10});
}

TEST_F(HcaTest, KeepsItsPagesWhileItRunsButNotMoreThanItAskedFor) {
    driver.bring_up();
    EXPECT_TRUE(take_back(10).empty());
    std::vector<u64> extra = driver.give_pages(3);
    EXPECT_EQ(take_back(10).size(), 3u);
}

TEST_F(HcaTest, ReturnsNoMorePagesThanTheOutputHolds) {
    driver.bring_up();
    driver.must({Opcode::teardown_hca, 0x10});
    CommandResult result = driver.must(take(80), ManagePagesOut::pas + 8 * 5 + 4);
    EXPECT_EQ(result.get(ManagePagesOut::output_num_entries), 5u);
    EXPECT_EQ(host.counter("live_pages"), 75u);
}

TEST_F(HcaTest, RefusesBadPageListsWhole) {
    driver.enable();
    std::vector<u64> pages = driver.give_pages(2);
    auto give = [&](std::vector<u64> addresses, u32 count) {
        CommandInput input(Opcode::manage_pages, 0x10, 1);
        input.set(ManagePagesIn::input_num_entries, count);
        for (usize i = 0; i < addresses.size(); ++i)
            input.put_be64(0x10 + 8 * i, addresses[i]);
        return status(input);
    };
    EXPECT_EQ(give({0x100000, 0x200010}, 2), Status::bad_parameter) << "not page-aligned";
    EXPECT_EQ(give({0x100000, 0x100000}, 2), Status::bad_parameter) << "twice in one list";
    EXPECT_EQ(give({0x100000, pages[0]}, 2), Status::bad_parameter) << "given before";
    EXPECT_EQ(give({0x100000}, 2), Status::bad_input_length) << "shorter than it says";
    EXPECT_EQ(give({0x100000}, 0xffffffff), Status::bad_input_length);
    EXPECT_EQ(host.counter("live_pages"), 2u);
    EXPECT_EQ(give({}, 0), Status::ok) << "some drivers send an empty list";
}

TEST_F(HcaTest, RefusesPageCommandsForOthersOrOfUnknownKind) {
    driver.enable();
    EXPECT_EQ(status({Opcode::query_pages, 0x10, 0}), Status::bad_parameter);
    EXPECT_EQ(status({Opcode::query_pages, 0x10, 4}), Status::bad_parameter);
    EXPECT_EQ(status(CommandInput(Opcode::query_pages, 0x10, 1).set(ManagePagesIn::function_id, 3)),
              Status::bad_parameter);
    EXPECT_EQ(status({Opcode::manage_pages, 0x10, 3}), Status::bad_parameter);
    EXPECT_EQ(status(CommandInput(Opcode::manage_pages, 0x10, 1).set(ManagePagesIn::function_id, 3)),
              Status::bad_parameter);
    EXPECT_EQ(status({Opcode::manage_pages, 0x10, 0}), Status::ok) << "\"cannot give\" is only a notice";
}

TEST_F(HcaTest, NeverTouchesThePagesItWasLent) {
    std::vector<u64> given = driver.bring_up();
    std::set<u64> lent(given.begin(), given.end());
    driver.alloc(Opcode::alloc_pd);
    driver.must({Opcode::teardown_hca, 0x10});
    for (const FakeHost::Access &access : host.accesses)
        EXPECT_EQ(lent.count(access.iova & ~(kPage - 1)), 0u);
}

} // namespace
} // namespace niclab::test
