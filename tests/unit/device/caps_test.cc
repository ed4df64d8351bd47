// SPDX-License-Identifier: GPL-2.0-or-later
// Capability images byte by byte, and what SET_HCA_CAP may change.
#include <gtest/gtest.h>

#include "support/command_driver.h"

namespace niclab::test {
namespace {

constexpr u16 kGeneral = 0x00, kEthernet = 0x01, kFlowTable = 0x07;
constexpr u16 current(u16 type) { return static_cast<u16>(type << 1 | 1); }
constexpr u16 maximum(u16 type) { return static_cast<u16>(type << 1); }

class CapsTest : public testing::Test {
  protected:
    void SetUp() override { driver.enable(); }
    std::vector<u8> image(u16 op_mod) {
        CommandResult result = driver.must({Opcode::query_hca_cap, 0x10, op_mod}, 0x1010);
        return {result.out.begin() + 0x10, result.out.end()};
    }
    CommandInput set_command(const std::vector<u8> &caps, u16 op_mod = 0) {
        CommandInput input(Opcode::set_hca_cap, 0x1010, op_mod);
        std::copy(caps.begin(), caps.end(), input.raw.begin() + 0x10);
        return input;
    }

    FakeHost host;
    CommandDriver driver{host};
};

// Word offset and value of every word that is not zero, worked out by hand from the field tables of the
// manual.
using Words = std::map<u32, u32>;
Words nonzero(const std::vector<u8> &image) {
    Words words;
    for (u32 at = 0; at < image.size(); at += 4)
        if (u32 word = load_be32(image.data() + at)) words[at] = word;
    return words;
}

const Words kGeneralWords = {
    {0x010, 17},                               // log_max_qp
    {0x018, 20 << 16 | 13},                    // log_max_cq_sz, log_max_cq
    {0x01c, 16u << 24 | 16 << 16 | 6},         // log_max_eq_sz, log_max_mkey, log_max_eq
    {0x020, 1u << 24 | 1 << 23 | 1 << 7 | 16}, // one level of keys, fixed pieces, long UMR offset, list size
    {0x024, 1 << 13 | 1 << 6},                 // eth_wqe_too_small, vnic_env_cq_overrun
    {0x02c, 1 << 16},                          // qcam_reg
    // vport_group_manager, vnic_env_queue_counters, nic_flow_table, mcam_reg, pcam_reg, port_module_event,
    // ports_check, beacon_led, port_type Ethernet, one port
    {0x034, 1u << 31 | 1 << 27 | 1 << 25 | 1 << 22 | 1 << 21 | 1 << 15 | 1 << 13 | 1 << 10 | 1 << 8 | 1},
    {0x038, 3 << 29 | 8 << 16 | 1 << 15}, // pps, pps_modify, max_tc, temp_warn_event
    {0x03c, 1},                           // cqe_version
    {0x040, 1 << 30 | 1 << 3},            // striding_rq, eth_net_offloads
    // cq_moderation, its mode can be modified, periods from a CQE, umr_ptr_rlky
    {0x044, 1 << 29 | 1 << 28 | 1 << 20 | 1 << 15},
    {0x048, 5 << 16 | 12},        // uar_sz, log_pg_sz
    {0x04c, 9 << 16},             // log_bf_reg_size
    {0x050, 1024},                // max_wqe_sz_sq
    {0x054, 512},                 // max_wqe_sz_rq
    {0x064, 16 << 24 | 16 << 16}, // log_max_transport_domain, log_max_pd
    // discards: steering, receive and transmit while down; log_max_flow_counter_bulk, max_flow_counter
    {0x068, 7u << 29 | 10 << 16 | 0x8000},
    {0x06c, 12 << 24 | 12 << 16 | 12 << 8 | 16},        // log_max_rq, sq, tir, tis
    {0x070, 1u << 31 | 12 << 16 | 11 << 8},             // basic_cyclic_rcv_wqe, log_max_rqt, log_max_rqt_size
    {0x074, 1u << 31 | 9 << 24 | 4 << 16 | 6 << 8 | 6}, // few strides, stride sizes
    {0x078, 15},                                        // log_max_wq_sz
    {0x07c, 3 << 29 | 12 << 16 | 7 << 8 | 7},           // loopback switches; VLAN, multicast, unicast lists
    {0x08c, 64},                                        // max_num_eqs
    {0x0b4, 1 << 3 | 1},                                // mini_cqe_resp_stride_index, cqe_compression
    {0x0b8, 4 << 16 | 64},                              // cqe_compression_timeout, cqe_compression_max_num
    {0x09c, 1'000'000},                                 // device_frequency_khz
    {0x0a4, 1},                                         // num_of_uars_per_page
};

TEST_F(CapsTest, GeneralImageHoldsTheseWordsAndNothingElse) {
    EXPECT_EQ(nonzero(image(current(kGeneral))), kGeneralWords);
    EXPECT_EQ(nonzero(image(maximum(kGeneral))), kGeneralWords);
}

TEST_F(CapsTest, EthernetImageHoldsTheseWordsAndNothingElse) {
    const Words expected = {
        // csum, vlan, VLAN insertion, loopback switch, LSO up to 2^18, no inline header, 2^8 indirection
        // entries, UMR, FCS, multi-packet send, LRO with PSH and time stamps, GRE, VXLAN; software parser
        // with
        // checksums and LSO, sums over all, GENEVE sent, 16 VXLAN ports, GENEVE received; LRO from one byte
        // per
        // segment on, four timers
        {0x00, 7u << 29 | 3 << 27 | 1 << 24 | 1 << 23 | 18 << 16 | 2 << 12 | 8 << 8 | 1 << 7 | 1 << 6 |
                   1 << 5 | 1 << 1 | 1},
        {0x04, 7u << 29 | 1 << 28 | 1 << 27 | 16 << 8 | 1},
        {0x08, 1},
        {0x30, 8},
        {0x34, 16},
        {0x38, 32},
        {0x3c, 1024},
    };
    EXPECT_EQ(nonzero(image(current(kEthernet))), expected);
    EXPECT_EQ(nonzero(image(maximum(kEthernet))), expected);
}

TEST_F(CapsTest, FlowTableImageDescribesNicReceiveOnly) {
    const Words expected = {
        // ft_support, flow_counter, flow_modify_en, modify_root, identified_miss_table_mode,
        // flow_table_modify
        {0x40, 1u << 31 | 1 << 29 | 1 << 28 | 1 << 27 | 1 << 26 | 1 << 25},
        {0x44, 22 << 24 | 128}, // log_max_ft_size, max_ft_level
        {0x4c, 8},              // log_max_ft_num
        {0x50, 4},              // log_max_destination
        {0x54, 20},             // log_max_flow
        {0x60, 0xfe0ffe00},     // matchable fields
        {0x64, 0x300ffe00},     // and those of what a tunnel carries
    };
    EXPECT_EQ(nonzero(image(current(kFlowTable))), expected);
    EXPECT_EQ(nonzero(image(maximum(kFlowTable))), expected);
}

TEST_F(CapsTest, KnownTypesThatAreNotOfferedReadAsZeros) {
    for (u16 type : {0x02, 0x03, 0x04, 0x06, 0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0f,
                     0x11, 0x13, 0x14, 0x15, 0x1a, 0x1d, 0x1f, 0x20, 0x25, 0x26})
        for (u16 op_mod : {current(type), maximum(type)})
            EXPECT_TRUE(nonzero(image(op_mod)).empty()) << type;
}

TEST_F(CapsTest, UnknownTypesAreRefused) {
    for (u16 type : {0x05, 0x0a, 0x0e, 0x27, 0x7f, 0x7fff})
        EXPECT_EQ(driver.run({Opcode::query_hca_cap, 0x10, current(type)}, 0x1010).status(),
                  Status::bad_parameter)
            << type;
}

TEST_F(CapsTest, AShortOutputGetsTheFrontOfTheImage) {
    CommandResult result = driver.must({Opcode::query_hca_cap, 0x10, current(kGeneral)}, 0x110);
    EXPECT_EQ(load_be32(result.out.data() + 0x10 + 0x50), 1024u);
}

TEST_F(CapsTest, ASettableValueIsTakenAndReadsBackWhileTheMaximumStays) {
    std::vector<u8> caps = image(current(kGeneral));
    View<GeneralCaps>(caps.data()).set(GeneralCaps::log_max_qp, 12);
    ASSERT_TRUE(driver.run(set_command(caps)).ok());
    EXPECT_EQ(image(current(kGeneral)), caps);
    EXPECT_EQ(nonzero(image(maximum(kGeneral))), kGeneralWords);
}

TEST_F(CapsTest, MoreThanTheMaximumIsCut) {
    std::vector<u8> caps = image(current(kGeneral));
    View<GeneralCaps>(caps.data()).set(GeneralCaps::log_max_qp, 18);
    ASSERT_TRUE(driver.run(set_command(caps)).ok());
    EXPECT_EQ(nonzero(image(current(kGeneral))), kGeneralWords);
}

TEST_F(CapsTest, WhatIsNotOfferedCannotBeSet) {
    ASSERT_TRUE(driver.run(set_command(std::vector<u8>(4096, 0xff))).ok());
    EXPECT_EQ(nonzero(image(current(kGeneral))), kGeneralWords);
}

TEST_F(CapsTest, WhatIsFixedCannotBeTakenAway) {
    ASSERT_TRUE(driver.run(set_command(std::vector<u8>(4096, 0x00))).ok());
    Words expected = kGeneralWords;
    expected.erase(0x010); // log_max_qp is the one settable value
    EXPECT_EQ(nonzero(image(current(kGeneral))), expected);
}

TEST_F(CapsTest, TypesWithNothingToSetAreRefused) {
    for (u16 type : {kEthernet, kFlowTable, u16{0x03}})
        EXPECT_EQ(driver.run(set_command({}, maximum(type))).status(), Status::bad_parameter) << type;
    EXPECT_EQ(driver.run(set_command({}, maximum(0x7f))).status(), Status::bad_parameter);
}

TEST_F(CapsTest, AreFixedOnceTheCardRuns) {
    driver.give_pages(80);
    driver.must({Opcode::init_hca, 0x10});
    EXPECT_EQ(driver.run(set_command(image(current(kGeneral)))).status(), Status::bad_system_state);
}

TEST_F(CapsTest, ComeBackToPowerOnWithReset) {
    std::vector<u8> caps = image(current(kGeneral));
    View<GeneralCaps>(caps.data()).set(GeneralCaps::log_max_qp, 1);
    driver.must(set_command(caps));
    cx_core_reset(host.core());
    driver.register_queue();
    driver.enable();
    EXPECT_EQ(nonzero(image(current(kGeneral))), kGeneralWords);
}

} // namespace
} // namespace niclab::test
