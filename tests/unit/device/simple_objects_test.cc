// SPDX-License-Identifier: GPL-2.0-or-later
// Doorbell pages, protection and transport domains, counter sets, TISs.
#include <gtest/gtest.h>

#include <set>

#include "spec/objects.h"
#include "support/command_driver.h"

namespace niclab::test {
namespace {

struct Kind {
    const char *name;
    Opcode alloc, dealloc;
    u32 first, most;
};
void PrintTo(const Kind &kind, std::ostream *os) { *os << kind.name; }
constexpr Kind kKinds[] = {
    {"UAR", Opcode::alloc_uar, Opcode::dealloc_uar, 0x10,
     8192 - 0x10}, // 32 MiB of 4 KiB pages but the first sixteen
    {"PD", Opcode::alloc_pd, Opcode::dealloc_pd, 1, 65536},
    {"TD", Opcode::alloc_transport_domain, Opcode::dealloc_transport_domain, 1, 65536},
    {"counter set", Opcode::alloc_q_counter, Opcode::dealloc_q_counter, 1, 255}, // 0 means none
};

class SimpleObject : public testing::TestWithParam<Kind> {
  protected:
    void SetUp() override { driver.bring_up(); }
    Status dealloc(u32 number) {
        return driver.run(CommandInput(GetParam().dealloc, 0x10).set(ObjectIn::number, number)).status();
    }

    FakeHost host;
    CommandDriver driver{host};
};

TEST_P(SimpleObject, NumbersAreUniqueAndReusedLast) {
    u32 a = driver.alloc(GetParam().alloc), b = driver.alloc(GetParam().alloc);
    EXPECT_EQ(a, GetParam().first);
    EXPECT_EQ(b, a + 1);
    EXPECT_EQ(dealloc(a), Status::ok);
    EXPECT_EQ(driver.alloc(GetParam().alloc), b + 1);
    EXPECT_EQ(dealloc(a), Status::bad_resource) << "twice";
    EXPECT_EQ(host.counter("live_objects"), 2u);
}
INSTANTIATE_TEST_SUITE_P(All, SimpleObject, testing::ValuesIn(kKinds));

TEST(CounterSets, AreLimitedAndTheirNumbersFitEightBits) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    std::set<u32> numbers;
    for (int i = 0; i < 255; ++i)
        numbers.insert(driver.alloc(Opcode::alloc_q_counter));
    EXPECT_EQ(numbers.size(), 255u);
    EXPECT_EQ(*numbers.begin(), 1u);
    EXPECT_EQ(*numbers.rbegin(), 255u);
    EXPECT_EQ(driver.run({Opcode::alloc_q_counter, 0x10}).status(), Status::limits_exceeded);
    auto free_one = CommandInput(Opcode::dealloc_q_counter, 0x10).set(DeallocQCounterIn::counter_set_id, 7);
    EXPECT_TRUE(driver.run(free_one).ok());
    EXPECT_EQ(driver.alloc(Opcode::alloc_q_counter), 7u);
}

TEST(CounterSets, ReadZeroWhenNew) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    u32 set = driver.alloc(Opcode::alloc_q_counter);
    CommandInput query(Opcode::query_q_counter, 0x20);
    CommandResult result = driver.must(query.set(QueryQCounterIn::counter_set_id, set), 0x110);
    EXPECT_EQ(result.get(QueryQCounterOut::out_of_buffer), 0u);
    EXPECT_EQ(driver.run(query.set(QueryQCounterIn::counter_set_id, set + 1), 0x110).status(),
              Status::bad_resource);
}

TEST(DoorbellPages, EndWithTheBar) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    u32 last = 0;
    for (u32 i = 0; i < 8192 - 0x10; ++i)
        last = driver.alloc(Opcode::alloc_uar);
    EXPECT_EQ(u64{last + 1} * kPage, u64{CX_BAR_BYTES});
    EXPECT_EQ(driver.run({Opcode::alloc_uar, 0x10}).status(), Status::limits_exceeded);
}

class TisTest : public testing::Test {
  protected:
    void SetUp() override {
        driver.bring_up();
        td = driver.alloc(Opcode::alloc_transport_domain);
    }
    CommandInput create(u32 domain, u32 prio = 0) {
        CommandInput input(Opcode::create_tis, CreateTisIn::bytes);
        return input.set(TisContext::transport_domain, domain, CreateTisIn::context)
            .set(TisContext::prio, prio, CreateTisIn::context);
    }
    CommandInput modify(u32 tisn, u64 mask, u32 prio) {
        CommandInput input(Opcode::modify_tis, CreateTisIn::bytes);
        return input.set(ModifyTirIn::number, tisn)
            .set(ModifyTirIn::bitmask, mask)
            .set(TisContext::prio, prio, ModifyTirIn::context);
    }
    u32 prio(u32 tisn) {
        CommandInput input(Opcode::query_tis, 0x10);
        return driver.must(input.set(ObjectIn::number, tisn), QueryTisOut::bytes)
            .get(TisContext::prio, QueryTisOut::context);
    }

    FakeHost host;
    CommandDriver driver{host};
    u32 td = 0;
};

TEST_F(TisTest, RemembersItsPriorityAndDomain) {
    u32 tisn = driver.must(create(td, 6)).number();
    EXPECT_EQ(prio(tisn), 6u);
    driver.must(modify(tisn, 1, 3));
    EXPECT_EQ(prio(tisn), 3u);
    driver.must(modify(tisn, 0, 7));
    EXPECT_EQ(prio(tisn), 3u) << "not selected";
}

TEST_F(TisTest, NeedsADomainThatExists) {
    EXPECT_EQ(driver.run(create(0)).status(), Status::bad_resource);
    EXPECT_EQ(driver.run(create(td + 1)).status(), Status::bad_resource);
}

TEST_F(TisTest, KeepsItsDomainAlive) {
    u32 tisn = driver.must(create(td)).number();
    auto free_td = CommandInput(Opcode::dealloc_transport_domain, 0x10).set(ObjectIn::number, td);
    EXPECT_EQ(driver.run(free_td).status(), Status::bad_resource_state);
    driver.must(CommandInput(Opcode::destroy_tis, 0x10).set(ObjectIn::number, tisn));
    EXPECT_TRUE(driver.run(free_td).ok());
}

TEST_F(TisTest, RefusesChangesThatBelongToBonds) {
    u32 tisn = driver.must(create(td, 2)).number();
    EXPECT_EQ(driver.run(modify(tisn, 1 << 2 | 1, 5)).status(), Status::bad_parameter);
    EXPECT_EQ(prio(tisn), 2u);
}

} // namespace
} // namespace niclab::test
