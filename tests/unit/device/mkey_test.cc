// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "support/card.h"

namespace niclab::test {
namespace {

class MkeyTest : public testing::Test {
  protected:
    CommandInput input() {
        CommandInput in(Opcode::create_mkey, CreateMkeyIn::bytes);
        return in.set(MkeyContext::local_read, 1, CreateMkeyIn::context)
            .set(MkeyContext::qpn, 0xffffff, CreateMkeyIn::context)
            .set(MkeyContext::length64, 1, CreateMkeyIn::context)
            .set(MkeyContext::mkey_7_0, 0x42, CreateMkeyIn::context)
            .set(MkeyContext::pd, card_.pd, CreateMkeyIn::context);
    }
    Status status(const CommandInput &in) { return card_.driver.run(in).status(); }

    Card card_;
};

TEST_F(MkeyTest, KeysNeverHaveTheReservedIndices) {
    // Index 0 is reserved; index 1 with low byte 0 would be the key that ends a scatter list.
    for (int i = 0; i < 5; ++i)
        EXPECT_GE(card_.driver.must(input()).number(), 2u);
}

TEST_F(MkeyTest, CreationRefusesWhatItCannotDo) {
    for (u32 mode : {4, 5, 7})
        EXPECT_EQ(status(input()
                             .set(MkeyContext::access_mode, mode & 3, CreateMkeyIn::context)
                             .set(MkeyContext::access_mode_high, mode >> 2, CreateMkeyIn::context)),
                  Status::bad_parameter);
    EXPECT_EQ(status(input().set(MkeyContext::free, 1, CreateMkeyIn::context)), Status::bad_parameter)
        << "nothing could open it";
    EXPECT_EQ(status(input().set(MkeyContext::umr_en, 1, CreateMkeyIn::context)), Status::bad_parameter)
        << "a physical key has no list";
    EXPECT_EQ(status(input().set(MkeyContext::qpn, 5, CreateMkeyIn::context)), Status::bad_parameter);
    EXPECT_EQ(status(input().set(MkeyContext::pd, 999, CreateMkeyIn::context)), Status::bad_resource);
}

TEST_F(MkeyTest, QueryReturnsTheContext) {
    u32 number = card_.driver.must(input()).number();
    CommandResult out =
        card_.driver.must(Card::number_input(Opcode::query_mkey, number), QueryMkeyOut::bytes);
    EXPECT_EQ(out.get(MkeyContext::mkey_7_0, QueryMkeyOut::context), 0x42u);
    EXPECT_EQ(out.get(MkeyContext::pd, QueryMkeyOut::context), card_.pd);
}

TEST_F(MkeyTest, KeyHoldsItsDomainUntilItGoes) {
    u32 pd = card_.driver.alloc(Opcode::alloc_pd);
    u32 number = card_.driver.must(input().set(MkeyContext::pd, pd, CreateMkeyIn::context)).number();
    EXPECT_EQ(card_.destroy(Opcode::dealloc_pd, pd).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::destroy_mkey, number).status(), Status::ok);
    EXPECT_EQ(card_.destroy(Opcode::destroy_mkey, number).status(), Status::bad_resource);
    EXPECT_EQ(card_.destroy(Opcode::dealloc_pd, pd).status(), Status::ok);
}

TEST_F(MkeyTest, SpecialContextsNameTheTerminator) {
    CommandResult out =
        card_.driver.must({Opcode::query_special_contexts, 0x10}, QuerySpecialContextsOut::bytes);
    EXPECT_EQ(out.get(QuerySpecialContextsOut::terminate_scatter_list_mkey), 0x100u);
}

} // namespace
} // namespace niclab::test
