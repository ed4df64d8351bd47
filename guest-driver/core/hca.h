// SPDX-License-Identifier: GPL-2.0-or-later
// The card as a whole: brought from power-on to running, and back when this object goes (manual: command
// sequence).
#pragma once

#include "core/command_interface.h"
#include "core/pages.h"
#include "core/vport.h"
#include "core/vport_filter.h"

namespace niclab::driver {

// What the card can do, as far as the driver uses it.
struct Capabilities {
    u32 event_queues = 0; // that the card has
    u32 max_lso_bytes = 0;
    u32 rss_table_entries = 0;
    u32 max_queue_entries = 0; // receive WQEs or 64-byte send blocks
    u32 max_mtu = 0;           // hardware MTU
    bool match_ip_version = false;
    VportFilter::Limits vport_lists;
};

class Hca {
  public:
    // Up to and with INIT_HCA, then the capabilities are known.
    static Result<Owned<Hca>> make(plat *);
    ~Hca();

    CommandInterface &commands() { return *commands_; }
    const CommandInterface &commands() const { return *commands_; }
    Pages &pages() { return *pages_; }
    const Capabilities &capabilities() const { return capabilities_; }
    const MacAddress &mac() const { return mac_; }
    const char *board_id() const { return board_id_; }

    // Look at the health buffer. False once the card is known dead.
    bool check_health();

  private:
    friend class Owned<Hca>;
    Hca() = default;

    Result<void> enable();
    Result<void> choose_issi();
    Result<void> set_host_endianness();
    Result<void> set_general_capabilities();
    Result<void> initialize();
    Result<void> read_general_capabilities();
    Result<void> read_ethernet_capabilities();
    Result<void> read_steering_capabilities();
    Result<void> read_identity();
    Result<void> require(bool has, const char *what);

    Owned<CommandInterface> commands_;
    Owned<Pages> pages_;
    bool enabled_ = false, initialized_ = false;
    Capabilities capabilities_;
    MacAddress mac_;
    char board_id_[17] = {};
    u32 last_health_count_ = 0;
    unsigned same_health_count_ = 0;
};

} // namespace niclab::driver
