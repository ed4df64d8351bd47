// SPDX-License-Identifier: GPL-2.0-or-later
// Packets inside packets: VXLAN, GENEVE and GRE.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "connectx/packet.h"

namespace niclab::connectx {

// UDP ports whose datagrams are VXLAN: IANA's from the start, and those that the driver told.
class VxlanPorts {
  public:
    static constexpr usize kMost = 16;
    static constexpr u16 kDefault = 4789;

    bool contains(u16 port) const {
        for (usize i = 0; i < count_; ++i)
            if (ports_[i] == port) return true;
        return false;
    }
    bool full() const { return count_ == kMost; }
    void add(u16 port) { ports_[count_++] = port; } // not full
    bool remove(u16 port);
    void reset() { *this = {}; }

  private:
    std::array<u16, kMost> ports_ = {kDefault};
    usize count_ = 1;
};

// The packet that `outer`, found in `frame`, carries; nothing when it is no tunnel that the card knows.
std::optional<Packet> inner_packet(std::span<const u8> frame, const Packet &outer, const VxlanPorts &ports,
                                   Extent extent = Extent::header);

} // namespace niclab::connectx
