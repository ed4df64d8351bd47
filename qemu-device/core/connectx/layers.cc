// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/layers.h"

#include "connectx/device.h"
#include "connectx/tunnel.h"

namespace niclab::connectx {
namespace {

// One packet as the software parser's fields tell it. Offsets are zero when not told.
struct Told {
    usize l3_at, l4_at;
    bool ipv6, udp;
};

Packet look_at(std::span<const u8> frame, const Told &told, Extent extent) {
    Packet packet = parse_at(frame, told.l3_at, told.ipv6 ? kEthertypeIpv6 : kEthertypeIpv4, extent);
    if (told.l4_at != 0) move_layer4(frame, packet, told.l4_at, told.udp ? kProtocolUdp : kProtocolTcp);
    return packet;
}

// The WQE counts in the frame as the driver made it, without a tag that the card puts in.
Layers look_where_told(const Device &device, const Outgoing &out, ConstView<EthSegment> eth, Extent extent) {
    auto place = [&](Field<EthSegment> field) -> usize {
        u32 words = eth.get(field);
        return words ? 2 * words + out.inserted : 0;
    };
    Told outer{place(EthSegment::swp_outer_l3), place(EthSegment::swp_outer_l4),
               eth.get(EthSegment::swp_outer_l3_ipv6) != 0, eth.get(EthSegment::swp_outer_l4_udp) != 0};
    Told inner{place(EthSegment::swp_inner_l3), place(EthSegment::swp_inner_l4),
               eth.get(EthSegment::swp_inner_l3_ipv6) != 0, eth.get(EthSegment::swp_inner_l4_udp) != 0};
    std::span<const u8> frame{out.frame, out.bytes};
    Layers layers;
    layers.outer = outer.l3_at ? look_at(frame, outer, extent) : parse(frame, extent);
    layers.inner = inner.l3_at ? look_at(frame, inner, extent)
                               : inner_packet(frame, layers.outer, device.vxlan_ports, extent);
    return layers;
}

} // namespace

Layers find_layers(const Device &device, const Outgoing &out, ConstView<EthSegment> eth, bool want_inner,
                   Extent extent) {
    if (eth.get(EthSegment::swp_offsets)) return look_where_told(device, out, eth, extent);
    std::span<const u8> frame{out.frame, out.bytes};
    Layers layers;
    layers.outer = parse(frame, extent);
    if (want_inner) layers.inner = inner_packet(frame, layers.outer, device.vxlan_ports, extent);
    return layers;
}

} // namespace niclab::connectx
