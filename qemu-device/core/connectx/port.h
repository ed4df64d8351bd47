// SPDX-License-Identifier: GPL-2.0-or-later
// The Ethernet port: administrative and operational state, MTU, speed, and the counters behind PPCNT.
#pragma once

#include <span>

#include "connectx/link.h"
#include "connectx/pause.h"
#include "spec/types.h"

namespace niclab::connectx {

class Device;

constexpr u32 kHardwareMtuExtra =
    22; // the card counts Ethernet header, one VLAN tag and FCS: hardware MTU = netdev MTU + 22
constexpr u32 kFcsBytes = 4;

enum class RxError : u8 { undersize, oversize, fcs };

class Port {
  public:
    explicit Port(Device &device);

    // Power-on state: administratively down, default MTU, counters at zero. Cable, module and what the wire
    // does stay as they are.
    void reset();

    bool up() const { return admin_up_ && cable_ && module_; }
    bool admin_up() const { return admin_up_; }
    bool module_plugged() const { return module_; }
    // Each tells the guest (PORT_CHANGE event) when, and only when, up() changes. The cable ends in a module
    // in our cage; pulling the module is an event of its own, pulling the far end is not.
    void set_admin(bool up);
    void set_cable(bool plugged);
    void set_module(bool plugged);

    Link link; // speed and error correction
    Pause pause;

    u32 oper_mtu() const { return mtu_; } // hardware MTU; the longest frame without FCS is 4 bytes shorter
    bool set_mtu(u32 mtu);                // false when out of range
    static constexpr u32 kMaxMtu = 10000, kMinMtu = 68 + kHardwareMtuExtra,
                         kDefaultMtu = 1500 + kHardwareMtuExtra;

    // The port drops frames whose FCS is wrong, unless it is told not to look. The wire of the host makes no
    // errors; so many of the next frames count as damaged on their way.
    bool checks_fcs = true;
    u32 damaged_frames = 0;
    bool take_damage() {
        if (damaged_frames == 0) return false;
        --damaged_frames;
        return true;
    }

    // One good frame without FCS left or entered through the wire.
    void count_tx(std::span<const u8> frame) { count(tx_, frame); }
    void count_rx(std::span<const u8> frame) { count(rx_, frame); }
    // A frame from the wire was lost at the port.
    void count_rx_error(RxError error) { ++rx_errors_[static_cast<usize>(error)]; }

    static constexpr unsigned kSizeBins = 10, kPriorities = 8;
    struct Direction {
        u64 frames = 0, octets = 0; // octets with FCS
        u64 multicast = 0, broadcast = 0;
        u64 by_size[kSizeBins] =
            {}; // RFC 2819: 64, 65-127, 128-255, 256-511, 512-1023, 1024-1518, ... 8192-10239
        u64 prio_frames[kPriorities] = {},
            prio_octets[kPriorities] = {}; // by VLAN priority; untagged counts as 0
        u64 unicast() const { return frames - multicast - broadcast; }
    };
    const Direction &tx() const { return tx_; }
    const Direction &rx() const { return rx_; }
    u64 rx_errors(RxError error) const { return rx_errors_[static_cast<usize>(error)]; }
    u64 link_downs() const { return link_downs_; }
    u64 tx_discards() const; // given to the port while it was down
    u64 tx_errors() const;   // longer than the MTU

    // What PPCNT with the clear bit took as the new zero: one base for each of its counters
    // (port_counters.cc) and priorities.
    static constexpr usize kMostPpcntRows = 64;
    u64 ppcnt_base[kMostPpcntRows][kPriorities] = {};

  private:
    static void count(Direction &direction, std::span<const u8> frame);
    void announce(bool was_up);
    void tell_module() const;

    Device &device_;
    bool admin_up_ = false, cable_ = true, module_ = true;
    u32 mtu_ = kDefaultMtu;
    Direction tx_, rx_;
    u64 rx_errors_[3] = {};
    u64 link_downs_ = 0;
    u64 tx_discards_before_ = 0, tx_errors_before_ = 0; // the card's counters at the last reset
};

} // namespace niclab::connectx
