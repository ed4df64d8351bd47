// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "spec/layout.h"

namespace niclab::connectx {
namespace {

constexpr usize kIpv4Checksum = 10, kTcpChecksum = 16, kUdpChecksum = 6, kUdpLength = 4;

usize checksum_at(const Packet &packet) {
    return packet.l4_at + (packet.l4 == L4::tcp ? kTcpChecksum : kUdpChecksum);
}

u16 pseudo_header_sum(const u8 *frame, const Packet &packet, u32 l4_bytes) {
    const u8 *ip = frame + packet.l3_at;
    u16 addresses = packet.l3 == L3::ipv4 ? ones_sum(ip + 12, 8) : ones_sum(ip + 8, 32);
    u16 rest = ones_add((l4_bytes >> 16) + packet.protocol, l4_bytes & 0xffff);
    return ones_add(addresses, rest);
}

} // namespace

// The sum does not depend on byte order (RFC 1071), so whole machine words are added and the result is
// swapped once.
u16 ones_sum(const u8 *data, usize bytes) {
    unsigned __int128 sum = 0;
    u64 word;
    for (; bytes >= 32; bytes -= 32, data += 32) {
        u64 words[4];
        std::memcpy(words, data, sizeof words);
        sum += words[0];
        sum += words[1];
        sum += words[2];
        sum += words[3];
    }
    for (; bytes >= 8; bytes -= 8, data += 8) {
        std::memcpy(&word, data, sizeof word);
        sum += word;
    }
    word = 0;
    std::memcpy(&word, data, bytes);
    sum += word;
    u64 low = static_cast<u64>(sum), high = static_cast<u64>(sum >> 64);
    u64 folded = (low & 0xffffffff) + (low >> 32) + high;
    folded = (folded & 0xffffffff) + (folded >> 32);
    u16 result = ones_add(static_cast<u32>(folded & 0xffff), static_cast<u32>(folded >> 16));
    if constexpr (std::endian::native == std::endian::little)
        result = static_cast<u16>(result << 8 | result >> 8);
    return result;
}

u32 l4_end(const u8 *frame, const Packet &packet) {
    if (packet.l4 != L4::udp) return packet.l3_end;
    u16 length = load_be16(frame + packet.l4_at + kUdpLength);
    return length == 0 ? packet.l3_end : packet.l4_at + u32{length}; // 0: a jumbogram
}

bool has_l4_checksum(const u8 *frame, const Packet &packet) {
    if (packet.l4 == L4::none || packet.cut || packet.routed) return false;
    u32 end = l4_end(frame, packet);
    return end >= packet.payload_at && end <= packet.l3_end;
}

void fill_l3_checksum(u8 *frame, const Packet &packet) {
    if (packet.l3 != L3::ipv4) return;
    u8 *ip = frame + packet.l3_at;
    store_be16(ip + kIpv4Checksum, 0);
    store_be16(ip + kIpv4Checksum, static_cast<u16>(~ones_sum(ip, usize{ip[0] & 15u} * 4)));
}

void fill_l4_checksum(u8 *frame, const Packet &packet) {
    if (!has_l4_checksum(frame, packet)) return;
    u32 bytes = l4_end(frame, packet) - packet.l4_at;
    u8 *field = frame + checksum_at(packet);
    store_be16(field, 0);
    u16 sum = ones_add(pseudo_header_sum(frame, packet, bytes), ones_sum(frame + packet.l4_at, bytes));
    u16 checksum = static_cast<u16>(~sum);
    if (packet.l4 == L4::udp && checksum == 0) checksum = 0xffff; // 0 means "no checksum" (RFC 768)
    store_be16(field, checksum);
}

// One pass over the bytes: the datagram's sum is the header's plus the rest's, and the rest's serves layer 4.
ReceivedSums received_sums(std::span<const u8> frame, const Packet &packet) {
    ReceivedSums sums;
    const u8 *data = frame.data();
    if (packet.ethertype != kEthertypeIpv4 && packet.ethertype != kEthertypeIpv6) return sums;
    if (packet.l3 == L3::none) {
        // A broken IP header: drivers go by the ethertype and expect a sum over whatever is there.
        sums.datagram = ones_sum(data + packet.l3_at, frame.size() - packet.l3_at);
        return sums;
    }
    u32 split = packet.l4 == L4::none ? packet.l3_end : packet.l4_at;
    u16 header = 0, rest = 0;
    if (packet.l3 == L3::ipv4) {
        u32 header_bytes = (data[packet.l3_at] & 15u) * 4;
        u16 ip = ones_sum(data + packet.l3_at, header_bytes);
        sums.l3_ok = ip == 0xffff;
        header =
            ones_add(ip, ones_sum(data + packet.l3_at + header_bytes, split - packet.l3_at - header_bytes));
    } else {
        sums.l3_ok = true; // nothing to verify
        header = ones_sum(data + packet.l3_at, split - packet.l3_at);
    }
    rest = ones_sum(data + split, packet.l3_end - split);
    sums.datagram = ones_add(header, rest);
    if (!has_l4_checksum(data, packet)) return sums;

    if (packet.l4 == L4::udp && load_be16(data + checksum_at(packet)) == 0) {
        sums.l4_ok = packet.l3 == L3::ipv4; // optional in IPv4 only
        return sums;
    }
    u32 end = l4_end(data, packet);
    u16 l4 = end == packet.l3_end ? rest : ones_sum(data + split, end - split);
    sums.l4_ok = ones_add(pseudo_header_sum(data, packet, end - packet.l4_at), l4) == 0xffff;
    return sums;
}

} // namespace niclab::connectx
