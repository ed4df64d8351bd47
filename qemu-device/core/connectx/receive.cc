// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/receive.h"

#include <cstring>

#include <zlib.h>

#include "connectx/checksum.h"
#include "connectx/device.h"
#include "connectx/packet.h"
#include "connectx/rq_state.h"

namespace niclab::connectx {
namespace {

// CQE l4_hdr_type: for TCP, 3 is an acknowledgement without data and 4 one with data.
u32 l4_header_type(const Packet &packet) {
    constexpr u16 kAck = 0x10;
    if (packet.l4 == L4::udp) return 2;
    if (packet.l4 != L4::tcp) return 0;
    if (!(packet.tcp_flags & kAck)) return 1;
    return packet.payload_at == packet.l3_end ? 3 : 4;
}

// What is known of a frame before it has a queue.
struct Arrival {
    Arrival(const Device &device, std::span<const u8> bytes, bool wrong_fcs = false)
        : frame(bytes), damaged(wrong_fcs), packet(parse(bytes)),
          inner(inner_packet(bytes, packet, device.vxlan_ports)) {}
    std::span<const u8> frame;
    bool damaged; // its FCS is wrong
    Packet packet;
    std::optional<Packet> inner; // what a tunnel carries
    ReceivedSums sums{};
    alignas(8) u8 description[kCqeBytes] = {};
};

// A datagram without checksum may carry a tunnel over IPv6, too (RFC 6935).
bool outer_l4_stands(std::span<const u8> frame, const Packet &outer, const ReceivedSums &sums) {
    constexpr usize kUdpChecksum = 6;
    return outer.l4 != L4::udp || sums.l4_ok || load_be16(frame.data() + outer.l4_at + kUdpChecksum) == 0;
}

// Everything in the completion that depends on the frame alone. The fields that stand for functions the card
// does not have (metadata) stay zero: drivers read meaning into other values. Of a tunnel, header types are
// those of the packet inside, and "ok" means all layers. Written a word at a time: this is done for every
// frame.
void describe(Arrival &arrival, u64 now) {
    constexpr u8 kCongestionExperienced = 3;
    const Packet &packet = arrival.packet;
    const ReceivedSums &sums = arrival.sums;
    u8 *cqe = arrival.description;
    bool marked = packet.l3 != L3::none && (packet.traffic_class & 3) == kCongestionExperienced;
    store_be32(cqe + Cqe::ecn_ce.dword, Cqe::ecn_ce.place(marked));
    bool l3_ok = sums.l3_ok, l4_ok = sums.l4_ok;
    if (arrival.inner) {
        ReceivedSums inside = received_sums(arrival.frame.first(packet.l3_end), *arrival.inner);
        l3_ok = l3_ok && inside.l3_ok;
        l4_ok = inside.l4_ok && outer_l4_stands(arrival.frame, packet, sums);
        store_be32(cqe + Cqe::tunneled.dword,
                   Cqe::tunneled.place(1) | Cqe::outer_l3_ipv6.place(packet.l3 == L3::ipv6));
    }
    const Packet &shown = arrival.inner ? *arrival.inner : packet;
    u32 l3_type = shown.l3 == L3::ipv6 ? 1 : shown.l3 == L3::ipv4 ? 2 : 0;
    store_be32(cqe + Cqe::l2_ok.dword,
               Cqe::l2_ok.place(1) | Cqe::l3_ok.place(l3_ok) | Cqe::l4_ok.place(l4_ok) |
                   Cqe::ip_frag.place(shown.fragment) | Cqe::ip_ext_opts.place(shown.options) |
                   Cqe::l3_hdr_type.place(l3_type) | Cqe::l4_hdr_type.place(l4_header_type(shown)));
    store_be64(cqe + Cqe::timestamp.dword, now);
}

// Drivers assume that a stripped tag was a C-VLAN tag, so only that kind is taken off.
bool strips(const Rq &rq, const Packet &packet) {
    return rq.vlan_strip && packet.outer_tpid == kEthertypeCvlan &&
           packet.l3_at >= kEthernetHeaderBytes + kVlanTagBytes;
}

// The checksum that the wire carried behind the frame.
void append_fcs(u8 *to, std::span<const u8> frame, bool damaged) {
    u32 fcs = static_cast<u32>(crc32(0, frame.data(), static_cast<uInt>(frame.size())));
    if (damaged) fcs = ~fcs;
    for (usize i = 0; i < kFcsBytes; ++i)
        to[i] = static_cast<u8>(fcs >> 8 * i);
}

// The frame as the queue wants it: without its tag, with its FCS.
std::span<const u8> reshape(u8 *buffer, const Arrival &arrival, bool strip, bool fcs) {
    std::span<const u8> frame = arrival.frame;
    constexpr usize kAddresses = 12;
    if (!strip && !fcs) return frame;
    usize from = kAddresses + (strip ? kVlanTagBytes : 0), rest = frame.size() - from;
    std::memcpy(buffer, frame.data(), kAddresses);
    std::memcpy(buffer + kAddresses, frame.data() + from, rest);
    usize bytes = kAddresses + rest;
    if (fcs) {
        append_fcs(buffer + bytes, frame, arrival.damaged);
        bytes += kFcsBytes;
    }
    return {buffer, bytes};
}

void deliver(Device &device, const Arrival &arrival, const Verdict::To &to) {
    const Packet &packet = arrival.packet;
    const u8 *bytes = arrival.frame.data();
    const Tir *tir = device.tirs.find(to.tirn);
    if (!tir) return drop_frame(device, arrival.frame.size(), Counter::rx_drop_no_queue);
    HashResult hash = tir_hash(*tir, bytes, packet, arrival.inner ? &*arrival.inner : nullptr);
    u32 rqn = tir_select(device, *tir, hash.value);
    const Rq *rq = device.rqs.find(rqn);
    if (!rq) return drop_frame(device, arrival.frame.size(), Counter::rx_drop_no_queue);

    alignas(8) u8 raw[kCqeBytes];
    std::memcpy(raw, arrival.description, kCqeBytes);
    View<Cqe> cqe(raw);
    store_be32(raw + Cqe::rss_hash_result.dword, hash.value);
    cqe.set(Cqe::rss_hash_ip, hash.ip).set(Cqe::rss_hash_l4, hash.l4);
    store_be32(raw + Cqe::qpn.dword, Cqe::qpn.place(to.flow_tag));
    if (rq->real_time) cqe.set(Cqe::timestamp, device.stamp(true));
    bool strip = strips(*rq, packet);
    if (strip) cqe.set(Cqe::vlan_stripped, 1).set(Cqe::vlan_info, packet.outer_tci);
    std::span<const u8> frame = reshape(device.receive.reshaped.get(), arrival, strip, rq->scatter_fcs);
    u16 sum = full_sum(frame, strip ? packet.l3_at - kVlanTagBytes : packet.l3_at, packet, arrival.sums);
    store_be32(raw + Cqe::check_sum.dword, Cqe::check_sum.place(sum));
    store_be32(raw + Cqe::byte_cnt.dword, static_cast<u32>(frame.size()));
    if ((tir->merge_ipv4 || tir->merge_ipv6) &&
        device.lro.take(device, *tir, rqn, {frame, packet, arrival.sums, strip ? kVlanTagBytes : 0}, raw))
        return;
    rq_receive(device, rqn, frame, raw);
}

void deliver_all(Device &device, Arrival &arrival, const Verdict &verdict) {
    device.vport.count_rx(arrival.frame);
    arrival.sums = received_sums(arrival.frame, arrival.packet);
    describe(arrival, device.now_ns());
    for (u32 i = 0; i < verdict.count; ++i)
        deliver(device, arrival, verdict.to[i]);
}

// The TIRs that the flow tables lead to.
Verdict classify(const Device &device, const Arrival &arrival) {
    Verdict verdict;
    verdict.frame_bytes = arrival.frame.size();
    MatchKey key = match_key(arrival.frame, arrival.packet, arrival.inner ? &*arrival.inner : nullptr);
    device.steering.classify(key, verdict);
    return verdict;
}

// Leaves the TIRs that let in what their own port sent, one bit for frames to one and one for those to many.
void keep_willing(const Device &device, std::span<const u8> frame, Verdict &verdict) {
    u32 bit = frame[0] & 1 ? TirContext::kOwnMulticast : TirContext::kOwnUnicast, kept = 0;
    for (u32 i = 0; i < verdict.count; ++i) {
        const Tir *tir = device.tirs.find(verdict.to[i].tirn);
        if (tir && ConstView<TirContext>(tir->context).get(TirContext::self_lb_block) & bit)
            verdict.to[kept++] = verdict.to[i];
    }
    verdict.count = kept;
}

// What the port itself refuses.
bool port_accepts(Device &device, std::span<const u8> frame, bool damaged) {
    if (!device.port.up()) {
        drop_frame(device, frame.size(), Counter::rx_drop_port_down);
        return false;
    }
    if (damaged && device.port.checks_fcs) {
        device.port.count_rx_error(RxError::fcs);
        drop_frame(device, frame.size(), Counter::rx_drop_fcs);
        return false;
    }
    if (frame.size() < kEthernetHeaderBytes) {
        device.port.count_rx_error(RxError::undersize);
        drop_frame(device, frame.size(), Counter::rx_drop_runt);
        return false;
    }
    if (frame.size() + kFcsBytes > device.port.oper_mtu()) {
        device.port.count_rx_error(RxError::oversize);
        drop_frame(device, frame.size(), Counter::rx_drop_oversize);
        return false;
    }
    return true;
}

} // namespace

static_assert(ReceivePath::kMaxFrame >= Port::kMaxMtu); // the port's MTU counts the FCS

ReceivePath::ReceivePath() : reshaped(std::make_unique<u8[]>(kMaxFrame)) {}

// Unicast and multicast lists of the vport do not filter: every good frame enters the flow tables, where
// drivers keep their own address rules.
void receive_frame(Device &device, std::span<const u8> frame) {
    bool damaged = device.port.up() && device.port.take_damage();
    if (!port_accepts(device, frame, damaged)) return;
    device.counters.add(Counter::rx_frames);
    device.counters.add(Counter::rx_bytes, frame.size());
    device.port.count_rx(frame);
    if (device.port.pause.take(frame)) return;

    Arrival arrival(device, frame, damaged);
    Verdict verdict = classify(device, arrival);
    if (!verdict.rooted) return drop_frame(device, frame.size(), Counter::rx_drop_no_root);
    if (verdict.count == 0) return drop_frame(device, frame.size(), Counter::rx_drop_steering);
    deliver_all(device, arrival, verdict);
}

// What no table takes and no TIR lets in is no loss: nobody wanted it back.
void receive_own_frame(Device &device, std::span<const u8> frame) {
    Arrival arrival(device, frame);
    Verdict verdict = classify(device, arrival);
    keep_willing(device, frame, verdict);
    if (verdict.count == 0) return device.counters.add(Counter::loopback_unwanted);
    device.counters.add(Counter::loopback_frames);
    deliver_all(device, arrival, verdict);
}

} // namespace niclab::connectx
