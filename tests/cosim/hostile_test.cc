// SPDX-License-Identifier: GPL-2.0-or-later
// A card that lies. Input and output may break; memory, and whoever uses it, may not.
#include <random>

#include "cosim/port.h"
#include "spec/command.h"
#include "spec/queues.h"

namespace niclab::test {
namespace {

using namespace scenarios;

constexpr usize kBody =
    60; // an entry is written in two pieces: all but the last word, then the last word with the owner

bool is_last_word(u64 bus, const std::vector<u8> &bytes) { return bytes.size() == 4 && bus % 64 == kBody; }
bool is_receive_body(const std::vector<u8> &bytes) {
    return bytes.size() == kBody && load_be32(&bytes[0x2c]) != 0;
}
bool is_receive_last_word(u64 bus, const std::vector<u8> &bytes) {
    return is_last_word(bus, bytes) && bytes[3] >> 4 == 2;
}

class CosimHostile : public CosimTest {
  protected:
    void SetUp() override { bring_up(); }
    Bytes frame(unsigned seed = 1) { return ethernet(mac_of(*b_), kLocalExperimental, pattern(500, seed)); }
    // What a kernel does when told of a failed queue.
    void reopen(Port &port) {
        port.close();
        ASSERT_EQ(port.open(), 0);
        ASSERT_EQ(port.filter(), 0);
    }
    void expect_good_again() {
        a_->tamper = b_->tamper = nullptr;
        a_->deny = b_->deny = nullptr;
        reopen(*a_);
        reopen(*b_);
        b_->received.clear();
        transfer(*a_, frame(42));
        ASSERT_EQ(b_->received.size(), 1u);
        EXPECT_EQ(b_->received[0].frame, frame(42));
    }
};

TEST_F(CosimHostile, ALengthBeyondTheBuffersStopsTheQueue) {
    for (u32 length : {0xffffffffu, 0x80000200u, 2049u, 13u, 0u}) {
        unsigned errors = b_->channel_errors;
        b_->received.clear();
        b_->tamper = [&](u64, std::vector<u8> &bytes) {
            if (is_receive_body(bytes)) store_be32(&bytes[0x2c], length);
        };
        transfer(*a_, frame());
        EXPECT_TRUE(b_->received.empty()) << length;
        EXPECT_EQ(b_->channel_errors, errors + 1) << length;
        expect_good_again();
    }
}

TEST_F(CosimHostile, ACompletionForAnotherDescriptorStopsTheQueue) {
    b_->tamper = [](u64 bus, std::vector<u8> &bytes) {
        if (is_receive_last_word(bus, bytes)) store_be16(&bytes[0], 33);
    };
    transfer(*a_, frame());
    transfer(*a_, frame());
    EXPECT_TRUE(b_->received.empty());
    EXPECT_EQ(b_->channel_errors, 1u); // told once
    expect_good_again();
}

TEST_F(CosimHostile, ACompletionOfUnknownKindStopsTheQueue) {
    b_->tamper = [](u64 bus, std::vector<u8> &bytes) {
        if (is_receive_last_word(bus, bytes)) bytes[3] = static_cast<u8>(0x70 | (bytes[3] & 1));
    };
    transfer(*a_, frame());
    EXPECT_TRUE(b_->received.empty());
    EXPECT_EQ(b_->channel_errors, 1u);
    EXPECT_EQ(b_->stats().rx_errors, 1u);
    expect_good_again();
}

TEST_F(CosimHostile, AFrameThatDidNotFitCostsItsDescriptorOnly) {
    bool once = true;
    b_->tamper = [&](u64 bus, std::vector<u8> &bytes) {
        if (!once) return;
        if (is_receive_body(bytes)) bytes[0x37] = static_cast<u8>(CqeSyndrome::local_length);
        if (!is_receive_last_word(bus, bytes)) return;
        bytes[3] = static_cast<u8>(0xe0 | (bytes[3] & 1));
        once = false;
    };
    transfer(*a_, frame(1));
    transfer(*a_, frame(2));
    ASSERT_EQ(b_->received.size(), 1u);
    EXPECT_EQ(b_->received[0].frame, frame(2));
    EXPECT_EQ(b_->stats().rx_errors, 1u);
    EXPECT_EQ(b_->channel_errors, 0u);
}

TEST_F(CosimHostile, ASendCompletionOutOfRangeStopsTheQueueAndPacketsComeBack) {
    a_->tamper = [](u64 bus, std::vector<u8> &bytes) {
        if (is_last_word(bus, bytes) && bytes[0] == 0 && bytes[1] == 3) store_be16(&bytes[0], 100);
    };
    for (unsigned i = 0; i < 4; ++i)
        ASSERT_EQ(a_->send(frame(i)), 0);
    a_->kick();
    settle();
    EXPECT_EQ(a_->completed, 0u);
    EXPECT_EQ(a_->channel_errors, 1u);
    EXPECT_EQ(a_->send(frame()), -EIO);
    a_->close();
    EXPECT_EQ(a_->in_flight(), 0u);
    ASSERT_EQ(a_->open(), 0);
    expect_good_again();
}

TEST_F(CosimHostile, ASendFaultIsReportedFlushedAndRepairedByReopening) {
    usize payload = frame().size();
    a_->deny = [&](u64, usize bytes, bool write) { return !write && bytes == payload; };
    for (unsigned i = 0; i < 4; ++i)
        ASSERT_EQ(a_->send(frame(i)), 0);
    a_->kick();
    settle();
    EXPECT_GE(a_->channel_errors, 1u); // by the completion and by the card's event
    EXPECT_GE(a_->stats().tx_errors, 1u);
    EXPECT_EQ(a_->in_flight(), 0u) << "flushed packets come back";
    EXPECT_TRUE(ledger().logged("send queue"));
    expect_good_again();
}

TEST_F(CosimHostile, AReceiveFaultIsReportedAndRepairedByReopening) {
    b_->deny = [&](u64, usize bytes, bool write) { return write && bytes == frame().size(); };
    transfer(*a_, frame());
    EXPECT_GE(b_->channel_errors, 1u);
    EXPECT_TRUE(b_->received.empty());
    expect_good_again();
}

// Replies of commands: number fields and lists.
class CosimHostileReplies : public CosimTest {
  protected:
    // Changes the first 16 output bytes of a command as they are written.
    void change_reply(Opcode opcode, std::function<void(std::vector<u8> &)> change) {
        a_->tamper = [this, opcode, change](u64 bus, std::vector<u8> &bytes) {
            u8 in[2];
            constexpr u64 kDistance = CommandEntry::output_inline - CommandEntry::input_inline;
            bool output = bytes.size() == kCommandInlineBytes &&
                          bus % CommandEntry::bytes == CommandEntry::output_inline;
            if (!output || !a_->card_read(bus - kDistance, in, 2)) return;
            if (load_be16(in) == static_cast<u16>(opcode)) change(bytes);
        };
    }
};

TEST_F(CosimHostileReplies, ADoorbellPageOutsideTheBarIsRefused) {
    for (u32 page : {0u, 4u, 8192u, 0xffffffu}) {
        change_reply(Opcode::alloc_uar, [&](std::vector<u8> &bytes) { store_be32(&bytes[8], page); });
        EXPECT_EQ(a_->start(), -EIO) << page;
        EXPECT_TRUE(ledger().logged("which cannot be"));
        a_->stop();
        EXPECT_EQ(ledger().leftovers(), "");
        cx_core_reset(a_->card);
        a_->dma_stopped = false;
    }
}

TEST_F(CosimHostileReplies, MorePagesThanThereAreAreNotLent) {
    change_reply(Opcode::query_pages, [](std::vector<u8> &bytes) { store_be32(&bytes[12], 0x7fffffff); });
    EXPECT_EQ(a_->start(), -ENOMEM);
    EXPECT_TRUE(ledger().logged("more than the driver lends"));
}

TEST_F(CosimHostileReplies, ReturningMorePagesThanAskedEndsTheTrust) {
    ASSERT_EQ(a_->start(), 0);
    change_reply(Opcode::manage_pages, [](std::vector<u8> &bytes) { store_be32(&bytes[8], 70000); });
    a_->stop();
    EXPECT_TRUE(ledger().logged("returned 70000 pages"));
    EXPECT_TRUE(a_->dma_stopped);
    EXPECT_EQ(ledger().leftovers(), "");
}

TEST_F(CosimHostileReplies, APageThatWasNotLentIsIgnored) {
    ASSERT_EQ(a_->start(), 0);
    a_->tamper = [](u64, std::vector<u8> &bytes) {
        if (bytes.size() > 200 && bytes.size() % 8 == 0) store_be64(bytes.data(), 0xdead000);
    };
    a_->stop();
    EXPECT_TRUE(ledger().logged("which it was not given"));
    EXPECT_TRUE(ledger().logged("kept pages"));
    EXPECT_EQ(ledger().leftovers(), "");
}

// Random lies in everything small that the card writes: completions, events, command replies.
TEST(CosimHostileFuzz, RandomLiesNeverTouchMemoryThatIsNotTheirs) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        reset_ledger();
        {
            Port a(1), b(2);
            Port::join(a, b);
            std::mt19937 random(seed);
            unsigned rarely = 2 + seed % 40;
            auto lie = [&](u64, std::vector<u8> &bytes) {
                if (bytes.size() > 64 || random() % rarely) return;
                for (unsigned i = random() % 4 + 1; i > 0; --i)
                    bytes[random() % bytes.size()] = static_cast<u8>(random());
            };
            nic_params params = Port::parameters();
            params.channels = 2;
            bool late = seed % 3; // lies from the start, or once everything runs
            for (Port *port : {&a, &b}) {
                port->tolerate_faults = true;
                if (!late) port->tamper = lie;
                if (port->start() == 0 && port->open(params) == 0)
                    port->filter([](nic_filter &f) { f.promiscuous = 1; });
                port->tamper = lie;
            }
            for (unsigned i = 0; i < 200; ++i) {
                for (Port *port : {&a, &b}) {
                    if (!port->driver || !port->channel(i % 2)) continue;
                    port->send(udp(kBroadcast, Family::ipv4, static_cast<u16>(i), 5, pattern(40 + 3 * i, i)),
                               {.queue = i % 2});
                    port->kick(i % 2);
                    port->settle();
                }
                if (i % 50 == 49 && a.driver && a.channel(0)) {
                    a.close();
                    if (a.open(params) == 0) a.filter();
                }
            }
            a.tear_down();
            b.tear_down();
            EXPECT_EQ(a.in_flight() + b.in_flight(), 0u) << seed;
        }
        ASSERT_EQ(ledger().leftovers(), "") << seed;
    }
}

} // namespace
} // namespace niclab::test
