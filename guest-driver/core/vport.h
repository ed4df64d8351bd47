// SPDX-License-Identifier: GPL-2.0-or-later
// The port's own virtual port: address, MTU, filters that firmware keeps, state and counters.
#pragma once

#include "core/command_interface.h"
#include "spec/hca.h"

namespace niclab::driver {

constexpr usize kMacBytes = 6;
constexpr u8 kBroadcast[kMacBytes] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
inline bool is_multicast(const u8 *mac) { return mac[0] & 1; }

struct MacAddress {
    u8 bytes[kMacBytes] = {};
    friend bool operator==(const MacAddress &a, const MacAddress &b) {
        return __builtin_memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
    }
};

Result<MacAddress> query_mac(CommandInterface &);
Result<u32> query_min_inline_mode(CommandInterface &);
Result<void> set_vport_mtu(CommandInterface &, u32 hardware_mtu);
Result<bool> query_vport_up(CommandInterface &);

struct PacketsAndBytes {
    u64 packets = 0, bytes = 0;
};
struct VportCounters {
    PacketsAndBytes rx_error, tx_error, rx_broadcast, tx_broadcast, rx_unicast, tx_unicast, rx_multicast,
        tx_multicast;
};
Result<VportCounters> query_vport_counters(CommandInterface &);
Result<u64> query_out_of_buffer(CommandInterface &, u32 counter_set);

} // namespace niclab::driver
