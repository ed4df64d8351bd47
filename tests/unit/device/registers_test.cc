// SPDX-License-Identifier: GPL-2.0-or-later
// ACCESS_REG and the port behind it: link state, MTU, speed, counters.
#include <gtest/gtest.h>

#include "support/registers.h"

namespace niclab::test {
namespace {

// ---- link state
TEST_F(PortTest, IsDownUntilSoftwareRaisesIt) {
    EXPECT_FALSE(cx_core_link_up(host.core()));
    EXPECT_EQ(vport_state(), 0u);
    CommandResult down = must(paos(kRead));
    EXPECT_EQ(load_be32(down.out.data() + kImage), 0x0001'0202u) << "port 1, admin down, oper down";
    set_up(true);
    EXPECT_TRUE(cx_core_link_up(host.core()));
    EXPECT_EQ(vport_state(), 1u);
    EXPECT_EQ(load_be32(must(paos(kRead)).out.data() + kImage), 0x0001'0101u);
}

TEST_F(PortTest, TellsSoftwareOnlyWhenItsStateReallyChanges) {
    listen();
    set_up(false); // it is
    set_up(true);
    set_up(true);
    cx_core_set_cable(host.core(), true); // it is
    cx_core_set_cable(host.core(), false);
    set_up(false); // already down
    cx_core_set_cable(host.core(), true);
    set_up(true);
    EXPECT_EQ(port_events(), (std::vector<u32>{4, 1, 4}));
}

TEST_F(PortTest, WithoutACableIsAdministrativelyUpAndOperationallyDown) {
    set_up(true);
    cx_core_set_cable(host.core(), false);
    EXPECT_EQ(load_be32(must(paos(kRead)).out.data() + kImage), 0x0001'0102u);
    CommandResult vport = driver.must({Opcode::query_vport_state, 0x10}, 0x10);
    EXPECT_EQ(vport.get(QueryVportStateOut::admin_state), 1u);
    EXPECT_EQ(vport.get(QueryVportStateOut::state), 0u);
}

TEST_F(PortTest, AWriteWithoutItsEnableBitChangesNothing) {
    must(paos(kWrite, 1, 0));
    EXPECT_FALSE(cx_core_link_up(host.core()));
}

TEST_F(PortTest, RefusesStatesThatAreNone) {
    for (u32 admin : {0u, 3u, 15u})
        EXPECT_EQ(run(paos(kWrite, admin, 1)).status(), Status::bad_parameter) << admin;
}

// ---- MTU
TEST_F(PortTest, MtuIsCountedWithHeaderTagAndFcs) {
    CommandResult result = must(pmtu(kRead));
    EXPECT_EQ(result.get(Pmtu::max_mtu, kImage), 10000u);
    EXPECT_EQ(result.get(Pmtu::oper_mtu, kImage), 1522u);
    must(pmtu(kWrite, 9022));
    result = must(pmtu(kRead));
    EXPECT_EQ(result.get(Pmtu::admin_mtu, kImage), 9022u);
    EXPECT_EQ(result.get(Pmtu::oper_mtu, kImage), 9022u);
}

TEST_F(PortTest, MtuOutOfRangeIsRefusedAndTheOldOneStays) {
    for (u32 mtu : {0u, 89u, 10001u, 0xffffu})
        EXPECT_EQ(run(pmtu(kWrite, mtu)).status(), Status::bad_parameter) << mtu;
    for (u32 mtu : {90u, 10000u})
        EXPECT_TRUE(run(pmtu(kWrite, mtu)).ok()) << mtu;
    EXPECT_EQ(must(pmtu(kRead)).get(Pmtu::oper_mtu, kImage), 10000u);
}

// ---- counters
std::vector<u8> frame(u8 first, usize bytes, std::vector<u8> behind_addresses = {0x08, 0x00}) {
    std::vector<u8> f(bytes, 0);
    f[0] = first;
    if (first == 0xff) std::fill(f.begin(), f.begin() + 6, u8{0xff});
    std::copy(behind_addresses.begin(), behind_addresses.end(), f.begin() + 12);
    return f;
}

TEST_F(PortTest, CountsReceivedFramesByCastSizeAndPriorityWithFcs) {
    set_up(true);
    host.frame_in(frame(0x02, 60));                            // unicast, 64 bytes on the wire
    host.frame_in(frame(0x01, 61));                            // multicast, 65
    host.frame_in(frame(0xff, 123));                           // broadcast, 127
    host.frame_in(frame(0x02, 124, {0x81, 0x00, 0xa0, 0x07})); // unicast, 128, priority 5
    EXPECT_EQ(count(0x00, 0x08), 4u) << "frames received";
    EXPECT_EQ(count(0x00, 0x28), 64u + 65 + 127 + 128) << "octets received";
    EXPECT_EQ(count(0x00, 0x40), 1u) << "multicast";
    EXPECT_EQ(count(0x00, 0x48), 1u) << "broadcast";
    EXPECT_EQ(count(0x01, 0x08), 2u) << "RFC 2863 unicast";
    EXPECT_EQ(count(0x01, 0x48), 1u) << "RFC 2863 multicast";
    EXPECT_EQ(count(0x01, 0x50), 1u) << "RFC 2863 broadcast";
    EXPECT_EQ(count(0x02, 0x10), 4u) << "RFC 2819 packets";
    EXPECT_EQ(count(0x02, 0x58), 1u) << "64 octets";
    EXPECT_EQ(count(0x02, 0x60), 2u) << "65 to 127 octets";
    EXPECT_EQ(count(0x02, 0x68), 1u) << "128 to 255 octets";
    EXPECT_EQ(count(0x10, 0x20, 5), 1u) << "frames of priority 5";
    EXPECT_EQ(count(0x10, 0x00, 5), 128u) << "octets of priority 5";
    EXPECT_EQ(count(0x10, 0x20, 0), 3u) << "frames without a tag";
}

TEST_F(PortTest, CountsFramesThatAreTooLong) {
    set_up(true);
    host.frame_in(frame(0x02, 1519)); // one more than 1522 with FCS
    EXPECT_EQ(count(0x00, 0x60), 1u);
    EXPECT_EQ(count(0x01, 0x18), 1u);
    EXPECT_EQ(count(0x02, 0x38), 1u);
    EXPECT_EQ(count(0x03, 0x50), 1u);
    EXPECT_EQ(count(0x00, 0x08), 0u) << "not a good frame";
}

TEST_F(PortTest, GroupsOfAPerfectWireReadAsZeros) {
    set_up(true);
    host.frame_in(frame(0x02, 60));
    for (u32 group : {0x05u, 0x16u}) {
        CommandResult result = must(ppcnt(group));
        EXPECT_EQ(load_be32(result.out.data() + kImage), 0x00010000u | group);
        for (usize at = 8; at < 0x100; at += 4)
            EXPECT_EQ(load_be32(result.out.data() + kImage + at), 0u) << group << " at " << at;
    }
}

TEST_F(PortTest, CountsLinkDowns) {
    set_up(true);
    cx_core_set_cable(host.core(), false);
    set_up(false);
    cx_core_set_cable(host.core(), true);
    EXPECT_EQ(load_be32(must(ppcnt(0x12)).out.data() + kImage + 8 + 0xc0), 1u);
}

TEST_F(PortTest, ClearingAGroupReturnsTheLastValuesAndLeavesOtherGroups) {
    set_up(true);
    host.frame_in(frame(0x02, 60));
    CommandResult last = must(ppcnt(0x00, 0, 1));
    EXPECT_EQ(load_be64(last.out.data() + kImage + 8 + 0x08), 1u);
    EXPECT_EQ(count(0x00, 0x08), 0u);
    EXPECT_EQ(count(0x02, 0x10), 1u);
    host.frame_in(frame(0x02, 60));
    EXPECT_EQ(count(0x00, 0x08), 1u);
    EXPECT_EQ(count(0x02, 0x10), 2u);
}

TEST_F(PortTest, EchoesTheSelectorOfACounterGroup) {
    CommandResult result = must(ppcnt(0x10, 3));
    EXPECT_EQ(load_be32(result.out.data() + kImage), 0x0001'0010u);
    EXPECT_EQ(load_be32(result.out.data() + kImage + 4), 3u);
}

TEST_F(PortTest, RefusesCounterGroupsItDoesNotHaveAndPrioritiesWhereThereAreNone) {
    for (u32 group : {0x04u, 0x06u, 0x11u, 0x13u, 0x20u, 0x3fu})
        EXPECT_EQ(run(ppcnt(group)).status(), Status::bad_parameter) << group;
    EXPECT_EQ(run(ppcnt(0x00, 1)).status(), Status::bad_parameter);
}

// ---- the command
TEST_F(PortTest, RefusesRegistersItDoesNotHave) {
    // Among them those of a management interface that no capability offers.
    for (u16 id : {0x0000, 0x5001, 0x6002, 0xc00e, 0xffff})
        EXPECT_EQ(run(access(id, kRead, 0x100)).status(), Status::bad_parameter) << id;
    EXPECT_EQ(host.counter("guest_errors"), 5u);
}

TEST_F(PortTest, RefusesOtherPorts) {
    for (u32 port : {0u, 2u, 255u}) {
        EXPECT_EQ(run(paos(kRead).set(Paos::local_port, port, kImage)).status(), Status::bad_parameter);
        EXPECT_EQ(run(paos(kWrite, 1, 1).set(Paos::local_port, port, kImage)).status(),
                  Status::bad_parameter);
        EXPECT_EQ(run(pmtu(kRead).set(Pmtu::local_port, port, kImage)).status(), Status::bad_parameter);
        EXPECT_EQ(run(pmtu(kWrite, 9022).set(Pmtu::local_port, port, kImage)).status(),
                  Status::bad_parameter);
        EXPECT_EQ(run(ptys(kRead).set(Ptys::local_port, port, kImage)).status(), Status::bad_parameter);
        EXPECT_EQ(run(ppcnt(0).set(Ppcnt::local_port, port, kImage)).status(), Status::bad_parameter);
    }
    EXPECT_FALSE(cx_core_link_up(host.core()));
}

TEST_F(PortTest, RefusesImagesThatAreTooShort) {
    for (auto [id, bytes] : {std::pair<u16, usize>{kPmtu, 0x10},
                             {kPtys, 0x40},
                             {kPaos, 0x10},
                             {kPpcnt, 0x100},
                             {kPcmr, 0x0c},
                             {kHostEndianness, 0x10}}) {
        EXPECT_EQ(driver.run(access(id, kRead, bytes - 4), kImage + bytes).status(), Status::bad_input_length)
            << id;
        EXPECT_EQ(driver.run(access(id, kRead, bytes), kImage + bytes - 4).status(),
                  Status::bad_output_length)
            << id;
    }
}

TEST_F(PortTest, RefusesUnknownKindsOfAccessAndWritesToCounters) {
    EXPECT_EQ(run(access(kPaos, 2, 0x10)).status(), Status::bad_parameter);
    CommandInput write = ppcnt(0);
    write.set(CommandIn::op_mod, kWrite);
    EXPECT_EQ(run(write).status(), Status::bad_parameter);
}

TEST_F(PortTest, RemembersTheByteOrderOfTheHost) {
    for (u8 order : {0x80, 0x00}) {
        CommandInput input = access(kHostEndianness, kWrite, 0x10);
        input.raw[kImage] = order;
        must(input);
        EXPECT_EQ(must(access(kHostEndianness, kRead, 0x10)).out[kImage], order);
    }
    CommandInput wrong = access(kHostEndianness, kWrite, 0x10);
    wrong.raw[kImage] = 1;
    EXPECT_EQ(run(wrong).status(), Status::bad_parameter);
}

TEST_F(PortTest, IsBackAtPowerOnAfterReset) {
    set_up(true);
    must(pmtu(kWrite, 9022));
    host.frame_in(frame(0x02, 60));
    must(ppcnt(0x00, 0, 1));
    cx_core_reset(host.core());
    driver.register_queue();
    driver.bring_up();
    EXPECT_FALSE(cx_core_link_up(host.core()));
    EXPECT_EQ(must(pmtu(kRead)).get(Pmtu::oper_mtu, kImage), 1522u);
    EXPECT_EQ(count(0x02, 0x10), 0u);
    EXPECT_EQ(count(0x00, 0x08), 0u);
}

} // namespace
} // namespace niclab::test
