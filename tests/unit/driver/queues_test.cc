// SPDX-License-Identifier: GPL-2.0-or-later
// Event and completion queues, send and receive rings: bytes worked out by hand from the manual's tables.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "core/channel.h"
#include "core/rx/checksum.h"
#include "support/scripted_card.h"

namespace niclab::test {
namespace {

using namespace driver;

// 16 bytes written as in the manual: four big-endian words.
std::vector<u8> words(std::initializer_list<u32> list) {
    std::vector<u8> bytes;
    for (u32 word : list) {
        bytes.resize(bytes.size() + 4);
        store_be32(bytes.data() + bytes.size() - 4, word);
    }
    return bytes;
}

class QueuesTest : public testing::Test {
  protected:
    static constexpr u32 kUarPage = 0x40, kUar = kUarPage * 4096, kPd = 0x11, kTis = 0x15, kMkey = 0x31;

    void SetUp() override {
        reset_ledger();
        card_ = std::make_unique<ScriptedCard>();
        card_->answer = [this](const ScriptedCard::Seen &seen, std::vector<u8> &out) {
            number(seen.opcode, out);
        };
        commands_ = CommandInterface::make(card_.get()).take();
        ASSERT_TRUE(resources_.allocate_uar(*commands_).ok());
        ASSERT_TRUE(resources_.allocate_rest(*commands_).ok());
        records_ = DmaBlock::make(card_.get(), 256).take();
    }
    void TearDown() override {
        page_ ? plat_page_unref(page_) : void();
        records_ = DmaBlock();
        resources_ = Resources();
        commands_.reset();
        EXPECT_EQ(ledger().leftovers(), "");
    }
    static void number(u16 opcode, std::vector<u8> &out) {
        u32 value = 0x77;
        switch (static_cast<Opcode>(opcode)) {
        case Opcode::alloc_uar:
            value = kUarPage;
            break;
        case Opcode::alloc_pd:
            value = kPd;
            break;
        case Opcode::create_tis:
            value = kTis;
            break;
        case Opcode::create_mkey:
            value = kMkey;
            break;
        case Opcode::create_cq:
            value = 0x123456;
            break;
        case Opcode::create_sq:
            value = 0xabcdef;
            break;
        case Opcode::create_rq:
            value = 0x654321;
            break;
        case Opcode::create_eq:
            value = 0x5a;
            break;
        default:
            break;
        }
        store_be32(&out[8], value);
    }
    Record record(unsigned i) { return {records_.cpu() + 64 * i, records_.bus() + 64 * i}; }

    u32 arm_number_ = 2;
    TxStats tx_stats_;
    RxStats rx_stats_;
    plat_page *page_ = nullptr;
    std::unique_ptr<ScriptedCard> card_;
    Owned<CommandInterface> commands_;
    Resources resources_;
    DmaBlock records_;
};

// ---- Event queues
// ----------------------------------------------------------------------------------------------------------

class EqTest : public QueuesTest {
  protected:
    void make() {
        eq_ = Eq::make(*commands_, {2, 1ull << 9 | 1ull << 11, 3, kUarPage}).take();
        ring_ = load_be64(&card_->find(Opcode::create_eq)->in[0x110]);
    }
    void TearDown() override {
        eq_ = Eq();
        QueuesTest::TearDown();
    }
    void write(unsigned slot, u8 owner, u8 type) {
        card_->card_write(ring_ + 64 * slot + 1, &type, 1);
        card_->card_write(ring_ + 64 * slot + 0x3f, &owner, 1);
    }
    Eq eq_;
    u64 ring_ = 0;
};

TEST_F(EqTest, IsCreatedWithItsEventsVectorAndPages) {
    make();
    const auto &in = card_->find(Opcode::create_eq)->in;
    ASSERT_EQ(in.size(), 0x118u);
    EXPECT_EQ(load_be32(&in[0x10 + 0x0c]), 2u << 24 | kUarPage);
    EXPECT_EQ(load_be32(&in[0x10 + 0x14]), 3u);
    EXPECT_EQ(load_be64(&in[0x58]), 0xa00u);
    for (unsigned i = 0; i < 4; ++i)
        EXPECT_EQ(card_->memory(ring_ + 64 * i, 64)[0x3f] & 1, 1) << i;
}

TEST_F(EqTest, TheOwnerBitTurnsWithEachLap) {
    make();
    EXPECT_EQ(eq_.peek(), nullptr);
    for (unsigned n = 0; n < 13; ++n) {
        write(n % 4, n / 4 % 2, static_cast<u8>(n));
        const u8 *event = eq_.peek();
        ASSERT_NE(event, nullptr) << n;
        EXPECT_EQ(event[1], n);
        eq_.pop();
        EXPECT_EQ(eq_.peek(), nullptr) << n;
    }
    card_->writes.clear();
    eq_.arm();
    ASSERT_EQ(card_->writes.size(), 1u);
    EXPECT_EQ(card_->writes[0], (std::pair<u32, u32>{kUar + 0x40, 0x5a00000d}));
}

// ---- Completion queues
// -----------------------------------------------------------------------------------------------------

TEST_F(QueuesTest, CompletionQueueLapsArmingAndRecord) {
    {
        Cq cq = Cq::make(resources_, {2, 0x5a, record(1), &arm_number_}).take();
        const auto &in = card_->find(Opcode::create_cq)->in;
        EXPECT_EQ(load_be32(&in[0x10 + 0x0c]), 2u << 24 | kUarPage);
        EXPECT_EQ(load_be32(&in[0x10 + 0x14]), 0x5au);
        EXPECT_EQ(load_be64(&in[0x10 + 0x38]), record(1).bus);
        u64 ring = load_be64(&in[0x110]);
        for (unsigned i = 0; i < 4; ++i)
            EXPECT_EQ(card_->memory(ring + 64 * i, 64)[0x3f], 0xf1);
        EXPECT_EQ(cq.peek(), nullptr);
        for (unsigned n = 0; n < 11; ++n) {
            u8 op_own = static_cast<u8>(0x20 | (n / 4 % 2));
            card_->card_write(ring + 64 * (n % 4) + 0x3f, &op_own, 1);
            ASSERT_NE(cq.peek(), nullptr) << n;
            cq.pop();
            EXPECT_EQ(cq.peek(), nullptr) << n;
        }
        u8 invalid = 0xf0; // right owner, no completion
        card_->card_write(ring + 64 * 3 + 0x3f, &invalid, 1);
        EXPECT_EQ(cq.peek(), nullptr);
        cq.publish();
        cq.arm();
        EXPECT_EQ(load_be32(record(1).cpu), 11u);
        EXPECT_EQ(load_be32(record(1).cpu + 4), 2u << 28 | 11u);
        ASSERT_EQ(card_->rings.size(), 1u);
        EXPECT_EQ(card_->rings[0].first, kUar + 0x20);
        EXPECT_EQ(card_->rings[0].second, (2ull << 28 | 11ull) << 32 | 0x123456);
    }
}

// ---- Send ring
// -------------------------------------------------------------------------------------------------------------

class SendTest : public QueuesTest {
  protected:
    void SetUp() override {
        QueuesTest::SetUp();
        ring_ = TxRing::make(resources_, {6, 0x5a, record(0), record(1), &arm_number_, &tx_stats_}).take();
        wqes_ = load_be64(&card_->find(Opcode::create_sq)->in[0x110]);
        page_ = plat_page_alloc(card_.get(), 0, 1);
    }
    void TearDown() override {
        ring_.reset();
        QueuesTest::TearDown();
    }
    nic_tx_packet packet(unsigned fragments = 1) {
        nic_tx_packet p{};
        p.cookie = this;
        p.segments = 1;
        p.wire_bytes = 100;
        p.frag_count = fragments;
        for (unsigned i = 0; i < fragments; ++i)
            p.frags[i] = {page_, 64 * i, 100 + i};
        return p;
    }
    // The driver's mapping number `i`, oldest first.
    u64 mapped(unsigned i) {
        std::vector<u64> streaming;
        for (auto &[bus, mapping] : card_->mappings)
            if (!mapping.coherent) streaming.push_back(bus);
        return streaming.at(i);
    }
    std::vector<u8> wqe(unsigned block, usize bytes) { return card_->memory(wqes_ + 64 * block, bytes); }

    Owned<TxRing> ring_;
    u64 wqes_ = 0;
};

TEST_F(SendTest, IsCreatedOnItsTisAndMadeReady) {
    const auto &in = card_->find(Opcode::create_sq)->in;
    EXPECT_EQ(load_be32(&in[0x20]), 1u << 28); // flush in error, state reset
    EXPECT_EQ(load_be32(&in[0x28]), 0x123456u);
    EXPECT_EQ(load_be32(&in[0x40]), 1u << 16);
    EXPECT_EQ(load_be32(&in[0x4c]), kTis);
    EXPECT_EQ(load_be32(&in[0x50]), 1u << 28); // cyclic
    EXPECT_EQ(load_be32(&in[0x58]), kPd);
    EXPECT_EQ(load_be64(&in[0x60]), record(1).bus);
    EXPECT_EQ(load_be32(&in[0x70]), 6u << 16 | 6u);
    const auto &modify = card_->find(Opcode::modify_sq)->in;
    EXPECT_EQ(load_be32(&modify[0x08]), 0xabcdefu); // from state reset
    EXPECT_EQ(load_be32(&modify[0x20]), 1u << 20);  // to ready
}

TEST_F(SendTest, APlainPacketIsOneBlock) {
    auto p = packet(2);
    p.checksum = 1;
    p.vlan_insert = 1;
    p.vlan_tci = 0xb123;
    ASSERT_EQ(ring_->post(p), 0);
    u64 first = mapped(0), second = mapped(1);
    EXPECT_EQ(wqe(0, 64), words({
                              0x0000000a,
                              0xabcdef04,
                              0,
                              0, // SEND, index 0, four units
                              0,
                              0xc0000000,
                              0,
                              0x8000b123, // both checksums, VLAN
                              100,
                              kMkey << 8 | 0x4e,
                              static_cast<u32>(first >> 32),
                              static_cast<u32>(first), //
                              101,
                              kMkey << 8 | 0x4e,
                              static_cast<u32>(second >> 32),
                              static_cast<u32>(second),
                          }));
    EXPECT_TRUE(card_->rings.empty());
}

TEST_F(SendTest, RingingAsksForOneCompletionAndTellsTheCount) {
    ASSERT_EQ(ring_->post(packet()), 0);
    ASSERT_EQ(ring_->post(packet(3)), 0); // two blocks
    ring_->ring();
    EXPECT_EQ(wqe(0, 16), words({0x0000000a, 0xabcdef03, 0, 0}));
    EXPECT_EQ(wqe(1, 16), words({0x0000010a, 0xabcdef05, 0x00000008, 0}));
    EXPECT_EQ(load_be32(record(1).cpu + 4), 3u);
    ASSERT_EQ(card_->rings.size(), 1u);
    EXPECT_EQ(card_->rings[0].first, kUar + 0x800);
    EXPECT_EQ(card_->rings[0].second, 0x0000010aabcdef05u);
}

TEST_F(SendTest, LargeSendsInlineTheirHeadersWithTheTag) {
    u8 header[54];
    for (unsigned i = 0; i < sizeof(header); ++i)
        header[i] = static_cast<u8>(i);
    auto p = packet();
    p.header = header;
    p.header_bytes = sizeof(header);
    p.mss = 1448;
    p.checksum = 1;
    p.vlan_insert = 1;
    p.vlan_tci = 0x0007;
    ASSERT_EQ(ring_->post(p), 0);
    auto raw = wqe(0, 128);
    // 58 bytes of header: two in the Ethernet segment, 56 in four units; one data segment: seven units.
    EXPECT_EQ(std::vector<u8>(raw.begin(), raw.begin() + 16), words({0x0000000e, 0xabcdef07, 0, 0}));
    EXPECT_EQ(load_be32(&raw[0x14]), 0xc0000000u | 1448);
    EXPECT_EQ(load_be16(&raw[0x1c]), 58);
    std::vector<u8> expected(header, header + 12);
    for (u8 byte : {0x81, 0x00, 0x00, 0x07})
        expected.push_back(byte);
    expected.insert(expected.end(), header + 12, header + 54);
    EXPECT_EQ(std::vector<u8>(raw.begin() + 0x1e, raw.begin() + 0x1e + 58), expected);
    EXPECT_EQ(load_be32(&raw[0x60]), 100u);
    EXPECT_EQ(load_be64(&raw[0x68]), mapped(0));
}

TEST_F(SendTest, AWqeThatWouldWrapIsPrecededByNops) {
    nic_tx_done done[64];
    for (unsigned i = 0; i < 62; ++i)
        ASSERT_EQ(ring_->post(packet()), 0);
    ring_->ring();
    u64 cq = load_be64(&card_->find(Opcode::create_cq)->in[0x110]);
    card_->card_write(cq + 0x3c, std::vector<u8>{0, 61, 0, 0}.data(), 4);
    ASSERT_EQ(ring_->reap(done, 64), 62u);
    ASSERT_EQ(ring_->post(packet(20)), 0); // 22 units, six blocks: two NOPs come first
    ring_->ring();
    EXPECT_EQ(wqe(62, 16), words({0x00003e00, 0xabcdef01, 0, 0}));
    EXPECT_EQ(wqe(63, 16), words({0x00003f00, 0xabcdef01, 0, 0}));
    EXPECT_EQ(wqe(0, 16), words({0x0000400a, 0xabcdef16, 0x00000008, 0}));
    EXPECT_EQ(load_be32(record(1).cpu + 4), 70u);
    // The completion of the packet takes the NOPs along, silently.
    card_->card_write(cq + 64 + 0x3c, std::vector<u8>{0, 64, 0, 0}.data(), 4);
    EXPECT_EQ(ring_->reap(done, 64), 1u);
    EXPECT_EQ(tx_stats_.unmaps, 82u);
}

TEST_F(SendTest, ReapingInSmallStepsKeepsTheOrder) {
    int cookies[10];
    for (int &cookie : cookies) {
        auto p = packet();
        p.cookie = &cookie;
        ASSERT_EQ(ring_->post(p), 0);
    }
    ring_->ring();
    u64 cq = load_be64(&card_->find(Opcode::create_cq)->in[0x110]);
    card_->card_write(cq + 0x3c, std::vector<u8>{0, 9, 0, 0}.data(), 4);
    nic_tx_done done[3];
    for (unsigned i = 0; i < 10; i += 3) {
        unsigned n = ring_->reap(done, 3);
        ASSERT_EQ(n, i < 9 ? 3u : 1u);
        for (unsigned j = 0; j < n; ++j)
            EXPECT_EQ(done[j].cookie, &cookies[i + j]);
    }
    EXPECT_EQ(ring_->reap(done, 3), 0u);
}

// ---- Receive ring
// ----------------------------------------------------------------------------------------------------------

class ReceiveTest : public QueuesTest {
  protected:
    void make(usize frame_bytes) {
        ring_ = RxRing<FragmentMemory>::make(
                    resources_, {6, frame_bytes, true, 0x5a, record(0), record(1), &arm_number_, &rx_stats_})
                    .take();
        wqes_ = load_be64(&card_->find(Opcode::create_rq)->in[0x110]);
    }
    void TearDown() override {
        ring_.reset();
        QueuesTest::TearDown();
    }
    Owned<RxRing<FragmentMemory>> ring_;
    u64 wqes_ = 0;
};

TEST_F(ReceiveTest, OneFragmentIsOneSegmentOfSixteenBytes) {
    make(1522);
    const auto &in = card_->find(Opcode::create_rq)->in;
    EXPECT_EQ(load_be32(&in[0x20]), 1u << 18); // strip, flush in error
    EXPECT_EQ(load_be32(&in[0x28]), 0x123456u);
    EXPECT_EQ(load_be32(&in[0x2c]), 0x77u << 24);
    EXPECT_EQ(load_be32(&in[0x70]), 4u << 16 | 6u);
    auto segment = card_->memory(wqes_, 16);
    EXPECT_EQ(load_be32(&segment[0]), 2048u);
    EXPECT_EQ(load_be32(&segment[4]), kMkey << 8 | 0x4e);
    EXPECT_NE(card_->plat::find(load_be64(&segment[8]), 2048, true), nullptr);
    EXPECT_EQ(load_be32(record(1).cpu), 64u); // all posted
}

TEST_F(ReceiveTest, ThreeFragmentsEndWithTheTerminator) {
    make(9022);
    EXPECT_EQ(load_be32(&card_->find(Opcode::create_rq)->in[0x70]), 6u << 16 | 6u);
    auto raw = card_->memory(wqes_ + 64 * 63, 64);
    EXPECT_EQ(load_be32(&raw[0x00]), 4096u);
    EXPECT_EQ(load_be32(&raw[0x10]), 4096u);
    EXPECT_EQ(load_be32(&raw[0x20]), 2048u);
    EXPECT_EQ(std::vector<u8>(raw.begin() + 0x30, raw.end()), words({0, 0x100, 0, 0}));
}

TEST_F(ReceiveTest, FourFragmentsNeedNoTerminator) {
    make(4 * 4096);
    auto raw = card_->memory(wqes_, 64);
    EXPECT_EQ(load_be32(&raw[0x30]), 4096u);
    EXPECT_EQ(load_be32(&raw[0x34]), kMkey << 8 | 0x4e);
}

TEST_F(ReceiveTest, TwoSmallFragmentsShareAPage) {
    usize before = ledger().pages.size();
    make(1522);
    EXPECT_EQ(ledger().pages.size() - before, 32u);
}

// ---- Checksum rule
// ---------------------------------------------------------------------------------------------------------

std::vector<u8> ip_frame(u16 ethertype, usize ip_bytes, usize padding, u8 protocol = 6) {
    std::vector<u8> frame(14 + ip_bytes + padding);
    store_be16(&frame[12], ethertype);
    if (ethertype == 0x0800) {
        store_be16(&frame[16], static_cast<u16>(ip_bytes));
        frame[23] = protocol;
    } else {
        store_be16(&frame[18], static_cast<u16>(ip_bytes - 40));
        frame[20] = protocol;
    }
    return frame;
}

TEST(ReceiveChecksum, CountsOnlyWhenItCoversTheWholeFrame) {
    auto covers = [](const std::vector<u8> &frame) { return sum_covers_frame(frame.data(), frame.size()); };
    EXPECT_TRUE(covers(ip_frame(0x0800, 100, 0)));
    EXPECT_TRUE(covers(ip_frame(0x86dd, 100, 0)));
    EXPECT_FALSE(covers(ip_frame(0x0800, 100, 1)));
    EXPECT_FALSE(covers(ip_frame(0x86dd, 100, 6)));
    EXPECT_FALSE(covers(ip_frame(0x0800, 100, 0, 132))); // SCTP
    EXPECT_FALSE(covers(ip_frame(0x8100, 100, 0)));
    EXPECT_FALSE(covers(ip_frame(0x0806, 100, 0)));
    EXPECT_FALSE(covers(ip_frame(0x0800, 50, 0))); // 64 bytes: the card may have padded
    EXPECT_TRUE(covers(ip_frame(0x0800, 51, 0)));
}

} // namespace
} // namespace niclab::test
