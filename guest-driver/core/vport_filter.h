// SPDX-License-Identifier: GPL-2.0-or-later
// What the port's virtual port takes from the e-switch, before the flow tables see a frame: lists of
// addresses and promiscuous bits (manual: NIC vport context). Behind an e-switch a frame for an address in no
// list goes to somebody else.
#pragma once

#include "core/command_interface.h"
#include "core/nic.h"

namespace niclab::driver {

class VportFilter {
  public:
    struct Limits {
        u32 unicast = 0, multicast = 0; // entries that a list may have
    };

    VportFilter() = default;
    VportFilter(const VportFilter &) = delete;
    VportFilter &operator=(const VportFilter &) = delete;
    ~VportFilter(); // empty lists, nothing promiscuous

    void start(CommandInterface &commands, const Limits &limits) {
        commands_ = &commands;
        limits_ = limits;
    }
    // Takes what `filter` says, or all when `everything`. A list beyond its limit becomes a promiscuous bit.
    // Frames wanted before and after are never lost on the way.
    Result<void> apply(const nic_filter &filter, bool everything);

  private:
    struct Promiscuous {
        bool unicast = false, multicast = false, all = false;
    };
    enum class List : u8 { unicast = 0, multicast = 1 };

    Result<void> set(const Promiscuous &);
    Result<void> send_list(List, const nic_filter &, u32 entries);

    CommandInterface *commands_ = nullptr;
    Limits limits_;
    Promiscuous now_; // as the card has it
};

} // namespace niclab::driver
