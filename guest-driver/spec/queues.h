// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Contexts of event, completion, receive and send queues, and of the objects they refer to.
#pragma once

#include "spec/layout.h"

namespace niclab {

// ---- Event queues
// -------------------------------------------------------------------------------------------------
struct EqContext {
    using F = Field<EqContext>;
    static constexpr u16 bytes = 0x40;
    static constexpr F status{0x00, 31, 28};
    static constexpr F oi{0x00, 17, 17};
    static constexpr F st{0x00, 11, 8};
    static constexpr F page_offset{0x08, 11, 6};
    static constexpr F log_eq_size{0x0c, 28, 24};
    static constexpr F uar_page{0x0c, 23, 0};
    static constexpr F intr{0x14, 11, 0};
    static constexpr F log_page_size{0x18, 28, 24}; // minus 12
    static constexpr F consumer_counter{0x28, 23, 0};
    static constexpr F producer_counter{0x2c, 23, 0};
    static constexpr F rows[] = {
        status,          oi, st, page_offset, log_eq_size, uar_page, intr, log_page_size, consumer_counter,
        producer_counter};
};
struct CreateEqIn {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x10;
    static constexpr u16 event_bitmask = 0x58; // four 64-bit words, the first covers events 0..63
    static constexpr u16 pas = 0x110;
};
struct CreateEqOut {
    using F = Field<CreateEqOut>;
    static constexpr u16 bytes = 0x10;
    static constexpr F eq_number{0x08, 7, 0};
    static constexpr F rows[] = {eq_number};
};
struct EqNumberIn { // DESTROY_EQ, QUERY_EQ
    using F = Field<EqNumberIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F eq_number{0x08, 7, 0};
    static constexpr F rows[] = {eq_number};
};
struct QueryEqOut {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x10;
};
enum class EqState : u8 { armed = 0x9, fired = 0xa, always_armed = 0xb };
static_assert(disjoint(EqContext::rows) && disjoint(CreateEqOut::rows) && disjoint(EqNumberIn::rows));

constexpr usize kEqeBytes = 64;
enum class Event : u8 {
    completion = 0x00,
    cq_error = 0x04,
    wq_catastrophic = 0x05,
    port_change = 0x09,
    command = 0x0a,
    page_request = 0x0b,
    wq_invalid_request = 0x10,
    wq_access_violation = 0x11,
    port_module = 0x16,
    temperature = 0x17,
    pulse = 0x25,
};
enum class ModuleEvent : u8 { plugged = 1, unplugged = 2 };
enum class PortEvent : u8 { down = 1, active = 4 };
struct Eqe {
    using F = Field<Eqe>;
    static constexpr u16 bytes = 0x40;
    static constexpr F type{0x00, 23, 16};
    static constexpr F sub_type{0x00, 7, 0};
    static constexpr F owner{0x3c, 0, 0};
    static constexpr u16 owner_byte = 0x3f;
    // event data
    static constexpr F completion_cqn{0x38, 23, 0};
    static constexpr F cq_error_cqn{0x20, 23, 0};
    static constexpr F cq_error_syndrome{0x28, 7, 0};
    static constexpr F command_vector{0x20, 31, 0};
    static constexpr F port_number{0x28, 31, 28};
    static constexpr F page_function_id{0x20, 15, 0};
    static constexpr F page_count{0x24, 31, 0}; // signed
    static constexpr F wq_type{0x34, 31, 24};   // 0 QP, 1 RQ, 2 SQ
};

// ---- Completion queues
// --------------------------------------------------------------------------------------------
constexpr u32 kPeriodFromEqe = 0, kPeriodFromCqe = 1; // CqContext::cq_period_mode
struct CqContext {
    using F = Field<CqContext>;
    static constexpr u16 bytes = 0x40;
    static constexpr F status{0x00, 31, 28};
    static constexpr F cqe_sz{0x00, 23, 21}; // 0: 64 bytes
    static constexpr F oi{0x00, 17, 17};
    static constexpr F cq_period_mode{0x00, 16, 15};
    static constexpr F cqe_comp_en{0x00, 14, 14};
    static constexpr F mini_cqe_res_format{0x00, 13, 12}; // MiniCqeFormat
    static constexpr F st{0x00, 11, 8};
    static constexpr F cqe_compression_layout{0x00, 1, 0};
    static constexpr F page_offset{0x08, 11, 6};
    static constexpr F log_cq_size{0x0c, 28, 24};
    static constexpr F uar_page{0x0c, 23, 0};
    static constexpr F cq_period{0x10, 27, 16}; // microseconds
    static constexpr F cq_max_count{0x10, 15, 0};
    static constexpr F c_eqn{0x14, 31, 0};
    static constexpr F log_page_size{0x18, 28, 24}; // minus 12
    static constexpr F consumer_counter{0x28, 23, 0};
    static constexpr F producer_counter{0x2c, 23, 0};
    static constexpr Field64<CqContext> dbr_addr{0x38};
    static constexpr F rows[] = {status,
                                 cqe_sz,
                                 oi,
                                 cq_period_mode,
                                 cqe_comp_en,
                                 mini_cqe_res_format,
                                 cqe_compression_layout,
                                 st,
                                 page_offset,
                                 log_cq_size,
                                 uar_page,
                                 cq_period,
                                 cq_max_count,
                                 c_eqn,
                                 log_page_size,
                                 consumer_counter,
                                 producer_counter};
};
struct CreateCqIn {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x10;
    static constexpr u16 pas = 0x110;
};
struct ModifyCqIn {
    using F = Field<ModifyCqIn>;
    static constexpr u16 bytes = 0x110;
    static constexpr F cqn{0x08, 23, 0};
    static constexpr F field_select{0x0c, 31, 0}; // the bits below as one word
    static constexpr F select_period{0x0c, 0, 0};
    static constexpr F select_count{0x0c, 1, 1};
    static constexpr F select_oi{0x0c, 2, 2};
    static constexpr F select_period_mode{0x0c, 4, 4};
    static constexpr u16 context = 0x10;
    static constexpr F rows[] = {cqn, select_period, select_count, select_oi, select_period_mode};
};
struct QueryCqOut {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x10;
};
static_assert(disjoint(CqContext::rows) && disjoint(ModifyCqIn::rows));

constexpr usize kCqeBytes = 64;
enum class CqeOpcode : u8 {
    requester = 0,
    responder_send = 2,
    requester_error = 13,
    responder_error = 14,
    invalid = 15
};
// What the first word of a mini entry holds; the second is the length.
enum class MiniCqeFormat : u8 { hash = 0, checksum = 1, checksum_stride = 3 };
constexpr usize kMiniCqeBytes = 8;
enum class CqeSyndrome : u8 {
    none = 0,
    local_length = 0x01,
    local_qp_operation = 0x02,
    local_protection = 0x04,
    flushed = 0x05,
    memory_window_bind = 0x06, // also a UMR that the key does not allow
    local_access = 0x11,
};
struct Cqe {
    using F = Field<Cqe>;
    static constexpr u16 bytes = 0x40;
    static constexpr F outer_l3_ipv6{0x00, 25, 25};
    static constexpr F tunneled{0x00, 24, 24};
    static constexpr F wqe_id{0x00, 15, 0}; // striding receive queue: index of the WQE
    // merged frames (LRO)
    static constexpr F lro_tcp_psh{0x04, 30, 30};
    static constexpr F lro_min_ttl{0x04, 23, 16};
    static constexpr F lro_tcp_win{0x04, 15, 0};
    static constexpr F lro_ack_seq_num{0x08, 31, 0};
    static constexpr F rss_hash_result{0x0c, 31, 0};
    static constexpr F rss_hash_l4{0x10, 31, 30}; // 0 none, 1 TCP, 2 UDP, 3 SPI
    static constexpr F rss_hash_ip{0x10, 27, 26}; // 0 none, 1 IPv4, 2 IPv6
    static constexpr F ecn_ce{0x10, 23, 23};
    static constexpr F check_sum{0x14, 31, 16};
    static constexpr F l4_ok{0x1c, 26, 26};
    static constexpr F l3_ok{0x1c, 25, 25};
    static constexpr F l2_ok{0x1c, 24, 24};
    static constexpr F ip_frag{0x1c, 23, 23};
    static constexpr F l4_hdr_type{0x1c, 22,
                                   20}; // 0 none, 1 TCP, 2 UDP, 3 TCP without data, 4 TCP ack with data
    static constexpr F l3_hdr_type{0x1c, 19, 18}; // 0 none, 1 IPv6, 2 IPv4
    static constexpr F ip_ext_opts{0x1c, 17, 17};
    static constexpr F vlan_stripped{0x1c, 16, 16};
    static constexpr F vlan_info{0x1c, 15, 0};
    static constexpr F lro_num_seg{0x20, 31, 24};
    static constexpr F user_index{0x20, 23, 0};
    static constexpr F ft_metadata{0x24, 31, 0};
    static constexpr F byte_cnt{0x2c, 31, 0};
    // byte_cnt of a striding receive queue
    static constexpr F filler{0x2c, 31, 31};
    static constexpr F strides{0x2c, 30, 16};
    static constexpr F stride_byte_cnt{0x2c, 15, 0};
    static constexpr Field64<Cqe> timestamp{0x30};
    static constexpr F qpn{0x38, 23, 0}; // requester: SQ number; responder: flow tag
    static constexpr F wqe_counter{0x3c, 31, 16};
    static constexpr F opcode{0x3c, 7, 4};
    static constexpr F format{0x3c, 3, 2};
    static constexpr u32 kFormatCompressed = 3;
    static constexpr F solicited{0x3c, 1, 1};
    static constexpr F owner{0x3c, 0, 0};
    static constexpr u16 op_own_byte = 0x3f;
    static constexpr F rows[] = {
        outer_l3_ipv6,   tunneled,    wqe_id,      lro_tcp_psh, lro_min_ttl, lro_tcp_win,   lro_ack_seq_num,
        rss_hash_result, rss_hash_l4, rss_hash_ip, ecn_ce,      check_sum,   l4_ok,         l3_ok,
        l2_ok,           ip_frag,     l4_hdr_type, l3_hdr_type, ip_ext_opts, vlan_stripped, vlan_info,
        lro_num_seg,     user_index,  ft_metadata, byte_cnt,    qpn,         wqe_counter,   opcode,
        format,          solicited,   owner};
};
struct ErrorCqe { // opcodes 13 and 14
    using F = Field<ErrorCqe>;
    static constexpr u16 bytes = 0x40;
    static constexpr F wqe_id{0x00, 15, 0};   // striding receive queue, as in Cqe
    static constexpr F strides{0x2c, 30, 16}; // likewise
    static constexpr F vendor_syndrome{0x34, 15, 8};
    static constexpr F syndrome{0x34, 7, 0};
    static constexpr F wqe_opcode{0x38, 31, 24};
    static constexpr F qpn{0x38, 23, 0};
    static constexpr F wqe_counter{0x3c, 31, 16};
    static constexpr F opcode{0x3c, 7, 4};
    static constexpr F owner{0x3c, 0, 0};
    static constexpr F rows[] = {wqe_id, strides,     vendor_syndrome, syndrome, wqe_opcode,
                                 qpn,    wqe_counter, opcode,          owner};
};
static_assert(disjoint(Cqe::rows) && disjoint(ErrorCqe::rows));

// ---- Work queues
// --------------------------------------------------------------------------------------------------
enum class WqType : u8 { linked_list = 0, cyclic = 1, linked_list_striding = 2, cyclic_striding = 3 };
enum class QueueState : u8 { reset = 0, ready = 1, error = 3 };

struct WqContext {
    using F = Field<WqContext>;
    static constexpr u16 bytes = 0xc0;
    static constexpr F wq_type{0x00, 31, 28};
    static constexpr F end_padding_mode{0x00, 26, 25};
    static constexpr F page_offset{0x04, 20, 16};
    static constexpr F pd{0x08, 23, 0};
    static constexpr F uar_page{0x0c, 23, 0};
    static constexpr Field64<WqContext> dbr_addr{0x10};
    static constexpr F log_wq_stride{0x20, 19, 16};
    static constexpr F log_wq_pg_sz{0x20, 12, 8}; // minus 12
    static constexpr F log_wq_sz{0x20, 4, 0};
    static constexpr F log_wqe_num_of_strides{0x24, 11, 8}; // minus 9, two's complement
    static constexpr F two_byte_shift_en{0x24, 7, 7};
    static constexpr F log_wqe_stride_size{0x24, 2, 0}; // minus 6
    static constexpr u16 pas = 0xc0;
    static constexpr F rows[] = {wq_type,
                                 end_padding_mode,
                                 page_offset,
                                 pd,
                                 uar_page,
                                 log_wq_stride,
                                 log_wq_pg_sz,
                                 log_wq_sz,
                                 log_wqe_num_of_strides,
                                 two_byte_shift_en,
                                 log_wqe_stride_size};
};
// ts_format of a queue: the internal timer, what the card was set up for, seconds and nanoseconds.
enum class TimeFormat : u8 { free_running = 0, standard = 1, real_time = 2 };
struct RqContext {
    using F = Field<RqContext>;
    static constexpr u16 bytes = 0x30; // up to, not including, the work queue
    static constexpr F rlky{0x00, 31, 31};
    static constexpr F scatter_fcs{0x00, 29, 29};
    static constexpr F vsd{0x00, 28, 28}; // 1: do not strip VLAN
    static constexpr F mem_rq_type{0x00, 27, 24};
    static constexpr F state{0x00, 23, 20};
    static constexpr F flush_in_error_en{0x00, 18, 18};
    static constexpr F ts_format{0x00, 5, 4};
    static constexpr F user_index{0x04, 23, 0};
    static constexpr F cqn{0x08, 23, 0};
    static constexpr F counter_set_id{0x0c, 31, 24};
    static constexpr u16 wq = 0x30;
    static constexpr F rows[] = {rlky,      scatter_fcs, vsd, mem_rq_type,   state, flush_in_error_en,
                                 ts_format, user_index,  cqn, counter_set_id};
};
// Headers that every send WQE of a queue holds inline.
enum class InlineMode : u8 { none = 0, ethernet = 1, ip = 2, transport = 3 };
struct SqContext {
    using F = Field<SqContext>;
    static constexpr u16 bytes = 0x30; // up to, not including, the work queue
    static constexpr F rlky{0x00, 31, 31};
    static constexpr F cd_master{0x00, 30, 30};
    static constexpr F flush_in_error_en{0x00, 28, 28};
    static constexpr F allow_multi_pkt_send_wqe{0x00, 27, 27};
    static constexpr F min_wqe_inline_mode{0x00, 26, 24};
    static constexpr F state{0x00, 23, 20};
    static constexpr F reg_umr{0x00, 19, 19};
    static constexpr F allow_swp{0x00, 18, 18};
    static constexpr F ts_format{0x00, 5, 4};
    static constexpr F user_index{0x04, 23, 0};
    static constexpr F cqn{0x08, 23, 0};
    static constexpr F tis_lst_sz{0x20, 31, 16};
    static constexpr F tis_num_0{0x2c, 23, 0};
    static constexpr u16 wq = 0x30;
    static constexpr F rows[] = {rlky,
                                 cd_master,
                                 flush_in_error_en,
                                 allow_multi_pkt_send_wqe,
                                 min_wqe_inline_mode,
                                 state,
                                 reg_umr,
                                 allow_swp,
                                 ts_format,
                                 user_index,
                                 cqn,
                                 tis_lst_sz,
                                 tis_num_0};
};
static_assert(disjoint(WqContext::rows) && disjoint(RqContext::rows) && disjoint(SqContext::rows));

struct CreateQueueIn { // CREATE_RQ, CREATE_SQ: context, then the work queue, then its pages
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x20;
    static constexpr u16 wq = 0x50;
    static constexpr u16 pas = 0x110;
};
struct ModifyQueueIn { // MODIFY_RQ, MODIFY_SQ
    using F = Field<ModifyQueueIn>;
    static constexpr u16 bytes = 0x110;
    static constexpr F state{0x08, 31, 28}; // the state that the caller believes the queue is in
    static constexpr F number{0x08, 23, 0};
    static constexpr Field64<ModifyQueueIn> modify_bitmask{0x10};
    static constexpr u16 context = 0x20;
    static constexpr u64 kRqVsd = 1 << 1, kRqScatterFcs = 1 << 2, kRqCounterSet = 1 << 3;
    static constexpr u64 kSqRateLimit = 1 << 0, kSqQosGroup = 1 << 1;
    static constexpr F rows[] = {state, number};
};
struct QueryQueueOut { // QUERY_RQ, QUERY_SQ
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x20;
};
static_assert(disjoint(ModifyQueueIn::rows));

} // namespace niclab
