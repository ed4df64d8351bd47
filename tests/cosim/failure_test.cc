// SPDX-License-Identifier: GPL-2.0-or-later
// Every step fails once; cards that refuse, fall silent or vanish at any moment. Nothing may be left behind.
#include "cosim/port.h"

namespace niclab::test {
namespace {

using namespace scenarios;

// One port's whole life with a bit of everything in it. Stops at the first error, as a kernel would.
class Life {
  public:
    Port port{7};

    int begin() {
        if (int error = port.start()) return error;
        nic_params params = Port::parameters();
        params.channels = 2;
        params.mtu = 4500; // two fragments a frame, the second half a page
        if (int error = port.open(params)) return error;
        if (int error = port.filter([](nic_filter &f) { f.promiscuous = 1; })) return error;
        const unsigned short vlans[] = {1, 2};
        const unsigned char group[1][6] = {{0x33, 0x33, 0, 0, 0, 9}};
        auto filter = [&](nic_filter &f) {
            f.vlan_filter = f.all_multicast = 1;
            f.vlans = vlans;
            f.vlan_count = 2;
            f.addresses = group;
            f.address_count = 1;
        };
        if (int error = port.filter(filter)) return error;
        if (int error = nic_set_vlan_strip(port.driver, 0)) return error;
        struct nic_link link;
        if (int error = nic_get_link(port.driver, &link)) return error;
        struct nic_port_stats stats;
        return nic_get_port_stats(port.driver, &stats);
    }
    // Traffic goes on whatever fails: a packet may be lost, no more.
    void traffic() {
        Bytes frame = ethernet(kBroadcast, kLocalExperimental, pattern(5000, 1));
        for (unsigned i = 0; i < 30; ++i) {
            port.send(frame, {.queue = i % 2, .pieces = {10, 100}});
            port.kick(i % 2);
            cx_core_frame_in(port.card, frame.data(), frame.size());
            port.settle();
        }
    }
    void live() {
        if (begin() == 0) traffic();
        nic_health_calls();
        port.tear_down();
    }
    void nic_health_calls() {
        if (port.driver) nic_health(port.driver);
    }
};

class CosimFailure : public testing::Test {
  protected:
    CosimFailure() { reset_ledger(); }
    static void expect_nothing_left(u64 step) { EXPECT_EQ(ledger().leftovers(), "") << "step " << step; }
    static void expect_card_clean(Port &port, u64 step) {
        EXPECT_EQ(port.card_objects(), 0u) << "step " << step;
        EXPECT_EQ(port.counter("live_pages"), 0u) << "step " << step;
    }
};

TEST_F(CosimFailure, EveryAllocationAndMappingInTurn) {
    u64 step = 0;
    for (bool failed = true; failed && !HasFailure();) {
        reset_ledger();
        Life life;
        ledger().fail_at = ++step;
        life.live();
        failed = ledger().failed;
        expect_nothing_left(step);
        expect_card_clean(life.port, step);
    }
    EXPECT_GT(step, 300u); // boot pages, rings, buffers, mappings of traffic
}

TEST_F(CosimFailure, EveryCommandRefusedInTurn) {
    u64 step = 0;
    for (bool refused = true; refused && !HasFailure();) {
        reset_ledger();
        Life life;
        life.port.refuse_command = ++step;
        life.live();
        refused = life.port.refused;
        expect_nothing_left(step);
        expect_card_clean(life.port, step);
        EXPECT_EQ(refused, ledger().logged("internal error (0x1), syndrome 0x2a")) << step;
    }
    EXPECT_GT(step, 60u);
}

TEST_F(CosimFailure, EveryDestroyRefusedInTurn) {
    u64 step = 0;
    for (bool refused = true; refused && !HasFailure();) {
        reset_ledger();
        Life life;
        life.port.refuse_destroys = true;
        life.port.refuse_command = ++step;
        life.live();
        refused = life.port.refused;
        expect_nothing_left(step);
    }
    EXPECT_GT(step, 40u);
}

// Counts the accesses of a whole life, then lets the card fail at points spread over them.
class Failing : public Port {
  public:
    using Port::Port;
    u64 accesses = 0, fails_at = 0;
    bool vanish = true;
    u32 read32(u32 offset) override {
        count();
        return Port::read32(offset);
    }
    void write32(u32 offset, u32 value) override {
        count();
        Port::write32(offset, value);
    }

  private:
    void count() {
        if (++accesses != fails_at) return;
        (vanish ? gone : silent) = true;
    }
};

TEST_F(CosimFailure, ACardThatVanishesAtAnyAccessLeavesNothing) {
    u64 step = 0, last = 1;
    for (; step < last && !HasFailure(); ++step) {
        reset_ledger();
        Failing port(7);
        port.fails_at = step; // 0: not at all, to count
        if (port.start() == 0 && port.open() == 0 && port.filter() == 0) {
            Bytes frame = ethernet(kBroadcast, kLocalExperimental, pattern(500, 1));
            for (int i = 0; i < 3; ++i) {
                port.send(frame);
                port.kick();
                port.settle();
            }
        }
        if (port.driver && port.gone) {
            EXPECT_EQ(nic_health(port.driver), -EIO) << step;
        }
        if (step == 0) last = port.accesses;
        port.tear_down();
        expect_nothing_left(step);
    }
    EXPECT_GT(step, 100u);
}

TEST_F(CosimFailure, ACardThatFallsSilentIsGivenUpAfterOneTimeout) {
    Failing port(7);
    port.vanish = false;
    ASSERT_EQ(port.start(), 0);
    ASSERT_EQ(port.open(), 0);
    port.silent = true;
    u64 before = ledger().now_ms;
    EXPECT_EQ(port.filter(), -ETIMEDOUT);
    u64 waited = ledger().now_ms - before;
    EXPECT_GE(waited, 60'000u);
    EXPECT_LT(waited, 70'000u);
    EXPECT_TRUE(ledger().logged("MODIFY_NIC_VPORT_CONTEXT (0x755) not answered within 60000 ms"));
    EXPECT_TRUE(port.dma_stopped);
    before = ledger().now_ms;
    EXPECT_EQ(port.filter(), -EIO);
    EXPECT_EQ(nic_health(port.driver), -EIO);
    port.tear_down();
    EXPECT_EQ(ledger().now_ms, before); // nothing waits for a card that was given up
    expect_nothing_left(0);
}

TEST_F(CosimFailure, AGivenUpCardWorksAgainAfterAReset) {
    Port port(7);
    ASSERT_EQ(port.start(), 0);
    port.silent = true;
    EXPECT_LT(port.open(), 0);
    port.tear_down();
    expect_nothing_left(0);
    // What a function-level reset and a new probe do.
    cx_core_reset(port.card);
    port.silent = port.dma_stopped = false;
    EXPECT_EQ(port.start(), 0);
    EXPECT_EQ(port.open(), 0);
    port.tear_down();
    expect_card_clean(port, 0);
}

TEST_F(CosimFailure, AMappingFailureInABurstStrandsNobody) {
    Port port(7);
    ASSERT_EQ(port.start(), 0);
    ASSERT_EQ(port.open(), 0);
    Bytes frame = ethernet(kBroadcast, kLocalExperimental, pattern(500, 1));
    ASSERT_EQ(port.send(frame), 0);
    ledger().fail_at = ledger().steps + 3; // the third fragment of the next
    EXPECT_EQ(port.send(frame, {.pieces = {10, 10}}), -ENOMEM);
    ASSERT_EQ(port.send(frame), 0);
    port.kick();
    port.settle();
    EXPECT_EQ(port.completed, 2u);
    EXPECT_EQ(port.stats().tx_map_errors, 1u);
    EXPECT_EQ(port.counter("tx_frames"), 2u);
    port.tear_down();
    expect_nothing_left(0);
    expect_card_clean(port, 0);
}

TEST_F(CosimFailure, PacketsInFlightAtCloseComeBack) {
    Port port(7);
    ASSERT_EQ(port.start(), 0);
    ASSERT_EQ(port.open(), 0);
    Bytes frame = ethernet(kBroadcast, kLocalExperimental, pattern(500, 1));
    for (int i = 0; i < 20; ++i)
        ASSERT_EQ(port.send(frame, {.pieces = {100}}), 0); // never rung
    port.close();
    EXPECT_EQ(port.in_flight(), 0u);
    port.stop();
    expect_nothing_left(0);
    expect_card_clean(port, 0);
}

TEST_F(CosimFailure, IllegalPacketsAreRefused) {
    Port port(7);
    ASSERT_EQ(port.start(), 0);
    ASSERT_EQ(port.open(), 0);
    int cookie;
    plat_page *page = plat_page_alloc(&port, 0, 1);
    unsigned char header[300] = {};
    auto refused = [&](auto change) {
        nic_tx_packet packet{};
        packet.cookie = &cookie;
        packet.frag_count = 1;
        packet.frags[0] = {page, 0, 100};
        change(packet);
        return nic_tx_post(port.channel(0), &packet) == -EINVAL;
    };
    EXPECT_TRUE(refused([](nic_tx_packet &p) { p.cookie = nullptr; }));
    EXPECT_TRUE(refused([](nic_tx_packet &p) { p.frag_count = 0; }));
    EXPECT_TRUE(refused([](nic_tx_packet &p) { p.frag_count = NIC_MAX_FRAGS + 1; }));
    EXPECT_TRUE(refused([](nic_tx_packet &p) { p.frags[0].bytes = 0; }));
    EXPECT_TRUE(refused([](nic_tx_packet &p) { p.mss = 100; }));
    EXPECT_TRUE(refused([&](nic_tx_packet &p) { p.header = header, p.header_bytes = 54; }));
    EXPECT_TRUE(refused([&](nic_tx_packet &p) { p.header = header, p.header_bytes = 300, p.mss = 100; }));
    EXPECT_TRUE(refused([&](nic_tx_packet &p) { p.header = header, p.header_bytes = 10, p.mss = 100; }));
    EXPECT_TRUE(refused([&](nic_tx_packet &p) { p.header = header, p.header_bytes = 54, p.mss = 70000; }));
    plat_page_unref(page);
    port.kick(); // none of them reaches the card
    EXPECT_EQ(port.counter("send_wqes"), 0u);
    port.tear_down();
    expect_nothing_left(0);
}

} // namespace
} // namespace niclab::test
