// SPDX-License-Identifier: GPL-2.0-or-later
// Trouble that is put into the card, and pages that it asks for while it runs.
#include "support/registers.h"

namespace niclab::test {
namespace {

class HealthTest : public PortTest {
  protected:
    u8 byte(u64 offset) { return static_cast<u8>(cx_core_read(host.core(), offset, 1)); }
    void set_nic_interface(u32 interface) {
        host.write32(0x14, (host.read32(0x14) & 0xfffff000) | interface << 8);
    }
};

TEST_F(HealthTest, TroubleStandsInTheHealthBufferUntilItIsTakenBack) {
    cx_core_set_health(host.core(), 0x10, false);
    EXPECT_EQ(byte(0x23d), 0x10u);
    EXPECT_EQ(byte(0x238), 0x0bu) << "no reset wanted, severity valid, error";
    EXPECT_EQ(host.read32(0x1010) >> 24, 0x10u);
    EXPECT_EQ(cx_core_health(host.core(), false), 0x10u);
    EXPECT_EQ(cx_core_health(host.core(), true), 0u);
    cx_core_set_health(host.core(), 0, false);
    EXPECT_EQ(byte(0x23d), 0u);
    EXPECT_EQ(byte(0x238), 0u);
}

TEST_F(HealthTest, FatalTroubleAsksForAResetAndEndsWithIt) {
    set_up(true);
    cx_core_set_health(host.core(), 1, true);
    EXPECT_EQ(byte(0x23d), 1u);
    EXPECT_EQ(byte(0x238), 0x8au) << "reset wanted, severity valid, critical";
    set_nic_interface(7);
    EXPECT_EQ(host.read32(0x14) >> 8 & 7, 1u) << "disabled";
    EXPECT_EQ(byte(0x23d), 0u);
    EXPECT_EQ(byte(0x238), 0u);
    EXPECT_FALSE(cx_core_link_up(host.core()));
    driver.register_queue();
    EXPECT_EQ(host.read32(0x14) >> 8 & 7, 0u) << "full again";
    driver.bring_up();
}

class PageRequests : public PortTest {
  protected:
    PageRequests() { listen(1 << 11); }
    // Requests so far: the signed counts.
    std::vector<s32> requests() {
        std::vector<s32> counts;
        for (u64 i = 0; i < port_events().size(); ++i) {
            EXPECT_EQ(event(i)[1], 0x0b);
            EXPECT_EQ(load_be32(event(i).data() + 0x20), 0u) << "function 0";
            counts.push_back(static_cast<s32>(load_be32(event(i).data() + 0x24)));
        }
        return counts;
    }
    void make_until(u32 objects) {
        while (host.counter("live_objects") < objects)
            pds.push_back(driver.alloc(Opcode::alloc_pd));
    }
    void drop_until(u32 objects) {
        for (; host.counter("live_objects") > objects; pds.pop_back())
            must(CommandInput(Opcode::dealloc_pd, 0x10).set(ObjectIn::number, pds.back()));
    }
    u32 take(u32 count) {
        CommandInput input(Opcode::manage_pages, 0x10, static_cast<u16>(ManagePages::take));
        input.set(ManagePagesIn::input_num_entries, count);
        return load_be32(driver.must(input, 0x10 + 8 * count).out.data() + 8);
    }

    std::vector<u32> pds;
};

// Eight objects to a page, eight pages at a time.
TEST_F(PageRequests, ManyObjectsNeedMorePagesAndFewGiveThemBack) {
    make_until(256);
    EXPECT_TRUE(requests().empty());
    make_until(257);
    EXPECT_EQ(requests(), (std::vector<s32>{8}));
    make_until(321);
    EXPECT_EQ(requests().size(), 1u) << "one request at a time";
    driver.give_pages(8);
    EXPECT_EQ(requests(), (std::vector<s32>{8, 8})) << "the next follows";
    driver.give_pages(8);
    EXPECT_EQ(host.counter("live_pages"), 80u + 16);
    EXPECT_EQ(take(100), 0u) << "all of them are needed";
    drop_until(289);
    EXPECT_EQ(requests().size(), 2u) << "slack";
    drop_until(288);
    EXPECT_EQ(requests(), (std::vector<s32>{8, 8, -8}));
    EXPECT_EQ(take(32), 8u);
    drop_until(224);
    EXPECT_EQ(requests(), (std::vector<s32>{8, 8, -8, -8}));
    EXPECT_EQ(take(32), 8u);
    EXPECT_EQ(host.counter("live_pages"), 80u);
    EXPECT_EQ(requests().size(), 4u);
}

TEST_F(PageRequests, WhatCannotBeGivenIsNotAskedForAgain) {
    make_until(257);
    must(CommandInput(Opcode::manage_pages, 0x10, static_cast<u16>(ManagePages::cannot_give)));
    make_until(320);
    EXPECT_EQ(requests().size(), 1u);
    make_until(321);
    EXPECT_EQ(requests(), (std::vector<s32>{8, 16})) << "more objects, another request";
}

TEST_F(PageRequests, PagesThatNobodyAskedForStay) {
    driver.give_pages(50);
    make_until(10);
    EXPECT_TRUE(requests().empty());
}

} // namespace
} // namespace niclab::test
