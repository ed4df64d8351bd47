// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Work queue elements: send segments and receive data segments. A WQE is a row of 16-byte units (DS).
#pragma once

#include "spec/layout.h"

namespace niclab {

constexpr usize kDsBytes = 16;
constexpr usize kSendBlockBytes = 64;  // WQEBB
constexpr u32 kTerminatorLkey = 0x100; // ends a short receive scatter list; never a real key

enum class WqeOpcode : u8 {
    nop = 0x00,
    send = 0x0a,
    lso = 0x0e,
    dump = 0x23,
    umr = 0x25,
    multi_packet_send = 0x29
};

struct CtrlSegment {
    using F = Field<CtrlSegment>;
    static constexpr u16 bytes = 0x10;
    static constexpr F opmod{0x00, 31, 24};
    static constexpr F wqe_index{0x00, 23, 8};
    static constexpr F opcode{0x00, 7, 0};
    static constexpr F qpn{0x04, 31, 8};
    static constexpr F ds{0x04, 5, 0};
    static constexpr F signature{0x08, 31, 24};
    static constexpr F fence{0x08, 7, 5};
    static constexpr F ce{0x08, 3, 2}; // 2: completion always, 3: completion and event
    static constexpr F solicited{0x08, 1, 1};
    static constexpr F imm{0x0c, 31, 0};
    static constexpr u32 kCeAlways = 2;
    static constexpr F rows[] = {opmod, wqe_index, opcode, qpn, ds, signature, fence, ce, solicited, imm};
};
struct EthSegment {
    using F = Field<EthSegment>;
    static constexpr u16 bytes = 0x10;
    // software parser: offsets in two-byte words from the start of the frame, 0: not told
    static constexpr F swp_outer_l4{0x00, 31, 24};
    static constexpr F swp_outer_l3{0x00, 23, 16};
    static constexpr F swp_inner_l4{0x00, 15, 8};
    static constexpr F swp_inner_l3{0x00, 7, 0};
    static constexpr F l4_csum{0x04, 31, 31};
    static constexpr F l3_csum{0x04, 30, 30};
    static constexpr F l4_inner_csum{0x04, 29, 29};
    static constexpr F l3_inner_csum{0x04, 28, 28};
    static constexpr F swp_outer_l4_udp{0x04, 21, 21};
    static constexpr F swp_outer_l3_ipv6{0x04, 20, 20};
    static constexpr F swp_inner_l4_udp{0x04, 17, 17};
    static constexpr F swp_inner_l3_ipv6{0x04, 16, 16};
    static constexpr F swp_flags{0x04, 23, 16};  // the four above as one field
    static constexpr F swp_offsets{0x00, 31, 0}; // the four of word 0 as one field
    static constexpr F mss{0x04, 15, 0};
    static constexpr F flow_table_metadata{0x08, 31, 0};
    // word 0x0c is either inline header size and its first two bytes, or insert type and VLAN TCI: bit 31
    // tells
    static constexpr F insert_vlan{0x0c, 31, 31};
    static constexpr F insert_svlan{0x0c, 16, 16};
    static constexpr F inline_hdr_unused{0x0c, 30, 26}; // insert trailer (IPsec) and reserved bits
    static constexpr F inline_hdr_sz{0x0c, 25, 16};
    static constexpr F vlan_tci{0x0c, 15, 0};
    static constexpr u16 inline_hdr_start = 0x0e;
    static constexpr u16 kInlineHeaderHere = 2; // bytes of the inline header inside this segment
    static constexpr F rows[] = {
        swp_outer_l4,     swp_outer_l3,      swp_inner_l4,  swp_inner_l3,       l4_csum,
        l3_csum,          l4_inner_csum,     l3_inner_csum, swp_outer_l4_udp,   swp_outer_l3_ipv6,
        swp_inner_l4_udp, swp_inner_l3_ipv6, mss,           flow_table_metadata};
};
struct DataSegment {
    using F = Field<DataSegment>;
    static constexpr u16 bytes = 0x10;
    static constexpr F inline_data{0x00, 31,
                                   31}; // send: inline data follows; receive: start padding hint, ignored
    static constexpr F byte_count{0x00, 30, 0};
    static constexpr F inline_byte_count{0x00, 9, 0};
    static constexpr u16 kInlineStart = 4; // bytes of inline data
    static constexpr F lkey{0x04, 31, 0};
    static constexpr Field64<DataSegment> address{0x08};
    static constexpr F rows[] = {inline_data, byte_count, lkey};
};
struct NextSegment { // starts a receive WQE of the linked-list and striding kinds
    using F = Field<NextSegment>;
    static constexpr u16 bytes = 0x10;
    static constexpr F next_wqe_index{0x00, 15, 0};
    static constexpr F rows[] = {next_wqe_index};
};
// UMR: control segment (the key to change in `imm`), this, the new key context, then the translation list or
// one data segment that points at it.
struct UmrSegment {
    using F = Field<UmrSegment>;
    static constexpr u16 bytes = 0x30;
    static constexpr F inline_list{0x00, 31, 31};
    static constexpr F check_free{0x00, 30, 29}; // 1: fail when free, 2: fail when not free
    static constexpr F offset_en{0x00, 28, 28};
    static constexpr F xlt_octowords{0x04, 31, 16};
    static constexpr F xlt_offset{0x04, 15, 0};
    static constexpr Field64<UmrSegment> mkey_mask{0x08};
    static constexpr F xlt_offset_47_16{0x10, 31, 0};
    static constexpr F rows[] = {inline_list,   check_free, offset_en,
                                 xlt_octowords, xlt_offset, xlt_offset_47_16};
};
namespace mkey_mask { // fields of the key context that a UMR changes
constexpr u64 kLength = 1ull << 0, kPageSize = 1ull << 1, kStart = 1ull << 6, kKey = 1ull << 13,
              kLocalRead = 1ull << 17, kLocalWrite = 1ull << 18, kRemoteRead = 1ull << 19,
              kRemoteWrite = 1ull << 20, kAtomic = 1ull << 21, kRelaxedWrite = 1ull << 25, kFree = 1ull << 29,
              kRelaxedRead = 1ull << 47;
}
static_assert(disjoint(CtrlSegment::rows) && disjoint(EthSegment::rows) && disjoint(DataSegment::rows) &&
              disjoint(NextSegment::rows) && disjoint(UmrSegment::rows));

} // namespace niclab
