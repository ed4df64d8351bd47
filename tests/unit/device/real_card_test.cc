// SPDX-License-Identifier: GPL-2.0-or-later
// Our card beside a real one: the same driver's commands, the same places, plausible values.
#include <gtest/gtest.h>

#include <cctype>

#include "spec/queues.h"
#include "spec/registers.h"
#include "support/command_driver.h"
#include "unit/device/fixtures/real_card.h"

namespace niclab::test {
namespace {

template <usize N>
std::vector<u8> image(const real_card::Word (&words)[N]) {
    std::vector<u8> bytes(kCapBytes, 0);
    for (real_card::Word word : words)
        store_be32(bytes.data() + word.offset, word.value);
    return bytes;
}

// The input that the driver would send to our card in an exchange: same opcode and lengths, our numbers of
// pages.
CommandInput input_of(const real_card::Exchange &exchange, FakeHost &host, u32 pages) {
    CommandInput input(exchange.opcode, exchange.in_bytes, exchange.op_mod);
    switch (static_cast<Opcode>(exchange.opcode)) {
    case Opcode::set_issi:
        return input.set(SetIssiIn::current_issi, 1);
    case Opcode::access_register:
        return input.set(AccessRegisterIn::register_id, 0x7004);
    case Opcode::set_hca_cap: {
        std::vector<u8> caps = image(real_card::kGeneralMaximum);
        std::copy(caps.begin(), caps.end(), input.raw.begin() + 0x10);
        return input;
    }
    case Opcode::manage_pages:
        input.set(ManagePagesIn::input_num_entries, pages);
        for (u32 i = 0; i < pages; ++i)
            input.put_be64(0x10 + 8 * i, host.memory.allocate(kPage));
        return input;
    default:
        return input;
    }
}

class RealCard : public testing::Test {
  protected:
    // Everything up to the doorbell pages; false as soon as a command fails.
    void start() {
        u32 pages = 0;
        for (const real_card::Exchange &exchange : real_card::kStart) {
            CommandResult result = driver.run(input_of(exchange, host, pages), exchange.out_bytes);
            ASSERT_TRUE(result.ok()) << std::hex << exchange.opcode << " op_mod " << exchange.op_mod;
            if (exchange.opcode == 0x107)
                pages = load_be32(result.out.data() + real_card::kQueryPagesBoot.offset);
            if (exchange.opcode == 0x802) uars.push_back(result.number());
        }
    }

    FakeHost host;
    CommandDriver driver{host};
    std::vector<u32> uars;
};

TEST_F(RealCard, ItsDriversFirstCommandsWorkHereWithTheSameLengths) {
    start();
    EXPECT_EQ(uars, (std::vector<u32>{0x10, 0x11, 0x12, 0x13})) << "numbered as there";
}

TEST_F(RealCard, ItsDriversEventQueuesWorkHere) {
    start();
    for (const real_card::EqFacts &facts : real_card::kEqs) {
        CommandInput create(Opcode::create_eq, 0x118);
        store_be32(create.raw.data() + 0x10 + 0x0c, facts.size_and_uar);
        store_be32(create.raw.data() + 0x10 + 0x14, facts.vector);
        store_be32(create.raw.data() + 0x10 + 0x18, facts.log_page);
        u32 log_size = facts.size_and_uar >> 24;
        create.put_be64(0x58, facts.events).put_be64(0x110, host.memory.allocate(u64{64} << log_size));
        EXPECT_TRUE(driver.run(create).ok()) << facts.events;
    }
}

TEST_F(RealCard, RepliesHoldTheSameThingsInTheSamePlaces) {
    driver.enable();
    CommandResult issi = driver.must({Opcode::query_issi, 0x10}, 0x70);
    EXPECT_EQ(load_be32(issi.out.data() + real_card::kQueryIssi.offset) & real_card::kQueryIssi.value,
              real_card::kQueryIssi.value);
    CommandResult adapter = driver.must({Opcode::query_adapter, 0x10}, 0x110);
    EXPECT_EQ(load_be32(adapter.out.data() + real_card::kAdapterVendor.offset),
              real_card::kAdapterVendor.value);
    for (usize i = 0; i < 4; ++i) {
        EXPECT_TRUE(std::isprint(static_cast<int>(real_card::kAdapterPsid.value >> (8 * i) & 0xff)));
        EXPECT_TRUE(std::isprint(adapter.out[real_card::kAdapterPsid.offset + i]));
    }
    CommandResult boot = driver.must({Opcode::query_pages, 0x10, 1}, 0x10);
    EXPECT_GT(load_be32(boot.out.data() + real_card::kQueryPagesBoot.offset), 0u);
}

TEST_F(RealCard, OnlyTheOwnerBitOfAnEntryChangesBesideTheReply) {
    driver.prepare(CommandInput(Opcode::enable_hca, 0x10).raw, 0x10, 0);
    std::vector<u8> expected = host.memory.bytes(driver.entry(0), 64);
    driver.ring(0);
    expected[0x3f] = 0;
    EXPECT_EQ(host.memory.bytes(driver.entry(0), 64), expected)
        << "signature and token stay as the driver wrote them";
}

// ---- our layouts read on the real card's words
// ---------------------------------------------------------------------
TEST(RealCardImages, GeneralFieldsAreWhereWeLookForThem) {
    std::vector<u8> raw = image(real_card::kGeneralMaximum);
    ConstView<GeneralCaps> caps(raw.data());
    using G = GeneralCaps;
    EXPECT_EQ(caps.get(G::log_max_qp), 23u);
    EXPECT_EQ(caps.get(G::log_max_cq_sz), 22u);
    EXPECT_EQ(caps.get(G::log_max_cq), 24u);
    EXPECT_EQ(caps.get(G::log_max_eq_sz), 22u);
    EXPECT_EQ(caps.get(G::log_max_mkey), 24u);
    EXPECT_EQ(caps.get(G::log_max_eq), 8u);
    EXPECT_EQ(caps.get(G::port_type), 1u);
    EXPECT_EQ(caps.get(G::num_ports), 1u);
    EXPECT_EQ(caps.get(G::nic_flow_table), 1u);
    EXPECT_EQ(caps.get(G::vport_group_manager), 1u);
    EXPECT_EQ(caps.get(G::cqe_version), 1u);
    EXPECT_EQ(caps.get(G::eth_net_offloads), 1u);
    EXPECT_EQ(caps.get(G::cq_moderation), 1u);
    EXPECT_EQ(caps.get(G::log_pg_sz), 12u);
    EXPECT_EQ(caps.get(G::log_bf_reg_size), 9u);
    EXPECT_EQ(caps.get(G::max_wqe_sz_sq), 1024u);
    EXPECT_EQ(caps.get(G::log_max_rq), 23u);
    EXPECT_EQ(caps.get(G::log_max_tis), 23u);
    EXPECT_EQ(caps.get(G::basic_cyclic_rcv_wqe), 1u);
    EXPECT_EQ(caps.get(G::log_max_rqt_size), 9u);
    EXPECT_EQ(caps.get(G::log_max_wq_sz), 15u);
}

TEST(RealCardImages, EthernetAndFlowTableFieldsAreWhereWeLookForThem) {
    std::vector<u8> ethernet = image(real_card::kEthernet), flow = image(real_card::kFlowTable);
    ConstView<EthernetCaps> eth(ethernet.data());
    EXPECT_EQ(eth.get(EthernetCaps::csum_cap), 1u);
    EXPECT_EQ(eth.get(EthernetCaps::vlan_cap), 1u);
    EXPECT_EQ(eth.get(EthernetCaps::lro_cap), 1u);
    EXPECT_EQ(eth.get(EthernetCaps::max_lso_cap), 18u);
    EXPECT_EQ(eth.get(EthernetCaps::wqe_inline_mode), 1u) << "this older card asks for inline headers";
    EXPECT_EQ(eth.get(EthernetCaps::rss_ind_tbl_cap), 9u);
    ConstView<FlowTableCaps> nic_rx(flow.data() + FlowTableCaps::kNicRx);
    EXPECT_EQ(nic_rx.get(FlowTableCaps::ft_support), 1u);
    EXPECT_EQ(nic_rx.get(FlowTableCaps::modify_root), 1u);
    EXPECT_EQ(nic_rx.get(FlowTableCaps::log_max_ft_size), 16u);
    EXPECT_EQ(nic_rx.get(FlowTableCaps::max_ft_level), 255u);
    EXPECT_EQ(nic_rx.get(FlowTableCaps::log_max_flow), 25u);
}

// An emulated card may be smaller than an older real one, never larger where the model has a bound of its
// own.
TEST_F(RealCard, OurSizesDoNotExceedIts) {
    driver.enable();
    CommandResult ours = driver.must({Opcode::query_hca_cap, 0x10, 0}, 0x1010);
    std::vector<u8> raw = image(real_card::kGeneralMaximum);
    using G = GeneralCaps;
    for (auto field : {G::log_max_qp,
                       G::log_max_cq_sz,
                       G::log_max_cq,
                       G::log_max_eq_sz,
                       G::log_max_mkey,
                       G::log_max_eq,
                       G::max_wqe_sz_sq,
                       G::max_wqe_sz_rq,
                       G::log_max_pd,
                       G::log_max_transport_domain,
                       G::log_max_rq,
                       G::log_max_sq,
                       G::log_max_tir,
                       G::log_max_tis,
                       G::log_max_rqt,
                       G::log_max_stride_sz_rq,
                       G::log_max_stride_sz_sq,
                       G::log_max_wq_sz,
                       G::log_max_vlan_list,
                       G::log_max_current_uc_list,
                       G::log_max_current_mc_list})
        EXPECT_LE(ours.get(field, 0x10), ConstView<G>(raw.data()).get(field))
            << std::hex << field.dword << ":" << +field.lo;
}

} // namespace
} // namespace niclab::test
