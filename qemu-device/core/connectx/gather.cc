// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/gather.h"

#include <cstring>

#include "connectx/device.h"
#include "connectx/packet.h"

namespace niclab::connectx {
namespace {

constexpr usize kAddressBytes = 12;

constexpr usize round_up(usize n) { return (n + kDsBytes - 1) & ~(kDsBytes - 1); }

CqeSyndrome append_pointer(Device &device, const Sq &sq, ConstView<DataSegment> segment, Outgoing &out) {
    u32 n = segment.get(DataSegment::byte_count);
    if (n == 0) return CqeSyndrome::none;
    if (n > kMaxLsoBytes - out.bytes) return CqeSyndrome::local_length;
    Region from{segment.get(DataSegment::lkey), sq.pd, segment.get(DataSegment::address)};
    if (!mkey_read(device, DmaPurpose::payload, from, out.frame + out.bytes, n))
        return CqeSyndrome::local_protection;
    out.bytes += n;
    return CqeSyndrome::none;
}

void insert_tag(Outgoing &out, u16 tpid, u16 tci) {
    u8 *start = out.frame - kVlanTagBytes;
    std::memmove(start, out.frame, kAddressBytes);
    store_be16(start + kAddressBytes, tpid);
    store_be16(start + kAddressBytes + 2, tci);
    out.frame = start;
    out.bytes += kVlanTagBytes;
    out.inserted = kVlanTagBytes;
}

// The inline header in and behind the Ethernet segment; `at` moves to the first data segment.
CqeSyndrome append_inline_header(ConstView<EthSegment> eth, usize &at, usize end, Outgoing &out) {
    if (eth.get(EthSegment::inline_hdr_unused)) return CqeSyndrome::local_qp_operation;
    usize n = out.inline_header = eth.get(EthSegment::inline_hdr_sz);
    if (n == 0) return CqeSyndrome::none;
    if (n > EthSegment::kInlineHeaderHere) at += round_up(n - EthSegment::kInlineHeaderHere);
    if (at > end) return CqeSyndrome::local_qp_operation;
    return out.append(eth.raw() + EthSegment::inline_hdr_start, n);
}

} // namespace

CqeSyndrome Outgoing::append(const u8 *from, usize n) {
    if (n > kMaxLsoBytes - bytes) return CqeSyndrome::local_length;
    std::memcpy(frame + bytes, from, n);
    bytes += n;
    return CqeSyndrome::none;
}

CqeSyndrome gather_segment(Device &device, const Sq &sq, const u8 *wqe, usize &at, usize end, Outgoing &out) {
    ConstView<DataSegment> segment(wqe + at);
    if (!segment.get(DataSegment::inline_data)) {
        at += kDsBytes;
        return append_pointer(device, sq, segment, out);
    }
    usize n = segment.get(DataSegment::inline_byte_count), used = DataSegment::kInlineStart + n;
    if (used > end - at) return CqeSyndrome::local_qp_operation;
    at += round_up(used);
    return out.append(segment.raw() + DataSegment::kInlineStart, n);
}

CqeSyndrome gather(Device &device, const Sq &sq, const PostedWqe &wqe, Outgoing &out) {
    ConstView<EthSegment> eth(wqe.bytes + CtrlSegment::bytes);
    usize at = CtrlSegment::bytes + EthSegment::bytes, end = usize{wqe.ds} * kDsBytes;
    CqeSyndrome result = CqeSyndrome::none;
    bool tag = eth.get(EthSegment::insert_vlan);
    if (!tag) result = append_inline_header(eth, at, end, out);
    while (at < end && result == CqeSyndrome::none)
        result = gather_segment(device, sq, wqe.bytes, at, end, out);
    if (result != CqeSyndrome::none) return result;
    if (out.bytes < kEthernetHeaderBytes) return CqeSyndrome::local_length;
    if (tag)
        insert_tag(out, eth.get(EthSegment::insert_svlan) ? kEthertypeSvlan : kEthertypeCvlan,
                   static_cast<u16>(eth.get(EthSegment::vlan_tci)));
    return CqeSyndrome::none;
}

} // namespace niclab::connectx
