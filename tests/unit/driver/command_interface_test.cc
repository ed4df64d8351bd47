// SPDX-License-Identifier: GPL-2.0-or-later
// The command interface against a scripted card. Bytes are those of the manual's command entry and mailbox
// tables.
#include <gtest/gtest.h>

#include <cerrno>
#include <numeric>

#include "spec/hca.h"
#include "support/scripted_card.h"

namespace niclab::test {
namespace {

using driver::CommandInterface;

class CommandInterfaceTest : public testing::Test {
  protected:
    CommandInterfaceTest() {
        reset_ledger();
        card_ = std::make_unique<ScriptedCard>();
    }
    void TearDown() override {
        commands_.reset();
        EXPECT_EQ(ledger().leftovers(), "");
    }
    int make() {
        auto made = CommandInterface::make(card_.get());
        int error = made.error();
        if (made.ok()) commands_ = made.take();
        return error;
    }
    int run(Opcode opcode, usize in_bytes = 16, usize out_bytes = 16) {
        in_.assign(in_bytes, 0);
        std::iota(in_.begin(), in_.end(), u8{0});
        store_be16(in_.data(), static_cast<u16>(opcode));
        out_.assign(out_bytes, 0xaa);
        return commands_->execute({in_.data(), in_.size()}, {out_.data(), out_.size()}).error();
    }

    std::unique_ptr<ScriptedCard> card_;
    driver::Owned<CommandInterface> commands_;
    std::vector<u8> in_, out_;
};

TEST_F(CommandInterfaceTest, WaitsForFirmwareThenRegistersItsPage) {
    card_->registers[init_segment::kInitializing] = 1u << 31;
    unsigned looks = 0;
    card_->on_run = [&] {
        if (++looks == 100) card_->registers[init_segment::kInitializing] = 0;
    };
    ASSERT_EQ(make(), 0);
    ASSERT_EQ(card_->writes.size(), 2u);
    EXPECT_EQ(card_->writes[0].first, 0x010u);
    EXPECT_EQ(card_->writes[1].first, 0x014u);
    EXPECT_EQ(card_->writes[1].second & 0xfff, 0u);
}

TEST_F(CommandInterfaceTest, FirmwareThatNeverStartsIsATimeout) {
    card_->registers[init_segment::kInitializing] = 1u << 31;
    EXPECT_EQ(make(), -ETIMEDOUT);
    EXPECT_TRUE(ledger().logged("firmware still initializing after 120000 ms"));
}

TEST_F(CommandInterfaceTest, AnAbsentCardIsNoDevice) {
    card_->registers[init_segment::kInitializing] = ~0u;
    EXPECT_EQ(make(), -ENODEV);
}

TEST_F(CommandInterfaceTest, AnotherRevisionIsRefusedByName) {
    card_->registers[init_segment::kCmdifRev] = 4u << 16;
    EXPECT_EQ(make(), -ENODEV);
    EXPECT_TRUE(ledger().logged("command interface revision 4, the driver knows 5"));
}

TEST_F(CommandInterfaceTest, QueuesThatDoNotFitAPageAreRefused) {
    for (u32 sizes : {0x57u, 0x66u, 0x06u,
                      0x55u}) { // 2^12 is a page; at most 32 entries, at least 2, of 64 bytes or more
        card_->registers[init_segment::kCmdqAddrLow] = sizes;
        EXPECT_EQ(make(), sizes == 0x57u ? 0 : -ENODEV) << sizes;
        commands_.reset();
    }
}

TEST_F(CommandInterfaceTest, AShortCommandLivesInItsEntry) {
    ASSERT_EQ(make(), 0);
    ASSERT_EQ(run(Opcode::enable_hca), 0);
    const auto &raw = card_->last().raw;
    EXPECT_EQ(card_->last().entry, 0u);
    EXPECT_EQ(raw[0], 7);
    EXPECT_EQ(load_be32(&raw[0x04]), 16u);
    EXPECT_EQ(load_be64(&raw[0x08]), 0u);
    EXPECT_EQ(load_be16(&raw[0x10]), 0x104);
    EXPECT_EQ(raw[0x1f], 15);
    EXPECT_EQ(load_be64(&raw[0x30]), 0u);
    EXPECT_EQ(load_be32(&raw[0x38]), 16u);
    EXPECT_NE(raw[0x3c], 0);
    EXPECT_EQ(raw[0x3f], 1);
    u8 sum = 0;
    for (u8 byte : raw)
        sum ^= byte;
    EXPECT_EQ(sum, 0xff);
}

TEST_F(CommandInterfaceTest, TokensAreNeverZero) {
    ASSERT_EQ(make(), 0);
    for (int i = 0; i < 600; ++i) {
        ASSERT_EQ(run(Opcode::query_issi), 0);
        ASSERT_NE(card_->last().raw[0x3c], 0) << i;
    }
}

TEST_F(CommandInterfaceTest, LongCommandsTravelInLinkedMailboxes) {
    ASSERT_EQ(make(), 0);
    card_->answer = [](const ScriptedCard::Seen &, std::vector<u8> &out) {
        std::iota(out.begin() + 8, out.end(), u8{3});
    };
    ASSERT_EQ(run(Opcode::set_hca_cap, 16 + 512 + 512 + 1, 16 + 513), 0);
    const ScriptedCard::Seen &seen = card_->last();
    EXPECT_EQ(seen.in, in_);
    ASSERT_EQ(seen.in_blocks.size(), 3u);
    ASSERT_EQ(seen.out_blocks.size(), 2u);
    for (usize i = 0; i < 3; ++i) {
        EXPECT_EQ(seen.in_blocks[i] % 1024, 0u);
        auto block = card_->memory(seen.in_blocks[i], 0x240);
        EXPECT_EQ(load_be64(&block[0x230]), i < 2 ? seen.in_blocks[i + 1] : 0u);
        EXPECT_EQ(load_be32(&block[0x238]), i);
        EXPECT_EQ(block[0x23d], seen.raw[0x3c]);
    }
    for (usize i = 8; i < out_.size(); ++i)
        ASSERT_EQ(out_[i], static_cast<u8>(3 + i - 8)) << i;
}

TEST_F(CommandInterfaceTest, VeryLongCommandsGrowTheChain) {
    ASSERT_EQ(make(), 0);
    ASSERT_EQ(run(Opcode::manage_pages, 16 + 8 * 5000), 0);
    EXPECT_EQ(card_->last().in, in_);
    EXPECT_EQ(card_->last().in_blocks.size(), 79u); // 40000 bytes in blocks of 512
}

TEST_F(CommandInterfaceTest, PageCommandsHaveTheLastEntry) {
    ASSERT_EQ(make(), 0);
    ASSERT_EQ(run(Opcode::manage_pages), 0);
    EXPECT_EQ(card_->last().entry, 31u);
    EXPECT_EQ(card_->writes.back(), (std::pair<u32, u32>{0x018, 1u << 31}));
}

TEST_F(CommandInterfaceTest, FailuresBecomeErrorsThatSayWhatFailed) {
    ASSERT_EQ(make(), 0);
    struct Row {
        u8 status;
        int error;
        const char *text;
    };
    constexpr Row kRows[] = {
        {0x01, -EIO, "internal error (0x1)"},     {0x02, -EOPNOTSUPP, "bad operation (0x2)"},
        {0x03, -EINVAL, "bad parameter (0x3)"},   {0x06, -EBUSY, "resource busy (0x6)"},
        {0x08, -ENOMEM, "limits exceeded (0x8)"}, {0x0f, -EAGAIN, "no resources (0xf)"},
        {0x50, -EIO, "bad input length (0x50)"},  {0x77, -EIO, "unknown status (0x77)"},
    };
    for (const Row &row : kRows) {
        card_->answer = [&](const ScriptedCard::Seen &, std::vector<u8> &out) {
            out[0] = row.status;
            store_be32(&out[4], 0xabc00 + row.status);
        };
        EXPECT_EQ(run(Opcode::create_sq), row.error);
        char syndrome[32];
        snprintf(syndrome, sizeof(syndrome), "syndrome 0x%x", 0xabc00u + row.status);
        EXPECT_TRUE(ledger().logged("CREATE_SQ (0x904) op_mod 0x607 failed: " + std::string(row.text) + ", " +
                                    syndrome));
    }
    EXPECT_FALSE(commands_->dead());
}

TEST_F(CommandInterfaceTest, ACommandThatCouldNotBeDeliveredFails) {
    ASSERT_EQ(make(), 0);
    card_->delivery = 7;
    EXPECT_EQ(run(Opcode::create_cq), -EIO);
    EXPECT_TRUE(ledger().logged("delivery status 0x7"));
}

TEST_F(CommandInterfaceTest, SilenceIsATimeoutOnceAndThenAnErrorAtOnce) {
    ASSERT_EQ(make(), 0);
    card_->silent = true;
    EXPECT_EQ(run(Opcode::query_issi), -ETIMEDOUT);
    EXPECT_TRUE(commands_->dead());
    EXPECT_TRUE(card_->dma_stopped);
    usize sent = card_->commands.size();
    u64 now = ledger().now_ms;
    EXPECT_EQ(run(Opcode::query_issi), -EIO);
    EXPECT_EQ(run(Opcode::manage_pages), -EIO);
    EXPECT_EQ(card_->commands.size(), sent);
    EXPECT_EQ(ledger().now_ms, now);
}

TEST_F(CommandInterfaceTest, ACardThatVanishesIsNotWaitedFor) {
    ASSERT_EQ(make(), 0);
    card_->silent = true;
    card_->registers[0x230] = ~0u;
    u64 before = ledger().now_ms;
    EXPECT_EQ(run(Opcode::query_issi), -EIO);
    EXPECT_LT(ledger().now_ms - before, 1000u);
}

TEST_F(CommandInterfaceTest, EventsEndTheWaitAndALostOneIsNoticed) {
    ASSERT_EQ(make(), 0);
    commands_->use_events(true);
    card_->on_run = [&] { commands_->finished(1u << 0); };
    u64 before = ledger().now_ms;
    ASSERT_EQ(run(Opcode::query_issi), 0);
    EXPECT_EQ(ledger().now_ms, before);
    card_->on_run = nullptr; // the answer is there, the event is not
    ASSERT_EQ(run(Opcode::query_issi), 0);
    EXPECT_EQ(ledger().now_ms, before + 1000);
}

TEST_F(CommandInterfaceTest, EventsForNobodyDoNotEndAWait) {
    ASSERT_EQ(make(), 0);
    commands_->use_events(true);
    card_->silent = true;
    u64 before = ledger().now_ms;
    unsigned rounds = 0;
    card_->on_run = [&] {
        if (++rounds < 1000) commands_->finished(~0u);
    };
    EXPECT_EQ(run(Opcode::query_issi), -ETIMEDOUT);
    EXPECT_GE(ledger().now_ms - before, 60000u);
}

} // namespace
} // namespace niclab::test
