// SPDX-License-Identifier: GPL-2.0-or-later
// What a bounded look at a frame's headers finds. Every offset was checked against the frame's end before it
// was stored.
#pragma once

#include <span>

#include "spec/layout.h"

namespace niclab::connectx {

constexpr u16 kEthertypeIpv4 = 0x0800, kEthertypeIpv6 = 0x86dd, kEthertypeCvlan = 0x8100,
              kEthertypeSvlan = 0x88a8;
constexpr u16 kEthertypeEthernet = 0x6558; // a whole frame follows: how tunnels name it
constexpr u8 kProtocolTcp = 6, kProtocolUdp = 17, kProtocolGre = 47, kProtocolEsp = 50, kProtocolAh = 51;
constexpr usize kEthernetHeaderBytes = 14;
constexpr usize kVlanTagBytes = 4;

// An address at the front of a frame of at least six bytes.
constexpr bool is_broadcast(std::span<const u8> frame) {
    return load_be32(frame.data()) == ~u32{0} && load_be16(frame.data() + 4) == 0xffff;
}

enum class L3 : u8 { none, ipv4, ipv6 };
enum class L4 : u8 { none, tcp, udp };

struct Packet {
    u32 bytes = 0;
    u16 ethertype = 0;  // behind all tags; 0 when the frame ends before it
    u16 outer_tpid = 0; // 0: untagged
    u16 outer_tci = 0;
    u16 l3_at = 0; // first byte behind the ethertype, also when it is not IP

    L3 l3 = L3::none; // a whole and sane IP header is there
    u32 l3_end = 0;   // end of the datagram as the IP header tells it, at most `bytes`
    bool cut = false; // the IP header promises more bytes than there are
    bool fragment = false;
    bool options = false; // IPv4 options or IPv6 extension headers
    bool routed = false; // an IPv6 routing header with segments left: the checksum covers another destination
    u8 protocol = 0;     // behind the extension headers
    u8 traffic_class = 0, ttl = 0;

    u16 l4_at = 0;    // 0: nothing there
    L4 l4 = L4::none; // a whole TCP or UDP header is there, in a datagram that is not a fragment
    u16 payload_at = 0;
    u16 tcp_flags = 0; // nine bits
    bool spi = false;  // the IPsec index is there, at spi_at
    u16 spi_at = 0;
};

// Whether the end of the datagram comes from the IP header, or is the end of the frame (segmentation
// templates, whose length fields do not count).
enum class Extent : u8 { header, frame };

Packet parse(std::span<const u8> frame, Extent extent = Extent::header);
// What begins at byte `at`, below 2^15: IP, or with kEthertypeEthernet a frame. All offsets count from
// `frame`'s start.
Packet parse_at(std::span<const u8> frame, usize at, u16 ethertype, Extent extent = Extent::header);
// Puts layer 4 where somebody else knows it to be.
void move_layer4(std::span<const u8> frame, Packet &packet, usize at, u8 protocol);

} // namespace niclab::connectx
