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

} // namespace

bool Segmenter::start(std::span<u8> whole, u32 header_bytes, u16 mss) {
    packet_ = parse(whole, Extent::frame);
    if (packet_.l4 == L4::none || mss == 0 || packet_.payload_at > kMaxHeaderBytes) return false;
    if (header_bytes != 0 && header_bytes != packet_.payload_at) return false;
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
    patch_l3(frame, packet_.l3_end - packet_.l3_at);
    patch_l4(frame, packet_.l3_end - packet_.l4_at);
    fill_l3_checksum(frame, packet_);
    fill_l4_checksum(frame, packet_);
    ++index_;
    return {frame, packet_.bytes};
}

void Segmenter::patch_l3(u8 *frame, u32 ip_bytes) const {
    u8 *ip = frame + packet_.l3_at;
    if (packet_.l3 == L3::ipv6) {
        store_be16(ip + kIpv6Length, static_cast<u16>(ip_bytes - kIpv6HeaderBytes));
        return;
    }
    store_be16(ip + kIpv4Length, static_cast<u16>(ip_bytes));
    store_be16(ip + kIpv4Id, static_cast<u16>(load_be16(ip + kIpv4Id) + index_));
}

// FIN and PSH belong to the last byte of the payload, CWR to the first (RFC 3168: said once).
void Segmenter::patch_l4(u8 *frame, u32 l4_bytes) const {
    u8 *l4 = frame + packet_.l4_at;
    if (packet_.l4 == L4::udp) {
        store_be16(l4 + kUdpLength, static_cast<u16>(l4_bytes));
        return;
    }
    store_be32(l4 + kTcpSequence, load_be32(l4 + kTcpSequence) + index_ * mss_);
    if (index_ != 0) l4[kTcpFlags] &= static_cast<u8>(~kCwr);
    if (index_ + 1 != segments_) l4[kTcpFlags] &= static_cast<u8>(~(kFin | kPsh));
}

} // namespace niclab::connectx
