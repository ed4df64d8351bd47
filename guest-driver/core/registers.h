// SPDX-License-Identifier: GPL-2.0-or-later
// Port registers through ACCESS_REG.
#pragma once

#include "core/command_interface.h"
#include "spec/registers.h"

namespace niclab::driver {

// Exchange the image of a register; after a read or write `image` holds the card's answer.
Result<void> access_register(CommandInterface &, RegisterId, RegisterOp, Bytes image);

Result<void> set_port_up(CommandInterface &, bool up);
// Hardware MTU: netdev MTU plus kMtuOverhead.
constexpr u32 kMtuOverhead = 22; // Ethernet header, one VLAN tag, frame check sequence
Result<u32> query_max_mtu(CommandInterface &);
Result<void> set_port_mtu(CommandInterface &, u32 hardware_mtu);
Result<u32> query_speed_mbps(CommandInterface &); // 0 when the card names no speed that the driver knows

struct PhysicalCounters {
    u64 tx_packets = 0, rx_packets = 0, tx_bytes = 0, rx_bytes = 0;
};
Result<PhysicalCounters> query_physical_counters(CommandInterface &);

} // namespace niclab::driver
