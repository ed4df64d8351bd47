// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/send.h"

#include <cstring>

#include "connectx/checksum.h"
#include "connectx/device.h"
#include "connectx/gather.h"
#include "connectx/segment.h"

namespace niclab::connectx {
namespace {

constexpr usize kMinFrame = 60;       // without FCS
constexpr u32 kMaxSegments = 1 << 16; // of one large send

// To the wire and nowhere else: the card has no local loopback. What the port cannot send is lost and
// counted, not an error.
void emit(Device &device, u32 sqn, std::span<const u8> frame) {
    u8 padded[kMinFrame] = {};
    if (frame.size() < kMinFrame) {
        std::memcpy(padded, frame.data(), frame.size());
        frame = padded;
    }
    if (!device.port.up()) return device.counters.add(Counter::tx_drop_port_down);
    if (frame.size() + kFcsBytes > device.port.oper_mtu())
        return device.counters.add(Counter::tx_drop_oversize);
    device.counters.add(Counter::tx_frames);
    device.counters.add(Counter::tx_bytes, frame.size());
    device.port.count_tx(frame);
    device.vport.count_tx(frame);
    device.trace(CX_TRACE_FRAME_OUT, frame.size(), sqn, 0);
    device.ops->frame_out(device.host, frame.data(), frame.size());
}

void fill_checksums(ConstView<EthSegment> eth, Outgoing &out) {
    bool l3 = eth.get(EthSegment::l3_csum), l4 = eth.get(EthSegment::l4_csum);
    if (!l3 && !l4) return;
    Packet packet = parse({out.frame, out.bytes});
    if (l3) fill_l3_checksum(out.frame, packet);
    if (l4) fill_l4_checksum(out.frame, packet);
}

// Every frame of a large send gets new checksums, whatever the flags say: its lengths changed.
CqeSyndrome send_segments(Device &device, u32 sqn, const Outgoing &out, u16 mss) {
    Segmenter segmenter;
    if (!segmenter.start({out.frame, out.bytes}, out.inline_header, mss))
        return CqeSyndrome::local_qp_operation;
    if (segmenter.segments() > kMaxSegments) return CqeSyndrome::local_length;
    for (std::span<u8> frame = segmenter.next(); !frame.empty(); frame = segmenter.next())
        emit(device, sqn, frame);
    return CqeSyndrome::none;
}

// Offloads of tunnels and the software parser are not offered.
bool flags_are_known(ConstView<EthSegment> eth) {
    return !eth.get(EthSegment::l4_inner_csum) && !eth.get(EthSegment::l3_inner_csum) &&
           !eth.get(EthSegment::swp_flags);
}

} // namespace

CqeSyndrome send(Device &device, const Sq &sq, u32 sqn, const PostedWqe &wqe) {
    if (wqe.ds < 2 || sq.tisn == 0) return CqeSyndrome::local_qp_operation;
    ConstView<EthSegment> eth(wqe.bytes + CtrlSegment::bytes);
    if (!flags_are_known(eth)) return CqeSyndrome::local_qp_operation;
    Outgoing out{device.send.frame.get() + SendPath::kHeadroom};
    if (CqeSyndrome result = gather(device, sq, wqe, out); result != CqeSyndrome::none) return result;
    if (wqe.opcode == static_cast<u8>(WqeOpcode::lso))
        return send_segments(device, sqn, out, static_cast<u16>(eth.get(EthSegment::mss)));
    fill_checksums(eth, out);
    emit(device, sqn, {out.frame, out.bytes});
    return CqeSyndrome::none;
}

// Each data segment is a frame. What the Ethernet segment says counts for all of them; it has no place for an
// inline header, a tag or a segment size.
CqeSyndrome send_many(Device &device, const Sq &sq, u32 sqn, const PostedWqe &wqe) {
    usize at = CtrlSegment::bytes + EthSegment::bytes, end = usize{wqe.ds} * kDsBytes;
    if (end <= at || sq.tisn == 0) return CqeSyndrome::local_qp_operation;
    ConstView<EthSegment> eth(wqe.bytes + CtrlSegment::bytes);
    if (!flags_are_known(eth) || eth.get(EthSegment::mss) || eth.get(EthSegment::insert_vlan) ||
        eth.get(EthSegment::inline_hdr_unused) || eth.get(EthSegment::inline_hdr_sz))
        return CqeSyndrome::local_qp_operation;
    while (at < end) {
        Outgoing out{device.send.frame.get() + SendPath::kHeadroom};
        if (CqeSyndrome result = gather_segment(device, sq, wqe.bytes, at, end, out);
            result != CqeSyndrome::none)
            return result;
        if (out.bytes < kEthernetHeaderBytes) return CqeSyndrome::local_length;
        fill_checksums(eth, out);
        emit(device, sqn, {out.frame, out.bytes});
    }
    return CqeSyndrome::none;
}

} // namespace niclab::connectx
