// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/tunnel.h"

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "spec/tunnel.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynPortFull = 0x5e0001, kSynPortTwice = 0x5e0002, kSynPortUnknown = 0x5e0003;

constexpr u16 kGenevePort = 6081; // RFC 8926
constexpr usize kVxlanHeaderBytes = 8, kGeneveHeaderBytes = 8, kGreHeaderBytes = 4;
constexpr usize kUdpDestination = 2;

// RFC 8926, 3.4: version, length of the options in words, then flags and protocol.
std::optional<Packet> in_geneve(std::span<const u8> frame, usize at, Extent extent) {
    if (frame.size() < at + kGeneveHeaderBytes || frame[at] >> 6 != 0) return {};
    usize options = usize{frame[at] & 0x3fu} * 4;
    u16 protocol = load_be16(frame.data() + at + 2);
    return parse_at(frame, at + kGeneveHeaderBytes + options, protocol, extent);
}

// RFC 2784 and 2890: checksum, key and sequence number are there or not as the flags say; version 0 without
// routing.
std::optional<Packet> in_gre(std::span<const u8> frame, usize at, Extent extent) {
    constexpr u16 kChecksum = 0x8000, kKey = 0x2000, kSequence = 0x1000, kRoutingOrVersion = 0x4007;
    if (frame.size() < at + kGreHeaderBytes) return {};
    u16 flags = load_be16(frame.data() + at);
    if (flags & kRoutingOrVersion) return {};
    usize options = (flags & kChecksum ? 4u : 0u) + (flags & kKey ? 4u : 0u) + (flags & kSequence ? 4u : 0u);
    u16 protocol = load_be16(frame.data() + at + 2);
    return parse_at(frame, at + kGreHeaderBytes + options, protocol, extent);
}

} // namespace

bool VxlanPorts::remove(u16 port) {
    for (usize i = 0; i < count_; ++i)
        if (ports_[i] == port) {
            ports_[i] = ports_[--count_];
            return true;
        }
    return false;
}

std::optional<Packet> inner_packet(std::span<const u8> frame, const Packet &outer, const VxlanPorts &ports,
                                   Extent extent) {
    if (outer.l3 == L3::none || outer.l4_at == 0 || outer.fragment || outer.l4_at > outer.l3_end) return {};
    frame = frame.first(outer.l3_end); // padding belongs to nobody
    if (outer.protocol == kProtocolGre) return in_gre(frame, outer.l4_at, extent);
    if (outer.l4 != L4::udp) return {};
    u16 port = load_be16(frame.data() + outer.l4_at + kUdpDestination);
    if (port == kGenevePort) return in_geneve(frame, outer.payload_at, extent);
    if (!ports.contains(port)) return {};
    return parse_at(frame, outer.payload_at + kVxlanHeaderBytes, kEthertypeEthernet, extent);
}

// Drivers add the default port, too, and take it away when they leave, also behind a reset that they did not
// cause.
Reply add_vxlan_udp_dport(Device &device, const Request &request, const Response &) {
    u16 port = static_cast<u16>(request.view<VxlanPortIn>().get(VxlanPortIn::vxlan_udp_port));
    if (device.vxlan_ports.contains(port))
        return port == VxlanPorts::kDefault ? kOk : fail(Status::bad_parameter, kSynPortTwice);
    if (device.vxlan_ports.full()) return fail(Status::limits_exceeded, kSynPortFull);
    device.vxlan_ports.add(port);
    return kOk;
}

Reply delete_vxlan_udp_dport(Device &device, const Request &request, const Response &) {
    u16 port = static_cast<u16>(request.view<VxlanPortIn>().get(VxlanPortIn::vxlan_udp_port));
    if (!device.vxlan_ports.remove(port)) return fail(Status::bad_resource, kSynPortUnknown);
    return kOk;
}

} // namespace niclab::connectx
