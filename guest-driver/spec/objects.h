// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory keys, transport objects (TIS, TIR, RQT) and their commands.
#pragma once

#include "spec/layout.h"

namespace niclab {

enum class AccessMode : u8 { physical = 0, mtt = 1, klm = 2, ksm = 3 };

struct MkeyContext {
    using F = Field<MkeyContext>;
    static constexpr u16 bytes = 0x40;
    static constexpr F free{0x00, 30, 30};
    static constexpr F access_mode_high{0x00, 28, 26};
    static constexpr F relaxed_ordering_write{0x00, 18, 18};
    static constexpr F umr_en{0x00, 15, 15};
    static constexpr F atomic{0x00, 14, 14};
    static constexpr F remote_write{0x00, 13, 13};
    static constexpr F remote_read{0x00, 12, 12};
    static constexpr F local_write{0x00, 11, 11};
    static constexpr F local_read{0x00, 10, 10};
    static constexpr F access_mode{0x00, 9, 8};
    static constexpr F qpn{0x04, 31, 8};
    static constexpr F mkey_7_0{0x04, 7, 0};
    static constexpr F length64{0x0c, 31, 31};
    static constexpr F pd{0x0c, 23, 0};
    static constexpr Field64<MkeyContext> start_addr{0x10};
    static constexpr Field64<MkeyContext> len{0x18};
    static constexpr F translations_octword_size{0x34, 31, 0};
    static constexpr F relaxed_ordering_read{0x38, 6, 6};
    static constexpr F log_page_size{0x38, 4, 0};
    static constexpr F rows[] = {free,
                                 access_mode_high,
                                 relaxed_ordering_write,
                                 umr_en,
                                 atomic,
                                 remote_write,
                                 remote_read,
                                 local_write,
                                 local_read,
                                 access_mode,
                                 qpn,
                                 mkey_7_0,
                                 length64,
                                 pd,
                                 translations_octword_size,
                                 relaxed_ordering_read,
                                 log_page_size};
};
// Translation lists are counted in units of 16 bytes (octwords): two MTT entries, or one KLM or KSM entry.
constexpr usize kOctwordBytes = 16;
constexpr usize kMttBytes = 8; // a page address; the low bits are flags
struct KlmEntry {              // KSM: the same without byte_count
    using F = Field<KlmEntry>;
    static constexpr u16 bytes = 0x10;
    static constexpr F byte_count{0x00, 31, 0};
    static constexpr F key{0x04, 31, 0};
    static constexpr Field64<KlmEntry> address{0x08};
    static constexpr F rows[] = {byte_count, key};
};
struct CreateMkeyIn {
    using F = Field<CreateMkeyIn>;
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x10;
    static constexpr F translations_octword_actual_size{0x60, 31, 0};
    static constexpr u16 klm_pas_mtt = 0x110;
    static constexpr F rows[] = {translations_octword_actual_size};
};
struct QueryMkeyOut {
    static constexpr u16 bytes = 0x130;
    static constexpr u16 context = 0x10;
};
struct QuerySpecialContextsOut {
    using F = Field<QuerySpecialContextsOut>;
    static constexpr u16 bytes = 0x20;
    static constexpr F dump_fill_mkey{0x08, 31, 0};
    static constexpr F resd_lkey{0x0c, 31, 0};
    static constexpr F null_mkey{0x10, 31, 0};
    static constexpr F terminate_scatter_list_mkey{0x14, 31, 0};
    static constexpr F rows[] = {dump_fill_mkey, resd_lkey, null_mkey, terminate_scatter_list_mkey};
};
static_assert(disjoint(MkeyContext::rows) && disjoint(KlmEntry::rows) && disjoint(CreateMkeyIn::rows) &&
              disjoint(QuerySpecialContextsOut::rows));

struct TisContext {
    using F = Field<TisContext>;
    static constexpr u16 bytes = 0xa0;
    static constexpr F prio{0x00, 19, 16};
    static constexpr F transport_domain{0x24, 23, 0};
    static constexpr F pd{0x2c, 23, 0};
    static constexpr F rows[] = {prio, transport_domain, pd};
};
struct CreateTisIn { // the context starts here in CREATE_TIS, CREATE_TIR, CREATE_RQT and their MODIFY
    static constexpr u16 bytes = 0xc0;
    static constexpr u16 context = 0x20;
};

struct QueryTisOut {
    static constexpr u16 bytes = 0xb0;
    static constexpr u16 context = 0x10;
};

enum class TirDispatch : u8 { direct = 0, indirect = 1 };
enum class HashFunction : u8 { none = 0, inverted_xor8 = 1, toeplitz = 2 };
struct TirContext {
    using F = Field<TirContext>;
    static constexpr u16 bytes = 0xf0;
    static constexpr F disp_type{0x04, 31, 28};
    static constexpr F lro_timeout_period_usecs{0x10, 27, 12};
    static constexpr F packet_merge_mask{0x10, 11, 8};
    static constexpr F lro_max_ip_payload_size{0x10, 7, 0};
    static constexpr u32 kMergeIpv4 = 1 << 0, kMergeIpv6 = 1 << 1; // packet_merge_mask
    static constexpr u32 kMergeUnit = 256;                         // of lro_max_ip_payload_size
    static constexpr F inline_rqn{0x1c, 23, 0};
    static constexpr F rx_hash_symmetric{0x20, 31, 31};
    static constexpr F tunneled_offload_en{0x20, 29, 29};
    static constexpr F indirect_table{0x20, 23, 0};
    static constexpr F rx_hash_fn{0x24, 31, 28};
    static constexpr F self_lb_block{0x24, 25, 24};
    // The field lets in what its name says that it blocks: drivers set a bit to get their own frames.
    static constexpr u32 kOwnUnicast = 1 << 0, kOwnMulticast = 1 << 1;
    static constexpr F transport_domain{0x24, 23, 0};
    static constexpr u16 toeplitz_key = 0x28; // 40 bytes
    static constexpr u16 kToeplitzKeyBytes = 40;
    static constexpr F hash_l3_type{0x50, 31, 31};       // 0 IPv4, 1 IPv6
    static constexpr F hash_l4_type{0x50, 30, 30};       // 0 TCP, 1 UDP
    static constexpr F hash_fields{0x50, 29, 0};         // see HashField
    static constexpr F inner_hash_l3_type{0x54, 31, 31}; // the same of what a tunnel carries
    static constexpr F inner_hash_l4_type{0x54, 30, 30};
    static constexpr F inner_hash_fields{0x54, 29, 0};
    static constexpr F rows[] = {disp_type,           lro_timeout_period_usecs,
                                 packet_merge_mask,   lro_max_ip_payload_size,
                                 inline_rqn,          rx_hash_symmetric,
                                 tunneled_offload_en, indirect_table,
                                 rx_hash_fn,          self_lb_block,
                                 transport_domain,    hash_l3_type,
                                 hash_l4_type,        hash_fields,
                                 inner_hash_l3_type,  inner_hash_l4_type,
                                 inner_hash_fields};
};
namespace hash_field {
constexpr u32 kSrcIp = 1 << 0, kDstIp = 1 << 1, kSrcPort = 1 << 2, kDstPort = 1 << 3, kIpsecSpi = 1 << 4;
}
struct CreateTirIn {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x20;
};
struct QueryTirOut {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x20;
};
struct ModifyTirIn { // also MODIFY_TIS, MODIFY_RQT
    using F = Field<ModifyTirIn>;
    static constexpr u16 bytes = 0x110;
    static constexpr F number{0x08, 23, 0};
    static constexpr Field64<ModifyTirIn> bitmask{0x10};
    static constexpr u16 context = 0x20;
    static constexpr u64 kPacketMerge = 1 << 0, kHash = 1 << 2, kSelfLoopback = 1 << 4;
    static constexpr F rows[] = {number};
};
static_assert(disjoint(TisContext::rows) && disjoint(TirContext::rows) && disjoint(ModifyTirIn::rows));

struct RqtContext {
    using F = Field<RqtContext>;
    static constexpr u16 bytes = 0xf0;
    static constexpr F rqt_max_size{0x14, 15, 0};
    static constexpr F rqt_actual_size{0x18, 15, 0};
    static constexpr u16 rq_num = 0xf0; // 32-bit words, RQ number in [23:0]
    static constexpr F rows[] = {rqt_max_size, rqt_actual_size};
};
struct CreateRqtIn {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x20;
};
struct ModifyRqtIn {
    using F = Field<ModifyRqtIn>;
    static constexpr u16 bytes = 0x110;
    static constexpr F number{0x08, 23, 0};
    static constexpr Field64<ModifyRqtIn> bitmask{0x10};
    static constexpr u16 context = 0x20;
    static constexpr u64 kList = 1 << 0;
    static constexpr F rows[] = {number};
};
struct QueryRqtOut {
    static constexpr u16 bytes = 0x110;
    static constexpr u16 context = 0x20;
};
static_assert(disjoint(RqtContext::rows) && disjoint(ModifyRqtIn::rows));

} // namespace niclab
