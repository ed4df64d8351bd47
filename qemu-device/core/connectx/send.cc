// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/send.h"

#include <algorithm>
#include <cstring>

#include "connectx/checksum.h"
#include "connectx/device.h"
#include "connectx/gather.h"
#include "connectx/layers.h"
#include "connectx/segment.h"

namespace niclab::connectx {
namespace {

constexpr usize kMinFrame = 60;       // without FCS
constexpr u32 kMaxSegments = 1 << 16; // of one large send

void emit(Device &device, u32 sqn, std::span<const u8> frame);

void emit_padded(Device &device, u32 sqn, std::span<const u8> frame) {
    u8 padded[kMinFrame] = {};
    std::memcpy(padded, frame.data(), frame.size());
    emit(device, sqn, padded);
}

// To the wire, or back into the card. What the port cannot send is lost and counted, not an error.
void emit(Device &device, u32 sqn, std::span<const u8> frame) {
    if (frame.size() < kMinFrame) return emit_padded(device, sqn, frame);
    if (!device.port.up()) return device.counters.add(Counter::tx_drop_port_down);
    if (frame.size() + kFcsBytes > device.port.oper_mtu())
        return device.counters.add(Counter::tx_drop_oversize);
    device.vport.count_tx(frame);
    Vport::Ways ways = device.vport.ways_of(frame);
    if (ways.wire) {
        device.counters.add(Counter::tx_frames);
        device.counters.add(Counter::tx_bytes, frame.size());
        device.port.count_tx(frame);
        device.trace(CX_TRACE_FRAME_OUT, frame.size(), sqn, 0, frame);
        device.ops->frame_out(device.host, frame.data(), frame.size());
    }
    if (ways.back) receive_own_frame(device, frame);
}

using E = EthSegment;
constexpr u32 kAnyChecksum =
    E::l3_csum.place(1) | E::l4_csum.place(1) | E::l3_inner_csum.place(1) | E::l4_inner_csum.place(1);

bool asks_for_checksum(ConstView<EthSegment> eth) {
    return load_be32(eth.raw() + E::l4_csum.dword) & kAnyChecksum;
}

bool asks_for_inner(ConstView<EthSegment> eth) {
    return eth.get(EthSegment::l3_inner_csum) || eth.get(EthSegment::l4_inner_csum);
}

// From the inside out: an outer checksum covers what is inside.
void fill_checksums(const Device &device, ConstView<EthSegment> eth, Outgoing &out) {
    bool l3 = eth.get(EthSegment::l3_csum), l4 = eth.get(EthSegment::l4_csum), inner = asks_for_inner(eth);
    Layers layers = find_layers(device, out, eth, inner, Extent::header);
    if (layers.inner && eth.get(EthSegment::l3_inner_csum)) fill_l3_checksum(out.frame, *layers.inner);
    if (layers.inner && eth.get(EthSegment::l4_inner_csum)) fill_l4_checksum(out.frame, *layers.inner);
    if (l3) fill_l3_checksum(out.frame, layers.outer);
    if (l4) fill_l4_checksum(out.frame, layers.outer);
}

// Every frame of a large send gets new checksums, whatever the flags say: its lengths changed. What is cut is
// the inner packet when the flags speak of one.
CqeSyndrome send_segments(Device &device, u32 sqn, ConstView<EthSegment> eth, const Outgoing &out) {
    bool inner = asks_for_inner(eth);
    Layers layers = find_layers(device, out, eth, inner, Extent::frame);
    if (inner && !layers.inner) return CqeSyndrome::local_qp_operation;
    Segmenter segmenter;
    if (!segmenter.start({out.frame, out.bytes}, inner ? *layers.inner : layers.outer,
                         inner ? &layers.outer : nullptr, out.inline_header,
                         static_cast<u16>(eth.get(EthSegment::mss))))
        return CqeSyndrome::local_qp_operation;
    if (segmenter.segments() > kMaxSegments) return CqeSyndrome::local_length;
    for (std::span<u8> frame = segmenter.next(); !frame.empty(); frame = segmenter.next())
        emit(device, sqn, frame);
    return CqeSyndrome::none;
}

bool may_ask(const Sq &sq, ConstView<EthSegment> eth) {
    return sq.software_parser || (!eth.get(EthSegment::swp_flags) && !eth.get(EthSegment::swp_offsets));
}

// Headers that the frame does not have need not be there.
bool holds_headers(const Outgoing &out, InlineMode mode) {
    if (mode == InlineMode::none) return true;
    Packet packet = parse({out.frame, out.bytes}, Extent::frame);
    usize least = std::max<usize>(packet.l3_at, kEthernetHeaderBytes);
    if (mode >= InlineMode::ip && packet.l4_at != 0) least = packet.l4_at;
    if (mode == InlineMode::transport && packet.payload_at != 0) least = packet.payload_at;
    return out.inline_header >= std::min(least, out.bytes);
}

} // namespace

CqeSyndrome send(Device &device, const Sq &sq, u32 sqn, const PostedWqe &wqe) {
    if (wqe.ds < 2 || sq.tisn == 0) return CqeSyndrome::local_qp_operation;
    ConstView<EthSegment> eth(wqe.bytes + CtrlSegment::bytes);
    if (!may_ask(sq, eth)) return CqeSyndrome::local_qp_operation;
    Outgoing out{device.send.frame.get() + SendPath::kHeadroom};
    if (CqeSyndrome result = gather(device, sq, wqe, out); result != CqeSyndrome::none) return result;
    if (!holds_headers(out, sq.inline_mode)) return CqeSyndrome::local_qp_operation;
    if (wqe.opcode == static_cast<u8>(WqeOpcode::lso)) return send_segments(device, sqn, eth, out);
    if (asks_for_checksum(eth)) fill_checksums(device, eth, out);
    emit(device, sqn, {out.frame, out.bytes});
    return CqeSyndrome::none;
}

// Each data segment is a frame. What the Ethernet segment says counts for all of them; it has no place for an
// inline header, a tag or a segment size.
CqeSyndrome send_many(Device &device, const Sq &sq, u32 sqn, const PostedWqe &wqe) {
    usize at = CtrlSegment::bytes + EthSegment::bytes, end = usize{wqe.ds} * kDsBytes;
    if (end <= at || sq.tisn == 0 || sq.inline_mode != InlineMode::none)
        return CqeSyndrome::local_qp_operation;
    ConstView<EthSegment> eth(wqe.bytes + CtrlSegment::bytes);
    if (!may_ask(sq, eth) || eth.get(EthSegment::mss) || eth.get(EthSegment::insert_vlan) ||
        eth.get(EthSegment::inline_hdr_unused) || eth.get(EthSegment::inline_hdr_sz))
        return CqeSyndrome::local_qp_operation;
    while (at < end) {
        Outgoing out{device.send.frame.get() + SendPath::kHeadroom};
        if (CqeSyndrome result = gather_segment(device, sq, wqe.bytes, at, end, out);
            result != CqeSyndrome::none)
            return result;
        if (out.bytes < kEthernetHeaderBytes) return CqeSyndrome::local_length;
        if (asks_for_checksum(eth)) fill_checksums(device, eth, out);
        emit(device, sqn, {out.frame, out.bytes});
    }
    return CqeSyndrome::none;
}

} // namespace niclab::connectx
