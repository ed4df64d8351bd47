// SPDX-License-Identifier: GPL-2.0-or-later
// The NIC vport: its context, lists and counters.
#include <gtest/gtest.h>

#include "spec/registers.h"
#include "support/command_driver.h"

namespace niclab::test {
namespace {

constexpr usize kOutContext = 0x10, kInContext = 0x100,
                kList = 0x200; // the list stands at 0x100 of the context
constexpr u32 kUnicast = 0, kMulticast = 1, kVlan = 2;
using Modify = ModifyNicVportContextIn;

class VportTest : public testing::Test {
  protected:
    void SetUp() override { driver.bring_up(); }

    CommandResult query(u32 list_type = kUnicast, usize entries = 0) {
        CommandInput input(Opcode::query_nic_vport_context, 0x10);
        return driver.must(input.set(QueryNicVportContextIn::allowed_list_type, list_type),
                           0x110 + 8 * entries);
    }
    static CommandInput modify(Field<Modify> select) {
        return CommandInput(Opcode::modify_nic_vport_context, 0x200).set(select, 1);
    }
    static CommandInput list(u32 type, const std::vector<u64> &entries) {
        CommandInput input = modify(Modify::select_addresses_list);
        input.set(NicVportContext::allowed_list_type, type, kInContext)
            .set(NicVportContext::allowed_list_size, static_cast<u32>(entries.size()), kInContext);
        for (usize i = 0; i < entries.size(); ++i)
            input.put_be64(kList + 8 * i, entries[i]);
        return input;
    }
    std::vector<u64> entries(const CommandResult &result) {
        std::vector<u64> out;
        for (u32 i = 0; i < result.get(NicVportContext::allowed_list_size, kOutContext); ++i)
            out.push_back(load_be64(result.out.data() + 0x110 + 8 * i));
        return out;
    }
    std::vector<u8> address() {
        CommandResult result = query();
        return {result.out.begin() + 0x106, result.out.begin() + 0x10c};
    }
    Status status(const CommandInput &input) { return driver.run(input).status(); }

    FakeHost host;
    CommandDriver driver{host};
};

TEST_F(VportTest, StartsWithTheConfiguredAddressAndTheDefaultMtu) {
    EXPECT_EQ(address(), (std::vector<u8>{0x52, 0x54, 0x00, 0x12, 0x34, 0x56}));
    CommandResult result = query();
    EXPECT_EQ(load_be32(result.out.data() + 0x10 + 0x24), 1522u);
    EXPECT_EQ(load_be32(result.out.data() + 0x10 + 0x20), 0u) << "belongs to no group of sockets";
    EXPECT_EQ(load_be32(result.out.data() + 0x10 + 0xf0), 0u) << "no promiscuous flag, empty list";
}

TEST_F(VportTest, TakesEachPartOfTheContextAlone) {
    driver.must(modify(Modify::select_mtu).set(NicVportContext::mtu, 9022, kInContext));
    driver.must(modify(Modify::select_promisc)
                    .set(NicVportContext::promisc_uc, 1, kInContext)
                    .set(NicVportContext::promisc_all, 1, kInContext));
    CommandInput mac = modify(Modify::select_permanent_address);
    const std::vector<u8> chosen = {0x02, 1, 2, 3, 4, 5};
    std::copy(chosen.begin(), chosen.end(), mac.raw.begin() + kInContext + 0xf6);
    driver.must(mac);
    CommandResult result = query();
    EXPECT_EQ(result.get(NicVportContext::mtu, kOutContext), 9022u);
    EXPECT_EQ(result.get(NicVportContext::promisc_uc, kOutContext), 1u);
    EXPECT_EQ(result.get(NicVportContext::promisc_mc, kOutContext), 0u);
    EXPECT_EQ(result.get(NicVportContext::promisc_all, kOutContext), 1u);
    EXPECT_EQ(address(), chosen);
}

// The manual's vlan_layout: the VLAN is in bits 11:0 of the first of two words.
constexpr u64 vlan_entry(u64 vid) { return vid << 32; }

TEST_F(VportTest, KeepsThreeListsApart) {
    const std::vector<u64> unicast = {0x0200'0000'0001, 0x0200'0000'0002}, multicast = {0x3333'0000'0001},
                           vlan = {vlan_entry(1), vlan_entry(4095)};
    driver.must(list(kUnicast, unicast));
    driver.must(list(kMulticast, multicast));
    driver.must(list(kVlan, vlan));
    EXPECT_EQ(entries(query(kUnicast, 2)), unicast);
    EXPECT_EQ(entries(query(kMulticast, 1)), multicast);
    EXPECT_EQ(entries(query(kVlan, 2)), vlan);
    driver.must(list(kUnicast, {}));
    EXPECT_TRUE(entries(query(kUnicast, 2)).empty());
    EXPECT_EQ(entries(query(kVlan, 2)), vlan);
}

TEST_F(VportTest, ReturnsAsManyEntriesAsTheOutputHolds) {
    driver.must(list(kVlan, {vlan_entry(1), vlan_entry(2), vlan_entry(3)}));
    EXPECT_EQ(entries(query(kVlan, 2)), (std::vector<u64>{vlan_entry(1), vlan_entry(2)}));
    EXPECT_EQ(entries(query(kVlan, 0)), (std::vector<u64>{}));
}

TEST_F(VportTest, ListsAreBoundedByTheirCapabilities) {
    std::vector<u64> most;
    for (u64 i = 0; i < 128; ++i)
        most.push_back(0x0200'0000'0000 + i);
    EXPECT_EQ(status(list(kUnicast, most)), Status::ok);
    most.push_back(0x0200'0000'0080);
    EXPECT_EQ(status(list(kUnicast, most)), Status::bad_parameter);
    EXPECT_EQ(entries(query(kUnicast, 200)).size(), 128u);
}

TEST_F(VportTest, ABadListLeavesTheOldOne) {
    const std::vector<u64> good = {0x0200'0000'0001};
    driver.must(list(kUnicast, good));
    EXPECT_EQ(status(list(kUnicast, {0x0200'0000'0002, 0x0100'0000'0000})), Status::bad_parameter)
        << "multicast among unicast";
    EXPECT_EQ(status(list(kMulticast, {0x0200'0000'0000})), Status::bad_parameter);
    EXPECT_EQ(status(list(kVlan, {vlan_entry(4096)})), Status::bad_parameter);
    EXPECT_EQ(status(list(3, {})), Status::bad_parameter) << "no such list";
    CommandInput short_list = list(kUnicast, {0x0200'0000'0002, 0x0200'0000'0003});
    short_list.raw.resize(kList + 8);
    EXPECT_EQ(status(short_list), Status::bad_input_length);
    EXPECT_EQ(entries(query(kUnicast, 9)), good);
}

TEST_F(VportTest, AModificationIsTakenWholeOrNotAtAll) {
    CommandInput both = list(kVlan, {vlan_entry(4096)}).set(Modify::select_mtu, 1);
    both.set(NicVportContext::mtu, 9022, kInContext);
    EXPECT_EQ(status(both), Status::bad_parameter);
    EXPECT_EQ(query().get(NicVportContext::mtu, kOutContext), 1522u);
}

TEST_F(VportTest, RefusesValuesThatCannotBe) {
    for (u32 mtu : {0u, 89u, 10001u})
        EXPECT_EQ(status(modify(Modify::select_mtu).set(NicVportContext::mtu, mtu, kInContext)),
                  Status::bad_parameter)
            << mtu;
    CommandInput multicast = modify(Modify::select_permanent_address);
    multicast.raw[kInContext + 0xf6] = 0x01;
    EXPECT_EQ(status(multicast), Status::bad_parameter);
}

TEST_F(VportTest, RefusesFieldsThatNoCapabilityOffers) {
    for (auto select : {Modify::select_node_guid, Modify::select_port_guid, Modify::select_min_inline,
                        Modify::select_change_event, Modify::select_roce_en})
        EXPECT_EQ(status(modify(select)), Status::bad_parameter) << "bit " << int{select.lo};
}

TEST_F(VportTest, RefusesOtherVportsAndOperations) {
    using Query = QueryNicVportContextIn;
    for (Opcode opcode : {Opcode::query_nic_vport_context, Opcode::modify_nic_vport_context,
                          Opcode::query_vport_state, Opcode::query_vport_counter}) {
        CommandInput other(opcode, 0x200), numbered(opcode, 0x200);
        EXPECT_EQ(driver.run(other.set(Query::other_vport, 1), 0x210).status(), Status::bad_parameter);
        EXPECT_EQ(driver.run(numbered.set(Query::vport_number, 1), 0x210).status(), Status::bad_parameter);
    }
    EXPECT_EQ(driver.run({Opcode::query_vport_state, 0x10, 1}, 0x10).status(), Status::bad_parameter)
        << "e-switch side";
    EXPECT_EQ(driver.run({Opcode::query_vport_counter, 0x20, 1}, 0x210).status(), Status::bad_parameter);
    CommandInput no_list(Opcode::query_nic_vport_context, 0x10);
    EXPECT_EQ(driver.run(no_list.set(Query::allowed_list_type, 3), 0x110).status(), Status::bad_parameter);
}

TEST_F(VportTest, IsBackAtPowerOnAfterReset) {
    driver.must(list(kVlan, {vlan_entry(1)}));
    driver.must(modify(Modify::select_mtu).set(NicVportContext::mtu, 9022, kInContext));
    cx_core_reset(host.core());
    driver.register_queue();
    driver.bring_up();
    CommandResult result = query(kVlan, 1);
    EXPECT_TRUE(entries(result).empty());
    EXPECT_EQ(result.get(NicVportContext::mtu, kOutContext), 1522u);
}

TEST_F(VportTest, CountersStartAtZeroAndAnswerToClear) {
    CommandInput input(Opcode::query_vport_counter, 0x20);
    input.set(QueryVportCounterIn::clear, 1);
    CommandResult result = driver.must(input, 0x210);
    EXPECT_TRUE(std::all_of(result.out.begin() + 8, result.out.end(), [](u8 byte) { return byte == 0; }));
}

} // namespace
} // namespace niclab::test
