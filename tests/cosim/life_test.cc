// SPDX-License-Identifier: GPL-2.0-or-later
// Bring-up, tear-down, link, health, pages.
#include "cosim/port.h"

namespace niclab::test {
namespace {

using CosimLife = CosimTest;

TEST_F(CosimLife, BringUpAndTearDownLeaveNothingInTheCard) {
    ASSERT_EQ(a_->start(), 0);
    EXPECT_GT(a_->counter("live_pages"), 0u);
    a_->stop();
    EXPECT_EQ(a_->counter("live_pages"), 0u);
    EXPECT_EQ(a_->card_objects(), 0u);
    EXPECT_EQ(ledger().leftovers(), "");
}

TEST_F(CosimLife, OpenAndCloseGiveBackAllThatOpenTook) {
    ASSERT_EQ(a_->start(), 0);
    u64 objects = a_->card_objects();
    usize mappings = a_->mappings.size();
    nic_params params = Port::parameters();
    params.channels = 4;
    for (int lap = 0; lap < 3; ++lap) {
        ASSERT_EQ(a_->open(params), 0);
        ASSERT_EQ(a_->filter(), 0);
        EXPECT_GT(a_->card_objects(), objects);
        a_->close();
        EXPECT_EQ(a_->card_objects(), objects);
        EXPECT_EQ(a_->mappings.size(), mappings);
    }
}

TEST_F(CosimLife, TheCardIsDescribedAsConfigured) {
    ASSERT_EQ(a_->start(), 0);
    nic_info info;
    nic_describe(a_->driver, &info);
    EXPECT_EQ(info.mac[0], 0x02);
    EXPECT_EQ(info.mac[5], 1);
    EXPECT_EQ(info.max_channels, Port::kVectors - 1);
    EXPECT_GE(info.max_mtu, 9000u);
    EXPECT_GE(info.max_lso_bytes, 65536u);
    EXPECT_EQ(nic_health(a_->driver), 0);
}

TEST_F(CosimLife, LinkFollowsThePortAndTheCable) {
    ASSERT_EQ(a_->start(), 0);
    struct nic_link link;
    ASSERT_EQ(nic_get_link(a_->driver, &link), 0);
    EXPECT_FALSE(link.up);
    ASSERT_EQ(a_->open(), 0);
    a_->settle();
    EXPECT_EQ(a_->link_events, 1u);
    ASSERT_EQ(nic_get_link(a_->driver, &link), 0);
    EXPECT_TRUE(link.up);
    EXPECT_EQ(link.speed_mbps, 100000u);
    cx_core_set_cable(a_->card, false);
    a_->settle();
    EXPECT_EQ(a_->link_events, 2u);
    ASSERT_EQ(nic_get_link(a_->driver, &link), 0);
    EXPECT_FALSE(link.up);
    EXPECT_EQ(link.speed_mbps, 0u);
}

TEST_F(CosimLife, ImpossibleParametersAreRefusedWithNothingChanged) {
    ASSERT_EQ(a_->start(), 0);
    u64 objects = a_->card_objects();
    auto refused = [&](auto change) {
        nic_params params = Port::parameters();
        change(params);
        return a_->open(params) == -EINVAL && a_->card_objects() == objects;
    };
    EXPECT_TRUE(refused([](nic_params &p) { p.channels = 0; }));
    EXPECT_TRUE(refused([](nic_params &p) { p.channels = Port::kVectors; }));
    EXPECT_TRUE(refused([](nic_params &p) { p.rx_entries = 96; }));
    EXPECT_TRUE(refused([](nic_params &p) { p.tx_entries = 32; }));
    EXPECT_TRUE(refused([](nic_params &p) { p.rx_entries = 2 * NIC_MAX_RING; }));
    EXPECT_TRUE(refused([](nic_params &p) { p.mtu = 67; }));
    EXPECT_TRUE(refused([](nic_params &p) { p.mtu = 65536; }));
}

TEST_F(CosimLife, OneVectorIsTooFew) {
    Port lonely(9, 2);
    nic_events events{};
    nic *out = nullptr;
    EXPECT_EQ(nic_create(&lonely, 1, &events, &out), -ENOSPC);
    nic_destroy(&out);
    EXPECT_EQ(out, nullptr);
}

TEST_F(CosimLife, CommandsSurviveLostInterrupts) {
    ASSERT_EQ(a_->start(), 0);
    a_->lose_interrupts = true;
    EXPECT_EQ(a_->open(), 0);
    EXPECT_EQ(nic_health(a_->driver), 0);
}

} // namespace
} // namespace niclab::test
