// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Device-level commands: enable, ISSI, pages, adapter, vport, counters, register access.
#pragma once

#include "spec/layout.h"

namespace niclab {

struct EnableHcaIn { // also DISABLE_HCA
    using F = Field<EnableHcaIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F embedded_cpu{0x08, 31, 31};
    static constexpr F function_id{0x08, 15, 0};
    static constexpr F rows[] = {embedded_cpu, function_id};
};
struct QueryIssiOut {
    using F = Field<QueryIssiOut>;
    static constexpr u16 bytes = 0x70;
    static constexpr F current_issi{0x08, 15, 0};
    static constexpr F supported_issi_dw0{0x6c, 31, 0}; // bit n: ISSI n
    static constexpr F rows[] = {current_issi, supported_issi_dw0};
};
struct SetIssiIn {
    using F = Field<SetIssiIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F current_issi{0x08, 15, 0};
    static constexpr F rows[] = {current_issi};
};
struct TeardownHcaIn {
    using F = Field<TeardownHcaIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F profile{0x08, 15, 0}; // 0 graceful, 1 force, 2 fast
    static constexpr F rows[] = {profile};
};
static_assert(disjoint(EnableHcaIn::rows) && disjoint(QueryIssiOut::rows) && disjoint(SetIssiIn::rows) &&
              disjoint(TeardownHcaIn::rows));

// Pages: op_mod of QUERY_PAGES and MANAGE_PAGES.
enum class QueryPages : u16 { boot = 1, init = 2, regular = 3 };
enum class ManagePages : u16 { cannot_give = 0, give = 1, take = 2 };
constexpr usize kHostPageBytes = 4096;

struct QueryPagesOut {
    using F = Field<QueryPagesOut>;
    static constexpr u16 bytes = 0x10;
    static constexpr F embedded_cpu{0x08, 31, 31};
    static constexpr F function_id{0x08, 15, 0};
    static constexpr F num_pages{0x0c, 31, 0}; // signed: > 0 wanted, < 0 to be returned
    static constexpr F rows[] = {embedded_cpu, function_id, num_pages};
};
struct ManagePagesIn {
    using F = Field<ManagePagesIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F embedded_cpu{0x08, 31, 31};
    static constexpr F function_id{0x08, 15, 0};
    static constexpr F input_num_entries{0x0c, 31, 0};
    static constexpr u16 pas = 0x10; // 64-bit addresses, give only
    static constexpr F rows[] = {embedded_cpu, function_id, input_num_entries};
};
struct ManagePagesOut {
    using F = Field<ManagePagesOut>;
    static constexpr u16 bytes = 0x10;
    static constexpr F output_num_entries{0x08, 31, 0};
    static constexpr u16 pas = 0x10; // 64-bit addresses, take only
    static constexpr F rows[] = {output_num_entries};
};
static_assert(disjoint(QueryPagesOut::rows) && disjoint(ManagePagesIn::rows) &&
              disjoint(ManagePagesOut::rows));

struct QueryAdapterOut {
    using F = Field<QueryAdapterOut>;
    static constexpr u16 bytes = 0x110;
    static constexpr F ieee_vendor_id{0x28, 23, 0};
    static constexpr u16 psid = 0x100; // 16 ASCII bytes
    static constexpr F rows[] = {ieee_vendor_id};
};
static_assert(disjoint(QueryAdapterOut::rows));

struct SetDriverVersionIn {
    static constexpr u16 bytes = 0x50;
    static constexpr u16 text = 0x10; // 64 bytes
};

struct QueryVportStateOut {
    using F = Field<QueryVportStateOut>;
    static constexpr u16 bytes = 0x10;
    static constexpr F max_tx_speed{0x08, 31, 16};
    static constexpr F admin_state{0x0c, 7, 4};
    static constexpr F state{0x0c, 3, 0};
    static constexpr F rows[] = {max_tx_speed, admin_state, state};
};
struct ModifyVportStateIn {
    using F = Field<ModifyVportStateIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F other_vport{0x08, 31, 31};
    static constexpr F vport_number{0x08, 15, 0};
    static constexpr F admin_state{0x0c, 7, 4};
    static constexpr F rows[] = {other_vport, vport_number, admin_state};
};
static_assert(disjoint(QueryVportStateOut::rows) && disjoint(ModifyVportStateIn::rows));

struct QueryNicVportContextIn {
    using F = Field<QueryNicVportContextIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F other_vport{0x08, 31, 31};
    static constexpr F vport_number{0x08, 15, 0};
    static constexpr F allowed_list_type{0x0c, 26, 24}; // 0 unicast, 1 multicast, 2 VLAN
    static constexpr F rows[] = {other_vport, vport_number, allowed_list_type};
};
// The context: at 0x10 of the query reply, at 0x100 of the modify command.
struct NicVportContext {
    using F = Field<NicVportContext>;
    static constexpr u16 bytes = 0x100;
    static constexpr F min_wqe_inline_mode{0x00, 26, 24};
    static constexpr F disable_mc_local_lb{0x00, 2, 2};
    static constexpr F disable_uc_local_lb{0x00, 1, 1};
    static constexpr F roce_en{0x00, 0, 0};
    static constexpr F mtu{0x24, 15, 0};
    static constexpr Field64<NicVportContext> system_image_guid{0x28};
    static constexpr Field64<NicVportContext> port_guid{0x30};
    static constexpr Field64<NicVportContext> node_guid{0x38};
    static constexpr F promisc_uc{0xf0, 31, 31};
    static constexpr F promisc_mc{0xf0, 30, 30};
    static constexpr F promisc_all{0xf0, 29, 29};
    static constexpr F allowed_list_type{0xf0, 26, 24};
    static constexpr F allowed_list_size{0xf0, 11, 0};
    static constexpr u16 permanent_address = 0xf6; // six bytes
    static constexpr u16 list = 0x100;             // 8-byte entries: MAC in bytes 2..7, or VLAN @0[11:0]
    static constexpr F rows[] = {
        min_wqe_inline_mode, disable_mc_local_lb, disable_uc_local_lb, roce_en,           mtu,
        promisc_uc,          promisc_mc,          promisc_all,         allowed_list_type, allowed_list_size};
};
struct QueryNicVportContextOut {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x10;
};
struct ModifyNicVportContextIn {
    using F = Field<ModifyNicVportContextIn>;
    static constexpr u16 bytes = 0x200;
    static constexpr F other_vport{0x08, 31, 31};
    static constexpr F vport_number{0x08, 15, 0};
    // field_select @0xc
    static constexpr F select_node_guid{0x0c, 9, 9};
    static constexpr F select_port_guid{0x0c, 8, 8};
    static constexpr F select_min_inline{0x0c, 7, 7};
    static constexpr F select_mtu{0x0c, 6, 6};
    static constexpr F select_change_event{0x0c, 5, 5};
    static constexpr F select_promisc{0x0c, 4, 4};
    static constexpr F select_permanent_address{0x0c, 3, 3};
    static constexpr F select_addresses_list{0x0c, 2, 2};
    static constexpr F select_roce_en{0x0c, 1, 1};
    static constexpr F select_disable_uc_local_lb{0x0c, 11, 11};
    static constexpr F select_disable_mc_local_lb{0x0c, 10, 10};
    static constexpr u16 context = 0x100;
    static constexpr F rows[] = {other_vport,
                                 vport_number,
                                 select_node_guid,
                                 select_port_guid,
                                 select_min_inline,
                                 select_mtu,
                                 select_change_event,
                                 select_promisc,
                                 select_permanent_address,
                                 select_addresses_list,
                                 select_roce_en,
                                 select_disable_uc_local_lb,
                                 select_disable_mc_local_lb};
};
static_assert(disjoint(QueryNicVportContextIn::rows) && disjoint(NicVportContext::rows) &&
              disjoint(ModifyNicVportContextIn::rows));

// Counters of one vport: {packets, octets} pairs of 64 bits, offsets in the reply.
struct QueryVportCounterOut {
    static constexpr u16 bytes = 0x210;
    static constexpr u16 received_errors = 0x10, transmit_errors = 0x20;
    static constexpr u16 received_broadcast = 0x70, transmitted_broadcast = 0x80;
    static constexpr u16 received_unicast = 0x90, transmitted_unicast = 0xa0;
    static constexpr u16 received_multicast = 0xb0, transmitted_multicast = 0xc0;
};
struct QueryVportCounterIn {
    using F = Field<QueryVportCounterIn>;
    static constexpr u16 bytes = 0x20;
    static constexpr F other_vport{0x08, 31, 31};
    static constexpr F vport_number{0x08, 15, 0};
    static constexpr F clear{0x18, 31, 31};
    static constexpr F rows[] = {other_vport, vport_number, clear};
};
struct QueryVnicEnvOut { // what the port's function lost, and why
    using F = Field<QueryVnicEnvOut>;
    static constexpr u16 bytes = 0x210;
    static constexpr F total_error_queues{0x14, 31, 0};
    static constexpr F send_queue_priority_update_flow{0x18, 31, 0};
    static constexpr Field64<QueryVnicEnvOut> nic_receive_steering_discard{0x20};
    static constexpr Field64<QueryVnicEnvOut> receive_discard_vport_down{0x28};
    static constexpr Field64<QueryVnicEnvOut> transmit_discard_vport_down{0x30};
    static constexpr F cq_overrun{0x50, 31, 0};
    static constexpr F eth_wqe_too_small{0x54, 31, 0};
    static constexpr F rows[] = {total_error_queues, send_queue_priority_update_flow, cq_overrun,
                                 eth_wqe_too_small};
};
struct AllocQCounterOut {
    using F = Field<AllocQCounterOut>;
    static constexpr u16 bytes = 0x10;
    static constexpr F counter_set_id{0x08, 7, 0};
    static constexpr F rows[] = {counter_set_id};
};
struct DeallocQCounterIn {
    using F = Field<DeallocQCounterIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F counter_set_id{0x08, 7, 0};
    static constexpr F rows[] = {counter_set_id};
};
struct QueryQCounterIn {
    using F = Field<QueryQCounterIn>;
    static constexpr u16 bytes = 0x20;
    static constexpr F clear{0x18, 31, 31};
    static constexpr F counter_set_id{0x1c, 7, 0};
    static constexpr F rows[] = {clear, counter_set_id};
};
struct QueryQCounterOut {
    using F = Field<QueryQCounterOut>;
    static constexpr u16 bytes = 0x100;
    static constexpr F rx_write_requests{0x10, 31, 0};
    static constexpr F out_of_buffer{0x30, 31, 0};
    static constexpr F rows[] = {rx_write_requests, out_of_buffer};
};
static_assert(disjoint(QueryVnicEnvOut::rows) && disjoint(QueryVportCounterIn::rows) &&
              disjoint(AllocQCounterOut::rows) && disjoint(DeallocQCounterIn::rows) &&
              disjoint(QueryQCounterIn::rows) && disjoint(QueryQCounterOut::rows));

} // namespace niclab
