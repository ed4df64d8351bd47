// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Flow tables, groups, entries and the match parameter block.
#pragma once

#include "spec/layout.h"

namespace niclab {

enum class TableType : u8 { nic_rx = 0, nic_tx = 1 };
enum class MissAction : u8 { drop = 0, table = 1, switch_domain = 2 };

struct FlowTableIn { // the words that all flow-table commands share
    using F = Field<FlowTableIn>;
    static constexpr u16 bytes = 0x20;
    static constexpr F other_vport{0x08, 31, 31};
    static constexpr F vport_number{0x08, 15, 0};
    static constexpr F table_type{0x10, 31, 24};
    static constexpr F table_id{0x14, 23, 0}; // not in CREATE_FLOW_TABLE
    static constexpr F rows[] = {other_vport, vport_number, table_type, table_id};
};
struct FlowTableContext {
    using F = Field<FlowTableContext>;
    static constexpr u16 bytes = 0x28;
    static constexpr F reformat_en{0x00, 31, 31};
    static constexpr F decap_en{0x00, 30, 30};
    static constexpr F termination_table{0x00, 28, 28};
    static constexpr F table_miss_action{0x00, 27, 24};
    static constexpr F level{0x00, 23, 16};
    static constexpr F log_size{0x00, 7, 0};
    static constexpr F table_miss_id{0x04, 23, 0};
    static constexpr F rows[] = {reformat_en, decap_en, termination_table, table_miss_action,
                                 level,       log_size, table_miss_id};
};
struct CreateFlowTableIn {
    static constexpr u16 bytes = 0x40;
    static constexpr u16 context = 0x18;
};
struct ModifyFlowTableIn {
    using F = Field<ModifyFlowTableIn>;
    static constexpr u16 bytes = 0x40;
    static constexpr F select_lag{0x0c, 15, 15};
    static constexpr F select_miss{0x0c, 0, 0};
    static constexpr u16 context = 0x18;
    static constexpr F rows[] = {select_lag, select_miss};
};
struct SetFlowTableRootIn { // op_mod 0 set, 1 disconnect
    using F = Field<SetFlowTableRootIn>;
    static constexpr u16 bytes = 0x40;
    static constexpr F underlay_qpn{0x18, 23, 0};
    static constexpr F rows[] = {underlay_qpn};
};
struct CreateFlowGroupIn {
    using F = Field<CreateFlowGroupIn>;
    static constexpr u16 bytes = 0x400;
    static constexpr F start_flow_index{0x1c, 31, 0};
    static constexpr F end_flow_index{0x24, 31, 0}; // inclusive
    static constexpr F match_criteria_enable{0x3c, 7, 0};
    static constexpr u16 match_criteria = 0x40;
    static constexpr u32 kOuter = 1, kMisc = 2, kInner = 4, kMisc2 = 8;
    static constexpr F rows[] = {start_flow_index, end_flow_index, match_criteria_enable};
};
struct DestroyFlowGroupIn {
    using F = Field<DestroyFlowGroupIn>;
    static constexpr u16 bytes = 0x40;
    static constexpr F group_id{0x18, 31, 0};
    static constexpr F rows[] = {group_id};
};
namespace flow_action {
constexpr u32 kAllow = 0x1, kDrop = 0x2, kForward = 0x4, kCount = 0x8;
}
enum class Destination : u8 { vport = 0, table = 1, tir = 2 };
struct SetFteIn { // op_mod 0 set, 1 modify
    using F = Field<SetFteIn>;
    static constexpr u16 bytes = 0x340;
    static constexpr F modify_enable_mask{0x18, 7, 0};
    static constexpr F flow_index{0x20, 31, 0};
    static constexpr u16 context = 0x40;
    static constexpr F group_id{0x44, 31, 0};
    static constexpr F flow_tag{0x48, 23, 0};
    static constexpr F action{0x4c, 15, 0};
    static constexpr F destination_list_size{0x50, 23, 0};
    static constexpr F flow_counter_list_size{0x54, 23, 0};
    static constexpr u16 match_value = 0x80;
    static constexpr u16 destination = 0x340; // 8 bytes each: FlowDestination
    static constexpr u32 kModifyAction = 1, kModifyTag = 2, kModifyDestinations = 4, kModifyCounters = 8;
    static constexpr F rows[] = {
        modify_enable_mask,    flow_index, group_id, flow_tag, action, destination_list_size,
        flow_counter_list_size};
};
struct FlowDestination {
    using F = Field<FlowDestination>;
    static constexpr u16 bytes = 8;
    static constexpr F type{0x00, 31, 24};
    static constexpr F id{0x00, 23, 0};
    static constexpr F rows[] = {type, id};
};
struct FlowCounterEntry { // stands behind the destinations
    using F = Field<FlowCounterEntry>;
    static constexpr u16 bytes = 8;
    static constexpr F flow_counter_id{0x00, 31, 0};
    static constexpr F rows[] = {flow_counter_id};
};
struct AllocFlowCounterIn {
    using F = Field<AllocFlowCounterIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F flow_counter_bulk_log_size{0x0c, 12, 8};
    static constexpr F flow_counter_bulk{0x0c, 7, 0};
    static constexpr F rows[] = {flow_counter_bulk_log_size, flow_counter_bulk};
};
struct AllocFlowCounterOut { // and the input of DEALLOC_FLOW_COUNTER
    using F = Field<AllocFlowCounterOut>;
    static constexpr u16 bytes = 0x10;
    static constexpr F flow_counter_id{0x08, 31, 0};
    static constexpr F rows[] = {flow_counter_id};
};
struct QueryFlowCounterIn {
    using F = Field<QueryFlowCounterIn>;
    static constexpr u16 bytes = 0x20;
    static constexpr F clear{0x18, 31, 31};
    static constexpr F num_of_counters{0x18, 15, 0}; // 0: the one
    static constexpr F flow_counter_id{0x1c, 31, 0};
    static constexpr F rows[] = {clear, num_of_counters, flow_counter_id};
};
struct QueryFlowCounterOut {
    static constexpr u16 bytes = 0x10;
    static constexpr u16 statistics = 0x10; // for each counter packets and octets, 64 bits each
    static constexpr u16 statistics_bytes = 0x10;
};
static_assert(disjoint(FlowCounterEntry::rows) && disjoint(AllocFlowCounterIn::rows) &&
              disjoint(AllocFlowCounterOut::rows) && disjoint(QueryFlowCounterIn::rows));
struct DeleteFteIn {
    using F = Field<DeleteFteIn>;
    static constexpr u16 bytes = 0x40;
    static constexpr F flow_index{0x20, 31, 0};
    static constexpr F rows[] = {flow_index};
};
static_assert(disjoint(FlowTableIn::rows) && disjoint(FlowTableContext::rows) &&
              disjoint(ModifyFlowTableIn::rows) && disjoint(SetFlowTableRootIn::rows) &&
              disjoint(CreateFlowGroupIn::rows) && disjoint(DestroyFlowGroupIn::rows) &&
              disjoint(SetFteIn::rows) && disjoint(FlowDestination::rows) && disjoint(DeleteFteIn::rows));

// Layers 2 to 4 of a packet, as mask (group) or value (entry). The outer block starts at 0x00 of the 512
// bytes, that of what a tunnel carries at 0x80.
constexpr usize kMatchParamBytes = 512;
constexpr u16 kMatchInner = 0x80;
struct MatchL2L4 {
    using F = Field<MatchL2L4>;
    static constexpr u16 bytes = 0x40;
    static constexpr u16 smac = 0x00; // six bytes
    static constexpr F ethertype{0x04, 15, 0};
    static constexpr u16 dmac = 0x08; // six bytes
    static constexpr F first_prio{0x0c, 15, 13};
    static constexpr F first_cfi{0x0c, 12, 12};
    static constexpr F first_vid{0x0c, 11, 0};
    static constexpr F ip_protocol{0x10, 31, 24};
    static constexpr F ip_dscp{0x10, 23, 18};
    static constexpr F ip_ecn{0x10, 17, 16};
    static constexpr F cvlan_tag{0x10, 15, 15};
    static constexpr F svlan_tag{0x10, 14, 14};
    static constexpr F frag{0x10, 13, 13};
    static constexpr F ip_version{0x10, 12, 9};
    static constexpr F tcp_flags{0x10, 8, 0};
    static constexpr F tcp_sport{0x14, 31, 16};
    static constexpr F tcp_dport{0x14, 15, 0};
    static constexpr F ttl_hoplimit{0x18, 7, 0};
    static constexpr F udp_sport{0x1c, 31, 16};
    static constexpr F udp_dport{0x1c, 15, 0};
    static constexpr u16 src_ip = 0x20; // sixteen bytes; IPv4 in the last four
    static constexpr u16 dst_ip = 0x30;
    static constexpr F rows[] = {ethertype, first_prio, first_cfi,    first_vid, ip_protocol, ip_dscp,
                                 ip_ecn,    cvlan_tag,  svlan_tag,    frag,      ip_version,  tcp_flags,
                                 tcp_sport, tcp_dport,  ttl_hoplimit, udp_sport, udp_dport};
};
static_assert(disjoint(MatchL2L4::rows));

} // namespace niclab
