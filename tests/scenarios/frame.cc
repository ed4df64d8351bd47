// SPDX-License-Identifier: GPL-2.0-or-later
#include "scenarios/frame.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace niclab::scenarios {
namespace {

constexpr std::size_t kMacs = 12;
constexpr std::size_t kEthernet = 14;
constexpr std::size_t kIpv4 = 20, kIpv6 = 40, kUdp = 8, kTcp = 20;
constexpr std::uint16_t kTypeIpv4 = 0x0800, kTypeIpv6 = 0x86dd;
constexpr std::uint8_t kProtocolTcp = 6, kProtocolUdp = 17;

std::uint16_t get16(const Bytes &bytes, std::size_t at) {
    return static_cast<std::uint16_t>(bytes.at(at) << 8 | bytes.at(at + 1));
}

void set16(Bytes &bytes, std::size_t at, std::size_t value) {
    bytes.at(at) = static_cast<std::uint8_t>(value >> 8);
    bytes.at(at + 1) = static_cast<std::uint8_t>(value);
}

void set32(Bytes &bytes, std::size_t at, std::uint32_t value) {
    set16(bytes, at, value >> 16);
    set16(bytes, at + 2, value & 0xffff);
}

std::uint32_t get32(const Bytes &bytes, std::size_t at) {
    return static_cast<std::uint32_t>(get16(bytes, at)) << 16 | get16(bytes, at + 2);
}

/// Ones' complement sum of `size` bytes, folded, not inverted (RFC 1071).
std::uint16_t sum(const Bytes &bytes, std::size_t from, std::size_t size, std::uint32_t start = 0) {
    std::uint64_t total = start;
    for (std::size_t i = 0; i < size; ++i)
        total += i % 2 ? bytes.at(from + i) : static_cast<std::uint32_t>(bytes.at(from + i)) << 8;
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    return static_cast<std::uint16_t>(total);
}

bool is_ipv4(const Bytes &frame) { return get16(frame, kMacs) == kTypeIpv4; }
std::uint8_t protocol_of(const Bytes &frame) { return frame.at(kEthernet + (is_ipv4(frame) ? 9 : 6)); }
bool is_tcp(const Bytes &frame) { return protocol_of(frame) == kProtocolTcp; }

/// End of the IP packet; what is behind it is padding.
std::size_t packet_end(const Bytes &frame) {
    return is_ipv4(frame) ? kEthernet + get16(frame, kEthernet + 2)
                          : kEthernet + kIpv6 + get16(frame, kEthernet + 4);
}

std::uint16_t pseudo_header_sum(const Bytes &frame, std::size_t l4_bytes) {
    std::size_t addresses = kEthernet + (is_ipv4(frame) ? 12 : 8);
    std::size_t size = is_ipv4(frame) ? 8 : 32;
    return sum(frame, addresses, size, protocol_of(frame) + static_cast<std::uint32_t>(l4_bytes));
}

std::uint16_t l4_sum(const Bytes &frame) {
    std::size_t bytes = packet_end(frame) - l4_offset(frame);
    return sum(frame, l4_offset(frame), bytes, pseudo_header_sum(frame, bytes));
}

void fill_ipv4_checksum(Bytes &frame) {
    set16(frame, kEthernet + 10, 0);
    set16(frame, kEthernet + 10,
          static_cast<std::uint16_t>(~sum(frame, kEthernet, l4_offset(frame) - kEthernet)));
}

void fill_l4_checksum(Bytes &frame) {
    set16(frame, l4_checksum_offset(frame), 0);
    auto value = static_cast<std::uint16_t>(~l4_sum(frame));
    // A UDP checksum of zero would mean "none" (RFC 768).
    set16(frame, l4_checksum_offset(frame), value == 0 && !is_tcp(frame) ? 0xffff : value);
}

void set_ip_length(Bytes &frame) {
    if (is_ipv4(frame))
        set16(frame, kEthernet + 2, frame.size() - kEthernet);
    else
        set16(frame, kEthernet + 4, frame.size() - kEthernet - kIpv6);
}

Bytes ip_frame(const Mac &to, Family family, std::uint8_t protocol, const Bytes &l4) {
    Bytes ip(family == Family::ipv4 ? kIpv4 : kIpv6);
    if (family == Family::ipv4) {
        const Bytes addresses = {10, 77, 0, 201, 10, 77, 0, 202};
        ip[0] = 0x45;
        set16(ip, 4, 0x4e4c); // identification
        ip[6] = 0x40;         // don't fragment
        ip[8] = 64;
        ip[9] = protocol;
        std::copy(addresses.begin(), addresses.end(), ip.begin() + 12);
    } else {
        ip[0] = 0x60;
        ip[6] = protocol;
        ip[7] = 64;
        ip[8] = ip[24] = 0xfd;
        ip[9] = ip[25] = 0x77;
        ip[23] = 0xc9;
        ip[39] = 0xca;
    }
    ip.insert(ip.end(), l4.begin(), l4.end());
    Bytes frame = ethernet(to, family == Family::ipv4 ? kTypeIpv4 : kTypeIpv6, ip);
    set_ip_length(frame);
    fill_checksums(frame);
    return frame;
}

} // namespace

Mac mac_from(const std::string &text) {
    unsigned part[6];
    if (std::sscanf(text.c_str(), "%x:%x:%x:%x:%x:%x", &part[0], &part[1], &part[2], &part[3], &part[4],
                    &part[5]) != 6)
        throw std::invalid_argument("'" + text + "' is not a MAC address");
    Mac mac;
    std::copy(std::begin(part), std::end(part), mac.begin());
    return mac;
}

std::string hex(const Bytes &bytes) {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

Bytes bytes_from(const std::string &hex) {
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    return bytes;
}

Bytes pattern(std::size_t size, unsigned seed) {
    Bytes bytes(size);
    std::uint32_t state = seed * 2654435761u + 1;
    for (std::uint8_t &byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = static_cast<std::uint8_t>(state >> 24);
    }
    return bytes;
}

Bytes ethernet(const Mac &to, std::uint16_t ethertype, const Bytes &payload) {
    Bytes frame(to.begin(), to.end());
    frame.insert(frame.end(), kTestSource.begin(), kTestSource.end());
    frame.resize(kEthernet);
    set16(frame, kMacs, ethertype);
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
}

Bytes tagged(const Bytes &frame, std::uint16_t tpid, std::uint16_t tci) {
    Bytes tag(4);
    set16(tag, 0, tpid);
    set16(tag, 2, tci);
    Bytes result = frame;
    result.insert(result.begin() + kMacs, tag.begin(), tag.end());
    return result;
}

Bytes padded(Bytes frame) {
    frame.resize(std::max(frame.size(), kMinFrame));
    return frame;
}

Bytes udp(const Mac &to, Family family, std::uint16_t source_port, std::uint16_t destination_port,
          const Bytes &payload) {
    Bytes l4(kUdp);
    set16(l4, 0, source_port);
    set16(l4, 2, destination_port);
    set16(l4, 4, kUdp + payload.size());
    l4.insert(l4.end(), payload.begin(), payload.end());
    return ip_frame(to, family, kProtocolUdp, l4);
}

Bytes tcp(const Mac &to, Family family, const TcpFields &fields, const Bytes &payload) {
    Bytes l4(kTcp);
    set16(l4, 0, 40001);
    set16(l4, 2, 40002);
    set32(l4, 4, fields.sequence);
    set32(l4, 8, 0x01020304);
    l4[12] = static_cast<std::uint8_t>((kTcp + fields.options.size()) / 4 << 4);
    l4[13] = fields.flags;
    set16(l4, 14, 0x7210); // window
    l4.insert(l4.end(), fields.options.begin(), fields.options.end());
    l4.insert(l4.end(), payload.begin(), payload.end());
    return ip_frame(to, family, kProtocolTcp, l4);
}

std::size_t l4_offset(const Bytes &frame) {
    return kEthernet + (is_ipv4(frame) ? static_cast<std::size_t>(frame.at(kEthernet) & 15) * 4 : kIpv6);
}

std::size_t l4_checksum_offset(const Bytes &frame) { return l4_offset(frame) + (is_tcp(frame) ? 16 : 6); }

std::size_t headers_length(const Bytes &frame) {
    std::size_t l4 = l4_offset(frame);
    return l4 + (is_tcp(frame) ? static_cast<std::size_t>(frame.at(l4 + 12) >> 4) * 4 : kUdp);
}

Bytes payload_of(const Bytes &frame) {
    auto end = frame.begin() + static_cast<std::ptrdiff_t>(packet_end(frame));
    return Bytes(frame.begin() + static_cast<std::ptrdiff_t>(headers_length(frame)), end);
}

Bytes with_partial_checksum(Bytes frame) {
    set16(frame, l4_checksum_offset(frame), pseudo_header_sum(frame, packet_end(frame) - l4_offset(frame)));
    return frame;
}

Bytes with_payload_for_zero_udp_checksum(const Mac &to, Family family) {
    // The sum over the packet with its checksum field empty must be 0xffff: put what is missing into the
    // payload.
    Bytes frame = udp(to, family, 40001, 40002, Bytes(10));
    set16(frame, l4_checksum_offset(frame), 0);
    set16(frame, headers_length(frame), 0xffff - l4_sum(frame));
    fill_checksums(frame);
    return frame;
}

void fill_checksums(Bytes &frame) {
    if (is_ipv4(frame)) fill_ipv4_checksum(frame);
    fill_l4_checksum(frame);
}

std::string fault_in(const Bytes &frame) {
    if (packet_end(frame) > frame.size()) return "the IP length goes past the end of the frame";
    if (frame.size() > std::max(packet_end(frame), kMinFrame)) return "bytes behind the IP packet";
    if (is_ipv4(frame) && sum(frame, kEthernet, l4_offset(frame) - kEthernet) != 0xffff)
        return "wrong IPv4 header checksum";
    if (!is_tcp(frame) && get16(frame, l4_offset(frame) + 4) != packet_end(frame) - l4_offset(frame))
        return "wrong UDP length";
    if (!is_tcp(frame) && get16(frame, l4_checksum_offset(frame)) == 0) return "no UDP checksum";
    if (l4_sum(frame) != 0xffff) return is_tcp(frame) ? "wrong TCP checksum" : "wrong UDP checksum";
    return {};
}

std::vector<Bytes> segments_of(const Bytes &large, std::size_t mss) {
    const std::size_t headers = headers_length(large), l4 = l4_offset(large);
    // To the end: the length field of a packet as large as this may not tell.
    const Bytes payload(large.begin() + static_cast<std::ptrdiff_t>(headers), large.end());
    std::vector<Bytes> result;
    for (std::size_t done = 0; done < payload.size(); done += mss) {
        std::size_t end = std::min(done + mss, payload.size());
        Bytes piece(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(headers));
        piece.insert(piece.end(), payload.begin() + static_cast<std::ptrdiff_t>(done),
                     payload.begin() + static_cast<std::ptrdiff_t>(end));
        set_ip_length(piece);
        if (is_ipv4(piece)) set16(piece, kEthernet + 4, get16(large, kEthernet + 4) + result.size());
        set32(piece, l4 + 4, get32(large, l4 + 4) + static_cast<std::uint32_t>(done));
        if (end != payload.size()) piece[l4 + 13] &= static_cast<std::uint8_t>(~(kFin | kPsh));
        fill_checksums(piece);
        result.push_back(std::move(piece));
    }
    return result;
}

} // namespace niclab::scenarios
