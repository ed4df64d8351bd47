// SPDX-License-Identifier: GPL-2.0-or-later
// Frames over the wire, both ways.
#include "cosim/port.h"

namespace niclab::test {
namespace {

using namespace scenarios;
using CosimTraffic = CosimTest;

Bytes plain(const Port &to, usize bytes, unsigned seed = 1) {
    return ethernet(mac_of(to), kLocalExperimental, pattern(bytes - 14, seed));
}

TEST_F(CosimTraffic, EverySizeArrivesAsSentInBothDirections) {
    bring_up();
    for (usize bytes = 14; bytes <= 1514; bytes += bytes < 80 || bytes > 1490 ? 1 : 23) {
        for (auto [from, to] : {std::pair{a_.get(), b_.get()}, std::pair{b_.get(), a_.get()}}) {
            Bytes frame = plain(*to, bytes, static_cast<unsigned>(bytes));
            transfer(*from, frame);
            ASSERT_EQ(to->received.size(), 1u) << bytes;
            EXPECT_EQ(to->received[0].frame, padded(frame)) << bytes;
            to->received.clear();
        }
    }
    EXPECT_EQ(a_->in_flight() + b_->in_flight(), 0u);
    EXPECT_EQ(a_->stats().rx_errors + b_->stats().rx_errors, 0u);
}

TEST_F(CosimTraffic, BigFramesUseSeveralFragments) {
    nic_params params = Port::parameters();
    params.mtu = 9000;
    bring_up(params);
    for (usize bytes : {60, 2048, 2049, 4095, 4096, 4097, 8192, 8193, 9000, 9014}) {
        Bytes frame = plain(*b_, bytes, static_cast<unsigned>(bytes));
        transfer(*a_, frame,
                 {.pieces = bytes > 4000 ? std::vector<usize>{1000, 1, 2999} : std::vector<usize>{}});
        ASSERT_EQ(b_->received.size(), 1u) << bytes;
        EXPECT_EQ(b_->received[0].frame, frame) << bytes;
        EXPECT_EQ(b_->received[0].fragments, (bytes + 4095) / 4096) << bytes;
        b_->received.clear();
    }
}

TEST_F(CosimTraffic, RingsWrapManyTimes) {
    bring_up();
    unsigned sent = 0;
    for (int burst = 0; burst < 200; ++burst) {
        for (unsigned i = 0; i < 1 + burst % 9u; ++i, ++sent) {
            // one, two or five blocks each, so that padding at the ring's end is needed in all its lengths
            std::vector<usize> pieces(sent % 3 == 0 ? 0 : sent % 3 == 1 ? 5 : 17, 20);
            ASSERT_EQ(a_->send(plain(*b_, 600, sent), {.pieces = pieces}), 0);
        }
        a_->kick();
        settle();
        ASSERT_EQ(b_->received.size(), sent);
        ASSERT_EQ(b_->received.back().frame, plain(*b_, 600, sent - 1));
    }
    EXPECT_EQ(a_->completed, sent);
    EXPECT_GT(sent, 7 * 128u);
}

TEST_F(CosimTraffic, OneDoorbellServesABurst) {
    bring_up();
    for (unsigned i = 0; i < 32; ++i)
        ASSERT_EQ(a_->send(plain(*b_, 60, i)), 0);
    u64 before = a_->counter("doorbells_send");
    a_->kick();
    a_->kick(); // nothing new: no doorbell
    EXPECT_EQ(a_->counter("doorbells_send"), before + 1);
    settle();
    EXPECT_EQ(b_->received.size(), 32u);
    EXPECT_EQ(a_->completed, 32u);
    EXPECT_EQ(a_->stats().tx_doorbells, 1u);
}

TEST_F(CosimTraffic, AFullRingSaysBusyAndGoesOnAfterCompletions) {
    bring_up();
    unsigned posted = 0;
    while (a_->send(plain(*b_, 60, posted)) == 0)
        ++posted;
    EXPECT_EQ(posted, 128u);
    EXPECT_FALSE(nic_tx_has_room(a_->channel(0)));
    EXPECT_EQ(a_->stats().tx_busy, 1u);
    a_->kick();
    a_->settle();
    EXPECT_TRUE(nic_tx_has_room(a_->channel(0)));
    EXPECT_EQ(a_->completed, posted);
    EXPECT_EQ(b_->counter("rx_drop_out_of_buffer"), posted - 64); // b_ has not polled: its ring held 64
    settle();
    transfer(*a_, plain(*b_, 61));
    EXPECT_EQ(b_->received.size(), 64u + 1);
}

TEST_F(CosimTraffic, StarvedReceiverRecoversWhenMemoryComesBack) {
    bring_up();
    unsigned sent = 0;
    for (; sent < 64; ++sent)
        ASSERT_EQ(a_->send(plain(*b_, 100, sent)), 0);
    a_->kick();
    a_->settle();
    b_->run();
    Ledger &l = ledger();
    // The receiver takes all it has, but no step of its refill succeeds.
    for (int i = 0; i < 8; ++i) {
        l.fail_at = l.steps + 1;
        b_->poll(0);
    }
    EXPECT_EQ(b_->received.size(), 64u);
    EXPECT_GT(b_->refill_failures, 0u);
    // The glue polls again as long as refill fails; then the ring is full and traffic flows without an
    // interrupt's help.
    while (nic_rx_refill(b_->channel(0)) != 0) {
    }
    nic_rx_arm(b_->channel(0));
    transfer(*a_, plain(*b_, 101, 7));
    EXPECT_EQ(b_->received.size(), 65u);
    EXPECT_EQ(b_->received.back().frame, plain(*b_, 101, 7));
}

TEST_F(CosimTraffic, ReceivedPagesOutliveTheDriver) {
    bring_up();
    b_->hold_received = true;
    for (unsigned i = 0; i < 10; ++i)
        transfer(*a_, plain(*b_, 900, i));
    EXPECT_EQ(b_->received.size(), 10u);
    b_->close(); // the pages held are given back after this, in stop()
}

TEST_F(CosimTraffic, EveryMappingOfAPacketIsUndoneOnce) {
    bring_up();
    nic_queue_stats before = b_->stats();
    usize mapped = b_->mappings.size();
    for (unsigned i = 0; i < 200; ++i)
        transfer(*a_, plain(*b_, 60 + i, i), {.pieces = {17, 20}});
    nic_queue_stats a = a_->stats(), b = b_->stats();
    EXPECT_EQ(a.dma_maps - 64, 600u); // three fragments each; its receive ring holds 64
    EXPECT_EQ(a.dma_unmaps, 600u);
    EXPECT_EQ(b.dma_maps - before.dma_maps, 200u); // one fragment per packet at MTU 1500
    EXPECT_EQ(b.dma_unmaps, 200u);
    EXPECT_EQ(b_->mappings.size(), mapped);
}

} // namespace
} // namespace niclab::test
