// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Capability images of QUERY_HCA_CAP and SET_HCA_CAP: 4096 bytes at 0x10 of reply and command.
#pragma once

#include "spec/layout.h"

namespace niclab {

constexpr usize kCapBytes = 4096;
struct QueryHcaCapIn { // op_mod = type << 1 | mode
    static constexpr u16 bytes = 0x10;
    static constexpr u16 kCurrent = 1, kMaximum = 0;
};
struct QueryHcaCapOut {
    static constexpr u16 bytes = 0x1010;
    static constexpr u16 capability = 0x10;
};
enum class CapType : u8 {
    general = 0x00,
    ethernet = 0x01,
    odp = 0x02,
    atomic = 0x03,
    roce = 0x04,
    ipoib = 0x06,
    flow_table = 0x07,
    eswitch_flow_table = 0x08,
    eswitch = 0x09,
    vector_calc = 0x0b,
    qos = 0x0c,
    debug = 0x0d,
    device_memory = 0x0f,
    tls = 0x11,
    vdpa_emulation = 0x13,
    device_event = 0x14,
    ipsec = 0x15,
    crypto = 0x1a,
    shampo = 0x1d,
    macsec = 0x1f,
    general_2 = 0x20,
    port_selection = 0x25,
    adv_virtualization = 0x26,
};

// What queues may ask of the time stamps in their completions.
enum class TimeFormats : u8 { free_running = 0, real_time = 1, both = 2 };
struct GeneralCaps {
    using F = Field<GeneralCaps>;
    static constexpr u16 bytes = 0x100;
    static constexpr F hca_cap_2{0x004, 31, 31};
    static constexpr F vhca_id{0x004, 15, 0};
    static constexpr F log_max_qp_sz{0x010, 23, 16};
    static constexpr F log_max_qp{0x010, 4, 0};
    static constexpr F log_max_cq_sz{0x018, 23, 16};
    static constexpr F log_max_cq{0x018, 4, 0};
    static constexpr F log_max_eq_sz{0x01c, 31, 24};
    static constexpr F log_max_mkey{0x01c, 21, 16};
    static constexpr F log_max_eq{0x01c, 3, 0};
    static constexpr F eth_wqe_too_small{0x024, 13, 13};
    static constexpr F vnic_env_cq_overrun{0x024, 6, 6};
    static constexpr F qcam_reg{0x02c, 16, 16};
    static constexpr F max_indirection{0x020, 31, 24}; // levels of keys that refer to keys
    static constexpr F fixed_buffer_size{0x020, 23, 23};
    static constexpr F umr_extended_translation_offset{0x020, 7, 7};
    static constexpr F log_max_klm_list_size{0x020, 5, 0};
    static constexpr F pkey_table_size{0x030, 15, 0};
    static constexpr F vport_group_manager{0x034, 31, 31};
    static constexpr F vnic_env_queue_counters{0x034, 27, 27};
    static constexpr F nic_flow_table{0x034, 25, 25};
    static constexpr F eswitch_manager{0x034, 24, 24};
    static constexpr F mcam_reg{0x034, 22, 22};
    static constexpr F pcam_reg{0x034, 21, 21};
    static constexpr F port_module_event{0x034, 15, 15};
    static constexpr F ports_check{0x034, 13, 13};
    static constexpr F beacon_led{0x034, 10, 10};
    static constexpr F port_type{0x034, 9, 8}; // 1: Ethernet
    static constexpr F num_ports{0x034, 7, 0};
    static constexpr F pps{0x038, 30, 30};
    static constexpr F pps_modify{0x038, 29, 29};
    static constexpr F max_tc{0x038, 19, 16};
    static constexpr F temp_warn_event{0x038, 15, 15};
    static constexpr F general_notification_event{0x038, 13, 13};
    static constexpr F cqe_version{0x03c, 3, 0};
    static constexpr F striding_rq{0x040, 30, 30};
    static constexpr F cmdif_checksum{0x040, 15, 14};
    static constexpr F eth_net_offloads{0x040, 3, 3};
    static constexpr F cq_moderation{0x044, 29, 29};
    static constexpr F cq_period_mode_modify{0x044, 28, 28};
    static constexpr F cq_period_start_from_cqe{0x044, 20, 20};
    static constexpr F umr_ptr_rlky{0x044, 15, 15};
    static constexpr F uar_4k{0x048, 31, 31};
    static constexpr F uar_sz{0x048, 21, 16}; // log2 of MiB: the doorbell pages' share of BAR0
    static constexpr F log_pg_sz{0x048, 7, 0};
    static constexpr F driver_version{0x04c, 30, 30};
    static constexpr F log_bf_reg_size{0x04c, 20, 16};
    static constexpr F max_wqe_sz_sq{0x050, 15, 0};
    static constexpr F max_wqe_sz_rq{0x054, 15, 0};
    static constexpr F flow_counter_bulk_alloc{0x060, 15, 8};
    static constexpr F log_max_transport_domain{0x064, 28, 24};
    static constexpr F log_max_pd{0x064, 20, 16};
    static constexpr F nic_receive_steering_discard{0x068, 31, 31};
    static constexpr F receive_discard_vport_down{0x068, 30, 30};
    static constexpr F transmit_discard_vport_down{0x068, 29, 29};
    static constexpr F log_max_flow_counter_bulk{0x068, 23, 16};
    static constexpr F max_flow_counter_15_0{0x068, 15, 0};
    static constexpr F log_max_rq{0x06c, 28, 24};
    static constexpr F log_max_sq{0x06c, 20, 16};
    static constexpr F log_max_tir{0x06c, 12, 8};
    static constexpr F log_max_tis{0x06c, 4, 0};
    static constexpr F basic_cyclic_rcv_wqe{0x070, 31, 31};
    static constexpr F log_max_rqt{0x070, 20, 16};
    static constexpr F log_max_rqt_size{0x070, 12, 8};
    static constexpr F ext_stride_num_range{0x074, 31, 31};
    static constexpr F log_max_stride_sz_rq{0x074, 28, 24};
    static constexpr F log_min_stride_sz_rq{0x074, 20, 16};
    static constexpr F log_max_stride_sz_sq{0x074, 12, 8};
    static constexpr F log_min_stride_sz_sq{0x074, 4, 0};
    static constexpr F log_max_wq_sz{0x078, 4, 0};
    static constexpr F disable_local_lb_uc{0x07c, 30, 30};
    static constexpr F disable_local_lb_mc{0x07c, 29, 29};
    static constexpr F log_max_vlan_list{0x07c, 20, 16};
    static constexpr F log_max_current_mc_list{0x07c, 12, 8};
    static constexpr F log_max_current_uc_list{0x07c, 4, 0};
    static constexpr F sq_ts_format{0x088, 31, 30}; // TimeFormats
    static constexpr F rq_ts_format{0x088, 29, 28};
    static constexpr F max_num_eqs{0x08c, 15, 0};
    static constexpr F log_uar_page_sz{0x090, 15, 0};
    static constexpr F device_frequency_khz{0x09c, 31, 0};
    static constexpr F num_of_uars_per_page{0x0a4, 31, 0};
    static constexpr F mini_cqe_resp_stride_index{0x0b4, 3, 3};
    static constexpr F cqe_compression{0x0b4, 0, 0};
    static constexpr F cqe_compression_timeout{0x0b8, 31, 16};
    static constexpr F cqe_compression_max_num{0x0b8, 15, 0};
    static constexpr F rows[] = {hca_cap_2,
                                 vhca_id,
                                 log_max_qp_sz,
                                 log_max_qp,
                                 log_max_cq_sz,
                                 log_max_cq,
                                 log_max_eq_sz,
                                 log_max_mkey,
                                 log_max_eq,
                                 eth_wqe_too_small,
                                 vnic_env_cq_overrun,
                                 qcam_reg,
                                 max_indirection,
                                 fixed_buffer_size,
                                 umr_extended_translation_offset,
                                 log_max_klm_list_size,
                                 pkey_table_size,
                                 vport_group_manager,
                                 vnic_env_queue_counters,
                                 nic_flow_table,
                                 eswitch_manager,
                                 mcam_reg,
                                 pcam_reg,
                                 port_module_event,
                                 ports_check,
                                 beacon_led,
                                 port_type,
                                 num_ports,
                                 pps,
                                 pps_modify,
                                 max_tc,
                                 temp_warn_event,
                                 general_notification_event,
                                 cqe_version,
                                 striding_rq,
                                 cmdif_checksum,
                                 eth_net_offloads,
                                 cq_moderation,
                                 cq_period_mode_modify,
                                 cq_period_start_from_cqe,
                                 umr_ptr_rlky,
                                 uar_4k,
                                 uar_sz,
                                 log_pg_sz,
                                 driver_version,
                                 log_bf_reg_size,
                                 max_wqe_sz_sq,
                                 max_wqe_sz_rq,
                                 flow_counter_bulk_alloc,
                                 log_max_transport_domain,
                                 log_max_pd,
                                 nic_receive_steering_discard,
                                 receive_discard_vport_down,
                                 transmit_discard_vport_down,
                                 log_max_flow_counter_bulk,
                                 max_flow_counter_15_0,
                                 log_max_rq,
                                 log_max_sq,
                                 log_max_tir,
                                 log_max_tis,
                                 basic_cyclic_rcv_wqe,
                                 log_max_rqt,
                                 log_max_rqt_size,
                                 ext_stride_num_range,
                                 log_max_stride_sz_rq,
                                 log_min_stride_sz_rq,
                                 log_max_stride_sz_sq,
                                 log_min_stride_sz_sq,
                                 log_max_wq_sz,
                                 disable_local_lb_uc,
                                 disable_local_lb_mc,
                                 log_max_vlan_list,
                                 log_max_current_mc_list,
                                 log_max_current_uc_list,
                                 sq_ts_format,
                                 rq_ts_format,
                                 max_num_eqs,
                                 log_uar_page_sz,
                                 device_frequency_khz,
                                 num_of_uars_per_page,
                                 mini_cqe_resp_stride_index,
                                 cqe_compression,
                                 cqe_compression_timeout,
                                 cqe_compression_max_num};
};

// Who tells which headers a send WQE must hold inline: always the Ethernet header, the vport context, nobody.
enum class InlineRule : u8 { ethernet = 0, vport_context = 1, none = 2 };
struct EthernetCaps {
    using F = Field<EthernetCaps>;
    static constexpr u16 bytes = 0x40;
    static constexpr F csum_cap{0x00, 31, 31};
    static constexpr F vlan_cap{0x00, 30, 30};
    static constexpr F lro_cap{0x00, 29, 29};
    static constexpr F lro_psh_flag{0x00, 28, 28};
    static constexpr F lro_time_stamp{0x00, 27, 27};
    static constexpr F wqe_vlan_insert{0x00, 24, 24};
    static constexpr F self_lb_en_modifiable{0x00, 23, 23};
    static constexpr F max_lso_cap{0x00, 20, 16}; // log2 bytes
    static constexpr F wqe_inline_mode{0x00, 13, 12};
    static constexpr F rss_ind_tbl_cap{0x00, 11, 8}; // log2 entries
    static constexpr F reg_umr_sq{0x00, 7, 7};
    static constexpr F scatter_fcs{0x00, 6, 6};
    static constexpr F enhanced_multi_pkt_send_wqe{0x00, 5, 5};
    static constexpr F tunnel_stateless_gre{0x00, 1, 1};
    static constexpr F tunnel_stateless_vxlan{0x00, 0, 0};
    static constexpr F swp{0x04, 31, 31}; // software parser
    static constexpr F swp_csum{0x04, 30, 30};
    static constexpr F swp_lso{0x04, 29, 29};
    static constexpr F cqe_checksum_full{0x04, 28, 28};
    static constexpr F tunnel_stateless_geneve_tx{0x04, 27, 27};
    static constexpr F max_vxlan_udp_ports{0x04, 15, 8};
    static constexpr F tunnel_stateless_geneve_rx{0x04, 0, 0};
    static constexpr F lro_min_mss_size{0x08, 15, 0};
    static constexpr F lro_timer_period_0{0x30, 31, 0}; // microseconds, rising
    static constexpr F lro_timer_period_1{0x34, 31, 0};
    static constexpr F lro_timer_period_2{0x38, 31, 0};
    static constexpr F lro_timer_period_3{0x3c, 31, 0};
    static constexpr F rows[] = {csum_cap,
                                 vlan_cap,
                                 lro_cap,
                                 lro_psh_flag,
                                 lro_time_stamp,
                                 wqe_vlan_insert,
                                 self_lb_en_modifiable,
                                 max_lso_cap,
                                 wqe_inline_mode,
                                 rss_ind_tbl_cap,
                                 reg_umr_sq,
                                 scatter_fcs,
                                 enhanced_multi_pkt_send_wqe,
                                 tunnel_stateless_gre,
                                 tunnel_stateless_vxlan,
                                 swp,
                                 swp_csum,
                                 swp_lso,
                                 cqe_checksum_full,
                                 tunnel_stateless_geneve_tx,
                                 max_vxlan_udp_ports,
                                 tunnel_stateless_geneve_rx,
                                 lro_min_mss_size,
                                 lro_timer_period_0,
                                 lro_timer_period_1,
                                 lro_timer_period_2,
                                 lro_timer_period_3};
};

struct FlowTableCaps { // properties of one table type; NIC receive at 0x40 of the image, NIC transmit at
                       // 0x100
    using F = Field<FlowTableCaps>;
    static constexpr u16 bytes = 0x40;
    static constexpr u16 kNicRx = 0x40, kNicTx = 0x100;
    static constexpr F ft_support{0x00, 31, 31};
    static constexpr F flow_counter{0x00, 29, 29};
    static constexpr F flow_modify_en{0x00, 28, 28};
    static constexpr F modify_root{0x00, 27, 27};
    static constexpr F identified_miss_table_mode{0x00, 26, 26};
    static constexpr F flow_table_modify{0x00, 25, 25};
    static constexpr F ignore_flow_level{0x00, 10, 10};
    static constexpr F log_max_ft_size{0x04, 29, 24};
    static constexpr F max_ft_level{0x04, 7, 0};
    static constexpr F log_max_ft_num{0x0c, 7, 0};
    static constexpr F log_max_destination{0x10, 7, 0};
    static constexpr F log_max_flow{0x14, 7, 0};
    static constexpr F field_support{0x20, 31, 0}; // one bit per matchable field, first word
    static constexpr F inner_field_support{0x24, 31, 0};
    static constexpr F rows[] = {ft_support,
                                 flow_counter,
                                 flow_modify_en,
                                 modify_root,
                                 identified_miss_table_mode,
                                 flow_table_modify,
                                 ignore_flow_level,
                                 log_max_ft_size,
                                 max_ft_level,
                                 log_max_ft_num,
                                 log_max_destination,
                                 log_max_flow,
                                 field_support,
                                 inner_field_support};
};
static_assert(disjoint(GeneralCaps::rows) && disjoint(EthernetCaps::rows) && disjoint(FlowTableCaps::rows));

} // namespace niclab
