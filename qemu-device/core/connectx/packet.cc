// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/packet.h"

#include <algorithm>

#include "spec/layout.h"

namespace niclab::connectx {
namespace {

constexpr unsigned kMaxTags = 8;             // as deep as Linux looks for the IP header
constexpr unsigned kMaxExtensionHeaders = 8; // more than any real packet carries

constexpr usize kIpv4HeaderBytes = 20, kIpv6HeaderBytes = 40, kTcpHeaderBytes = 20, kUdpHeaderBytes = 8;
constexpr u8 kHopByHop = 0, kRouting = 43, kFragment = 44, kDestinationOptions = 60;

bool is_tag(u16 ethertype) { return ethertype == kEthertypeCvlan || ethertype == kEthertypeSvlan; }

// Leaves `ethertype` at zero when the frame ends before it.
void parse_layer2(const u8 *frame, usize start, Packet &packet) {
    usize at = start + kEthernetHeaderBytes;
    if (packet.bytes < at) return;
    u16 type = load_be16(frame + start + 12);
    for (unsigned tags = 0; is_tag(type) && tags < kMaxTags; ++tags) {
        if (packet.bytes < at + kVlanTagBytes) return;
        if (tags == 0) {
            packet.outer_tpid = type;
            packet.outer_tci = load_be16(frame + at);
        }
        type = load_be16(frame + at + 2);
        at += kVlanTagBytes;
    }
    packet.ethertype = type;
    packet.l3_at = static_cast<u16>(at);
}

void set_end(Packet &packet, usize promised, Extent extent) {
    usize there = packet.bytes - packet.l3_at;
    if (extent == Extent::frame) promised = there;
    packet.cut = promised > there;
    packet.l3_end = static_cast<u32>(packet.l3_at + std::min(promised, there));
}

void parse_ipv4(const u8 *frame, Packet &packet, Extent extent) {
    const u8 *ip = frame + packet.l3_at;
    usize there = packet.bytes - packet.l3_at;
    if (there < kIpv4HeaderBytes || ip[0] >> 4 != 4) return;
    usize header = usize{ip[0] & 15u} * 4;
    if (header < kIpv4HeaderBytes || header > there) return;
    if (extent == Extent::header && load_be16(ip + 2) < header) return;
    set_end(packet, load_be16(ip + 2), extent);
    packet.l3 = L3::ipv4;
    packet.traffic_class = ip[1];
    packet.ttl = ip[8];
    packet.protocol = ip[9];
    packet.options = header > kIpv4HeaderBytes;
    packet.fragment = (load_be16(ip + 6) & 0x3fff) != 0; // offset, or more to come
    packet.l4_at = static_cast<u16>(packet.l3_at + header);
}

// Walks the extension headers. Stops at the first that is cut, is behind the bound, or is not one.
void walk_extensions(const u8 *frame, Packet &packet) {
    usize at = packet.l3_at + kIpv6HeaderBytes;
    for (unsigned i = 0; i < kMaxExtensionHeaders; ++i) {
        u8 kind = packet.protocol;
        if (kind != kHopByHop && kind != kRouting && kind != kFragment && kind != kDestinationOptions) {
            packet.l4_at = static_cast<u16>(at);
            return;
        }
        packet.options = true;
        if (at + 8 > packet.l3_end) return;
        const u8 *header = frame + at;
        usize bytes = kind == kFragment ? 8 : (usize{header[1]} + 1) * 8;
        if (kind == kFragment && (load_be16(header + 2) & 0xfff9) != 0) packet.fragment = true;
        if (kind == kRouting && header[3] != 0) packet.routed = true;
        if (at + bytes > packet.l3_end) return;
        at += bytes;
        packet.protocol = header[0];
        if (packet.fragment) return; // what follows is a piece of the datagram
    }
}

void parse_ipv6(const u8 *frame, Packet &packet, Extent extent) {
    const u8 *ip = frame + packet.l3_at;
    if (packet.bytes - packet.l3_at < kIpv6HeaderBytes || ip[0] >> 4 != 6) return;
    set_end(packet, kIpv6HeaderBytes + load_be16(ip + 4), extent);
    packet.l3 = L3::ipv6;
    packet.traffic_class = static_cast<u8>(load_be16(ip) >> 4);
    packet.protocol = ip[6];
    packet.ttl = ip[7];
    walk_extensions(frame, packet);
}

void parse_layer4(const u8 *frame, Packet &packet) {
    const u8 *l4 = frame + packet.l4_at;
    usize there = packet.l3_end - packet.l4_at;
    if (packet.protocol == kProtocolTcp && there >= kTcpHeaderBytes) {
        usize header = usize{l4[12]} >> 4 << 2;
        if (header < kTcpHeaderBytes || header > there) return;
        packet.l4 = L4::tcp;
        packet.tcp_flags = load_be16(l4 + 12) & 0x1ff;
        packet.payload_at = static_cast<u16>(packet.l4_at + header);
    } else if (packet.protocol == kProtocolUdp && there >= kUdpHeaderBytes) {
        packet.l4 = L4::udp;
        packet.payload_at = static_cast<u16>(packet.l4_at + kUdpHeaderBytes);
    } else if (packet.protocol == kProtocolEsp && there >= 4) {
        packet.spi = true;
        packet.spi_at = packet.l4_at;
    } else if (packet.protocol == kProtocolAh && there >= 8) {
        packet.spi = true;
        packet.spi_at = static_cast<u16>(packet.l4_at + 4);
    }
}

} // namespace

Packet parse_at(std::span<const u8> frame, usize at, u16 ethertype, Extent extent) {
    Packet packet;
    packet.bytes = static_cast<u32>(frame.size());
    if (at > frame.size()) return packet;
    if (ethertype == kEthertypeEthernet) {
        parse_layer2(frame.data(), at, packet);
    } else {
        packet.ethertype = ethertype;
        packet.l3_at = static_cast<u16>(at);
    }
    if (packet.ethertype == kEthertypeIpv4) parse_ipv4(frame.data(), packet, extent);
    if (packet.ethertype == kEthertypeIpv6) parse_ipv6(frame.data(), packet, extent);
    if (packet.l4_at != 0 && !packet.fragment && packet.l4_at <= packet.l3_end)
        parse_layer4(frame.data(), packet);
    return packet;
}

Packet parse(std::span<const u8> frame, Extent extent) {
    return parse_at(frame, 0, kEthertypeEthernet, extent);
}

void move_layer4(std::span<const u8> frame, Packet &packet, usize at, u8 protocol) {
    packet.l4 = L4::none;
    packet.spi = false;
    if (packet.l3 == L3::none || packet.fragment || at <= packet.l3_at || at > packet.l3_end) return;
    packet.protocol = protocol;
    packet.l4_at = static_cast<u16>(at);
    parse_layer4(frame.data(), packet);
}

} // namespace niclab::connectx
