// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames are received, and by which transport interface: VLAN table -> address table -> traffic-type
// table -> TIR.
#pragma once

#include "core/flow.h"
#include "core/hca.h"
#include "core/nic.h"
#include "core/rss.h"
#include "core/vport.h"
#include "core/vport_filter.h"

namespace niclab::driver {

class Steering {
  public:
    Steering() = default;
    ~Steering();
    // The tables, with nothing let in yet.
    Result<void> create(CommandInterface &, const Rss &, const Capabilities &);
    // Let in what the filter says. Entries come before others go, so that frames wanted before and after are
    // never lost. On failure some of both stay; the next call starts from what the card really has.
    Result<void> apply(const nic_filter &);

  private:
    static constexpr u32 kVlans = 4096, kAddresses = 1024;
    struct Address {
        MacAddress mac;
        bool installed = false, wanted = false;
    };
    Result<void> create_traffic_table(const Rss &, bool match_ip_version);
    Result<void> set_traffic_entry(const Rss &, bool match_ip_version, u32 index);
    Result<void> create_address_table();
    Result<void> create_vlan_table();
    Result<void> set_switch(FlowTable &, u32 index, bool &installed, bool wanted, const Match &,
                            const FlowTable &next);
    bool want_address(const u8 *mac);
    bool want_addresses(const nic_filter &);
    Result<void> add_addresses();
    void remove_addresses();
    void want_vlans(const nic_filter &);
    Result<void> add_vlans();
    void remove_vlans();
    bool vlan_bit(const Array<u8> &set, u32 vid) const { return set[vid / 8] >> (vid % 8) & 1; }

    CommandInterface *commands_ = nullptr;
    VportFilter vport_;
    // Entries whose number is fixed.
    bool all_vlans_ = false, untagged_ = false, service_tag_ = false;
    bool all_multicast_ = false, everything_ = false;
    unsigned traffic_entries_ = 0;
    Array<Address> addresses_;
    Array<u8> vlans_installed_, vlans_wanted_; // a bit each
    FlowTable traffic_, address_, vlan_;       // destroyed from the root on
};

} // namespace niclab::driver
