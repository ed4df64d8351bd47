// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/segment.h"

#include <algorithm>
#include <cstring>

#include "connectx/checksum.h"
#include "spec/layout.h"

namespace niclab::connectx {
namespace {

constexpr usize kIpv4Length = 2, kIpv4Id = 4, kIpv6Length = 4, kIpv6HeaderBytes = 40;
constexpr usize kTcpSequence = 4, kTcpFlags = 13, kUdpLength = 4;
constexpr u8 kFin = 0x01, kPsh = 0x08, kCwr = 0x80;

// True when all that is written into the outer headers lies in front of the inner packet.
bool is_in_front(const Packet &outer, const Packet &inner) {
    usize end = outer.l4 == L4::udp ? outer.payload_at : outer.l4_at;
    return outer.l3 != L3::none && end != 0 && end <= inner.l3_at;
}

} // namespace

bool Segmenter::start(std::span<u8> whole, const Packet &packet, const Packet *outer, u32 header_bytes,
                      u16 mss) {
    packet_ = packet;
    if (packet_.l4 == L4::none || mss == 0 || packet_.payload_at > kMaxHeaderBytes) return false;
    if (header_bytes != 0 && header_bytes != packet_.payload_at) return false;
    tunnel_ = outer != nullptr;
    if (tunnel_) {
        outer_ = *outer;
        if (!is_in_front(outer_, packet_)) return false;
    }
    whole_ = whole;
    header_bytes_ = packet_.payload_at;
    mss_ = mss;
    index_ = 0;
    u32 payload = static_cast<u32>(whole.size()) - header_bytes_;
    segments_ = std::max<u32>(1, (payload + mss_ - 1) / mss_);
    std::memcpy(header_, whole.data(), header_bytes_);
    return true;
}

std::span<u8> Segmenter::next() {
    if (index_ == segments_) return {};
    u32 done = index_ * mss_;
    u32 payload = std::min(mss_, static_cast<u32>(whole_.size()) - header_bytes_ - done);
    u8 *frame = whole_.data() + done;
    std::memcpy(frame, header_, header_bytes_);
    packet_.bytes = packet_.l3_end = header_bytes_ + payload;
    patch_l3(frame, packet_);
    patch_l4(frame);
    fill_l3_checksum(frame, packet_);
    fill_l4_checksum(frame, packet_);
    if (tunnel_) {
        outer_.bytes = outer_.l3_end = packet_.bytes;
        patch_outer(frame);
    }
    ++index_;
    return {frame, packet_.bytes};
}

void Segmenter::patch_l3(u8 *frame, const Packet &packet) const {
    u8 *ip = frame + packet.l3_at;
    u32 bytes = packet.l3_end - packet.l3_at;
    if (packet.l3 == L3::ipv6) {
        store_be16(ip + kIpv6Length, static_cast<u16>(bytes - kIpv6HeaderBytes));
        return;
    }
    store_be16(ip + kIpv4Length, static_cast<u16>(bytes));
    store_be16(ip + kIpv4Id, static_cast<u16>(load_be16(ip + kIpv4Id) + index_));
}

// FIN and PSH belong to the last byte of the payload, CWR to the first (RFC 3168: said once).
void Segmenter::patch_l4(u8 *frame) const {
    u8 *l4 = frame + packet_.l4_at;
    if (packet_.l4 == L4::udp) {
        store_be16(l4 + kUdpLength, static_cast<u16>(packet_.l3_end - packet_.l4_at));
        return;
    }
    store_be32(l4 + kTcpSequence, load_be32(l4 + kTcpSequence) + index_ * mss_);
    if (index_ != 0) l4[kTcpFlags] &= static_cast<u8>(~kCwr);
    if (index_ + 1 != segments_) l4[kTcpFlags] &= static_cast<u8>(~(kFin | kPsh));
}

// A checksum over the whole of the outer datagram stays as the template has it: a packet with right checksums
// adds the same to it whatever its payload is, as long as its length is the same. Drivers that ask for one
// give pieces of one length.
void Segmenter::patch_outer(u8 *frame) const {
    patch_l3(frame, outer_);
    fill_l3_checksum(frame, outer_);
    if (outer_.l4 == L4::udp)
        store_be16(frame + outer_.l4_at + kUdpLength, static_cast<u16>(outer_.l3_end - outer_.l4_at));
}

} // namespace niclab::connectx
