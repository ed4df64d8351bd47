// SPDX-License-Identifier: GPL-2.0-or-later
// The NIC vport: the context that software reads and writes (address, MTU, promiscuous flags, loopback
// switches, lists) and its counters.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "spec/types.h"

namespace niclab::connectx {

using MacAddress = std::array<u8, 6>;

class Vport {
  public:
    explicit Vport(const u8 (&mac)[6]);

    void reset(); // permanent address of the configuration, no lists, counters at zero

    // One frame without FCS that the vport sent or received.
    void count_tx(std::span<const u8> frame) { count(tx_, frame); }
    void count_rx(std::span<const u8> frame) { count(rx_, frame); }
    void count_rx_error() { ++rx_.errors; }
    void count_tx_error() { ++tx_.errors; }

    struct Pair {
        u64 packets = 0, octets = 0;
    };
    struct Direction {
        Pair unicast, multicast, broadcast;
        u64 errors = 0;
    };
    enum List : u8 { unicast_list, multicast_list, vlan_list, list_count };
    struct Context {
        MacAddress address{};
        u32 mtu = 0;
        bool promisc_uc = false, promisc_mc = false, promisc_all = false;
        bool no_unicast_loopback = false, no_multicast_loopback = false;
        // Entries as on the wire: MAC in the low 48 bits, or VLAN in the low 12.
        std::array<std::vector<u64>, list_count> lists;
    };

    Context context;
    // Where a frame goes that a queue of this vport sends. One to an address of its own goes back without
    // touching the wire; one to many goes both ways.
    struct Ways {
        bool wire, back;
    };
    Ways ways_of(std::span<const u8> frame) const;
    const Direction &tx() const { return tx_; }
    const Direction &rx() const { return rx_; }
    void clear_counters() { tx_ = rx_ = {}; }

  private:
    static void count(Direction &direction, std::span<const u8> frame);
    bool owns(std::span<const u8> address) const;

    MacAddress configured_;
    Direction tx_, rx_;
};

} // namespace niclab::connectx
