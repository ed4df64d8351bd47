// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "spec/layout.h"

namespace niclab::connectx {
namespace {

constexpr usize kIpv4Checksum = 10, kTcpChecksum = 16, kUdpChecksum = 6, kUdpLength = 4;

constexpr bool kLittleEndian = std::endian::native == std::endian::little;

template <class Word>
Word load(const u8 *from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}
constexpr u64 add_around(u64 a, u64 b) {
    u64 sum = a + b;
    return sum + (sum < b); // the carry comes back at the other end
}
// A byte that stands for a machine word of two: itself, then a zero.
constexpr u16 odd_byte(u8 byte) { return kLittleEndian ? byte : static_cast<u16>(byte << 8); }

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

// The sum does not depend on byte order (RFC 1071), so machine words are added and the result is swapped
// once.
u16 ones_sum(const u8 *data, usize bytes) {
    u64 sum = 0;
    for (; bytes >= 32; bytes -= 32, data += 32) {
        sum = add_around(sum, load<u64>(data));
        sum = add_around(sum, load<u64>(data + 8));
        sum = add_around(sum, load<u64>(data + 16));
        sum = add_around(sum, load<u64>(data + 24));
    }
    for (; bytes >= 8; bytes -= 8, data += 8)
        sum = add_around(sum, load<u64>(data));
    if (bytes & 4) sum = add_around(sum, load<u32>(data));
    if (bytes & 2) sum = add_around(sum, load<u16>(data + (bytes & 4)));
    if (bytes & 1) sum = add_around(sum, odd_byte(data[bytes - 1]));
    u64 folded = (sum & 0xffffffff) + (sum >> 32);
    folded = (folded & 0xffffffff) + (folded >> 32);
    u16 result = ones_add(static_cast<u32>(folded & 0xffff), static_cast<u32>(folded >> 16));
    return kLittleEndian ? static_cast<u16>(result << 8 | result >> 8) : result;
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
    u32 split = packet.l4_at != 0 ? packet.l4_at : packet.l3_end;
    u16 header = ones_sum(data + packet.l3_at, split - packet.l3_at);
    u16 rest = ones_sum(data + split, packet.l3_end - split);
    sums.datagram = ones_add(header, rest);
    sums.l3_ok = packet.l3 == L3::ipv6 || header == 0xffff; // IPv6 has nothing to verify
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

u16 full_sum(std::span<const u8> frame, usize l3_at, const Packet &packet, const ReceivedSums &sums) {
    if (packet.ethertype != kEthertypeIpv4 && packet.ethertype != kEthertypeIpv6) return 0;
    u16 sum = sums.datagram;
    if (l3_at > kEthernetHeaderBytes)
        sum = ones_add(sum, ones_sum(frame.data() + kEthernetHeaderBytes, l3_at - kEthernetHeaderBytes));
    usize datagram = (packet.l3 == L3::none ? packet.bytes : packet.l3_end) - packet.l3_at;
    usize end = l3_at + datagram;
    if (end == frame.size()) return sum;
    u16 rest = ones_sum(frame.data() + end, frame.size() - end);
    // Behind an odd number of bytes each byte stands in the other half of its word.
    if (datagram & 1) rest = static_cast<u16>(rest << 8 | rest >> 8);
    return ones_add(sum, rest);
}

} // namespace niclab::connectx
