// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Commands and flags of tunnel offloads.
#pragma once

#include "spec/layout.h"

namespace niclab {

struct VxlanPortIn { // ADD_VXLAN_UDP_DPORT, DELETE_VXLAN_UDP_DPORT
    using F = Field<VxlanPortIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F vxlan_udp_port{0x0c, 15, 0};
    static constexpr F rows[] = {vxlan_udp_port};
};
static_assert(disjoint(VxlanPortIn::rows));

} // namespace niclab
