// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Registers reached through ACCESS_REG. The image stands at 0x10 of command and reply.
#pragma once

#include "spec/layout.h"

namespace niclab {

enum class RegisterOp : u16 { write = 0, read = 1 };
enum class RegisterId : u16 {
    qcam = 0x4019,
    pmlp = 0x5002,
    pmtu = 0x5003,
    ptys = 0x5004,
    paos = 0x5006,
    pfcc = 0x5007,
    ppcnt = 0x5008,
    pplm = 0x5023,
    pddr = 0x5031,
    pcmr = 0x5041,
    pcam = 0x507f,
    node_desc = 0x6001,
    host_endianness = 0x7004,
    mtcap = 0x9009,
    mtmp = 0x900a,
    mcia = 0x9014,
    mlcr = 0x902b,
    mpcnt = 0x9051,
    mtpps = 0x9053,
    mtppse = 0x9054,
    mtutc = 0x9055,
    mcqs = 0x9060,
    mcqi = 0x9061,
    mcam = 0x907f,
};
struct AccessRegisterIn {
    using F = Field<AccessRegisterIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F register_id{0x08, 15, 0};
    static constexpr F argument{0x0c, 31, 0};
    static constexpr u16 image = 0x10;
    static constexpr F rows[] = {register_id, argument};
};
struct Pmtu { // hardware MTU: netdev MTU + 22
    using F = Field<Pmtu>;
    static constexpr u16 bytes = 0x10;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F max_mtu{0x04, 31, 16};
    static constexpr F admin_mtu{0x08, 31, 16};
    static constexpr F oper_mtu{0x0c, 31, 16};
    static constexpr F rows[] = {local_port, max_mtu, admin_mtu, oper_mtu};
};
enum class PortState : u8 { up = 1, down = 2 };
struct Paos {
    using F = Field<Paos>;
    static constexpr u16 bytes = 0x10;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F admin_status{0x00, 11, 8};
    static constexpr F oper_status{0x00, 3, 0};
    static constexpr F ase{0x04, 31, 31}; // admin_status is to be changed
    static constexpr F rows[] = {local_port, admin_status, oper_status, ase};
};
struct Pcmr { // what the port checks
    using F = Field<Pcmr>;
    static constexpr u16 bytes = 0x0c;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F fcs_cap{0x04, 1, 1};
    static constexpr F entropy_force{0x08, 31, 31};
    static constexpr F entropy_calc{0x08, 30, 30};
    static constexpr F entropy_gre_calc{0x08, 29, 29};
    static constexpr F rx_ts_over_crc{0x08, 13, 13};
    static constexpr F fcs_chk{0x08, 1, 1};
    static constexpr F rows[] = {local_port,       fcs_cap,        entropy_force, entropy_calc,
                                 entropy_gre_calc, rx_ts_over_crc, fcs_chk};
};
static_assert(disjoint(Pcmr::rows));
struct Ptys {
    using F = Field<Ptys>;
    static constexpr u16 bytes = 0x40;
    static constexpr F an_disable_admin{0x00, 30, 30};
    static constexpr F an_disable_cap{0x00, 29, 29};
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F proto_mask{0x00, 2, 0}; // 4: Ethernet
    static constexpr F an_status{0x04, 31, 28};
    static constexpr F data_rate_oper{0x04, 15, 0};
    static constexpr F ext_eth_proto_capability{0x08, 31, 0};
    static constexpr F eth_proto_capability{0x0c, 31, 0};
    static constexpr F ext_eth_proto_admin{0x14, 31, 0};
    static constexpr F eth_proto_admin{0x18, 31, 0};
    static constexpr F ext_eth_proto_oper{0x20, 31, 0};
    static constexpr F eth_proto_oper{0x24, 31, 0};
    static constexpr F connector_type{0x2c, 3, 0};
    static constexpr F eth_proto_lp_advertise{0x30, 31, 0};
    static constexpr F rows[] = {
        an_disable_admin,     an_disable_cap,      eth_proto_lp_advertise, local_port,
        proto_mask,           an_status,           data_rate_oper,         ext_eth_proto_capability,
        eth_proto_capability, ext_eth_proto_admin, eth_proto_admin,        ext_eth_proto_oper,
        eth_proto_oper,       connector_type};
};
struct Pfcc { // pause frames, global and per priority; without pfcc_mask in PCAM the masks do not count
    using F = Field<Pfcc>;
    static constexpr u16 bytes = 0x20;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F prio_mask_tx{0x04, 23, 16};
    static constexpr F prio_mask_rx{0x04, 7, 0};
    static constexpr F pptx{0x08, 31, 31};
    static constexpr F pptx_mask_n{0x08, 29, 29}; // set: pptx is to stay as it is
    static constexpr F pfctx{0x08, 23, 16};
    static constexpr F pprx{0x0c, 31, 31};
    static constexpr F pprx_mask_n{0x0c, 29, 29};
    static constexpr F pfcrx{0x0c, 23, 16};
    static constexpr F rows[] = {local_port, prio_mask_tx, prio_mask_rx, pptx, pptx_mask_n,
                                 pfctx,      pprx,         pprx_mask_n,  pfcrx};
};
struct Ppcnt {
    using F = Field<Ppcnt>;
    static constexpr u16 bytes = 0x100;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F grp{0x00, 5, 0};
    static constexpr F clr{0x04, 31, 31};
    static constexpr F prio_tc{0x04, 2, 0};
    static constexpr u16 counters = 0x08; // 64-bit, high word first
    static constexpr u32 kIeee8023 = 0x00, kRfc2863 = 0x01, kRfc2819 = 0x02, kRfc3635 = 0x03,
                         kExtended = 0x05, kPerPriority = 0x10, kPhysicalLayer = 0x12,
                         kPhysicalStatistical = 0x16;
    static constexpr F rows[] = {local_port, grp, clr, prio_tc};
};
struct Pplm { // forward error correction: bit masks of kinds, for each class of speeds
    using F = Field<Pplm>;
    static constexpr u16 bytes = 0x50;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F fec_mode_active{0x0c, 23, 0};
    static constexpr F fec_override_cap_56g{0x10, 19, 16};
    static constexpr F fec_override_cap_100g{0x10, 15, 12};
    static constexpr F fec_override_cap_50g{0x10, 11, 8};
    static constexpr F fec_override_cap_25g{0x10, 7, 4};
    static constexpr F fec_override_cap_10g_40g{0x10, 3, 0};
    static constexpr F fec_override_admin_56g{0x14, 19, 16};
    static constexpr F fec_override_admin_100g{0x14, 15, 12};
    static constexpr F fec_override_admin_50g{0x14, 11, 8};
    static constexpr F fec_override_admin_25g{0x14, 7, 4};
    static constexpr F fec_override_admin_10g_40g{0x14, 3, 0};
    static constexpr F rows[] = {local_port,
                                 fec_mode_active,
                                 fec_override_cap_56g,
                                 fec_override_cap_100g,
                                 fec_override_cap_50g,
                                 fec_override_cap_25g,
                                 fec_override_cap_10g_40g,
                                 fec_override_admin_56g,
                                 fec_override_admin_100g,
                                 fec_override_admin_50g,
                                 fec_override_admin_25g,
                                 fec_override_admin_10g_40g};
};
struct Pddr { // why the link is down; the page with the status stands at 0x08
    using F = Field<Pddr>;
    static constexpr u16 bytes = 0x100;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F page_select{0x04, 7, 0};
    static constexpr F group_opcode{0x08, 15, 0};
    static constexpr F status_opcode{0x0c, 31, 0};
    static constexpr u32 kTroubleshooting = 1; // page
    static constexpr u32 kNoIssue = 0, kClosedByCommand = 1, kNoPartner = 2, kNoPartnerForced = 36,
                         kNoCable = 1024;
    static constexpr F rows[] = {local_port, page_select, group_opcode, status_opcode};
};
struct Pmlp { // which lanes of which module the port uses
    using F = Field<Pmlp>;
    static constexpr u16 bytes = 0x40;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F width{0x00, 7, 0};
    static constexpr u16 lanes = 0x04; // LaneMapping each
    static constexpr F rows[] = {local_port, width};
};
struct LaneMapping {
    using F = Field<LaneMapping>;
    static constexpr u16 bytes = 0x04;
    static constexpr F rx_lane{0x00, 27, 24};
    static constexpr F tx_lane{0x00, 19, 16};
    static constexpr F module{0x00, 7, 0};
    static constexpr F rows[] = {rx_lane, tx_lane, module};
};
static_assert(disjoint(Pplm::rows) && disjoint(Pddr::rows) && disjoint(Pmlp::rows) &&
              disjoint(LaneMapping::rows));

// What registers and features there are: PCAM for 0x5000 to 0x507f, MCAM for groups of 0x80 from 0x9000 on,
// QCAM for 0x4000 to 0x407f. In both masks the bit of number n stands n bits before the end.
struct RegisterCaps {
    using F = Field<RegisterCaps>;
    static constexpr u16 bytes = 0x48; // MCAM and QCAM; PCAM is longer by reserved words
    static constexpr u16 pcam_bytes = 0x50;
    static constexpr F feature_group{0x00, 23, 16};
    static constexpr F access_reg_group{0x00, 7, 0};
    static constexpr u16 registers = 0x08, features = 0x28;
    static constexpr u16 mask_bytes = 0x10;
    static constexpr F rows[] = {feature_group, access_reg_group};
};
struct PcamFeatures {
    using F = Field<PcamFeatures>;
    static constexpr u16 bytes = 0x10;
    static constexpr F ptys_extended_ethernet{0x0c, 13, 13};
    static constexpr F pfcc_mask{0x0c, 9, 9};
    static constexpr F per_lane_error_counters{0x0c, 5, 5};
    static constexpr F rx_buffer_fullness_counters{0x0c, 4, 4};
    static constexpr F ptys_connector_type{0x0c, 3, 3};
    static constexpr F ppcnt_statistical_group{0x0c, 0, 0};
    static constexpr F rows[] = {ptys_extended_ethernet,      pfcc_mask,           per_lane_error_counters,
                                 rx_buffer_fullness_counters, ptys_connector_type, ppcnt_statistical_group};
};
struct McamFeatures {
    using F = Field<McamFeatures>;
    static constexpr u16 bytes = 0x10;
    static constexpr F mtutc_freq_adj_units{0x08, 15, 15};
    static constexpr F mtutc_time_adjustment_extended_range{0x08, 14, 14};
    static constexpr F mcia_32dwords{0x08, 2, 2};
    static constexpr F out_pulse_duration_ns{0x08, 1, 1};
    static constexpr F npps_period{0x08, 0, 0};
    static constexpr F ptpcyc2realtime_modify{0x0c, 20, 20};
    static constexpr F pci_status_and_power{0x0c, 17, 17};
    static constexpr F pcie_outbound_stalled{0x0c, 4, 4};
    static constexpr F tx_overflow_buffer_pkt{0x0c, 3, 3};
    static constexpr F mtpps_enh_out_per_adj{0x0c, 2, 2};
    static constexpr F mtpps_fs{0x0c, 1, 1};
    static constexpr F pcie_performance_group{0x0c, 0, 0};
    static constexpr F rows[] = {mtutc_freq_adj_units,
                                 mtutc_time_adjustment_extended_range,
                                 mcia_32dwords,
                                 out_pulse_duration_ns,
                                 npps_period,
                                 ptpcyc2realtime_modify,
                                 pci_status_and_power,
                                 pcie_outbound_stalled,
                                 tx_overflow_buffer_pkt,
                                 mtpps_enh_out_per_adj,
                                 mtpps_fs,
                                 pcie_performance_group};
};
static_assert(disjoint(RegisterCaps::rows) && disjoint(PcamFeatures::rows) && disjoint(McamFeatures::rows));

struct HostEndianness {
    static constexpr u16 bytes = 0x10;
    static constexpr u8 kLittle = 0x00, kBig = 0x80; // byte 0
};
static_assert(disjoint(AccessRegisterIn::rows) && disjoint(Pmtu::rows) && disjoint(Paos::rows) &&
              disjoint(Ptys::rows) && disjoint(Pfcc::rows) && disjoint(Ppcnt::rows));

} // namespace niclab
