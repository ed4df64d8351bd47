// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/steering.h"

namespace niclab::driver {

namespace {

// Levels and sizes: a destination is always a table of a higher level.
constexpr unsigned kVlanLevel = 0, kAddressLevel = 1, kTrafficLevel = 2;
constexpr unsigned kLogVlanTable = 13, kLogAddressTable = 11, kLogTrafficTable = 3;

// VLAN table: one entry per VLAN id, then "no tag", "a service tag" (802.1ad, which the filter is not for),
// "any".
constexpr u32 kUntaggedEntry = 4096, kServiceTagEntry = 4097, kAnyVlanEntry = 4098;
// Address table: full addresses, then "any multicast", then "any".
constexpr u32 kMulticastEntry = 1024, kAnyAddressEntry = 1025;

constexpr const u8 *kWholeAddress = kBroadcast; // all ones: also the mask of an address
constexpr u8 kMulticastBit[6] = {1, 0, 0, 0, 0, 0};

// Traffic-type table: a row per entry, in the order of enum Traffic.
constexpr u32 kProtocolTcp = 6, kProtocolUdp = 17;
struct TrafficEntry {
    u32 ip_version, ethertype, protocol;
};
constexpr TrafficEntry kTraffic[] = {
    {4, 0x0800, kProtocolTcp},
    {6, 0x86dd, kProtocolTcp},
    {4, 0x0800, kProtocolUdp},
    {6, 0x86dd, kProtocolUdp},
    {4, 0x0800, 0},
    {6, 0x86dd, 0},
    {0, 0, 0},
};
static_assert(sizeof(kTraffic) / sizeof(kTraffic[0]) == kTrafficKinds);
constexpr u32 kFirstIpEntry = 4, kOtherEntry = 6;

Match match_version(bool by_version, u32 ip_version, u32 ethertype) {
    Match match;
    if (by_version)
        match.set(MatchL2L4::ip_version, ip_version);
    else
        match.set(MatchL2L4::ethertype, ethertype);
    return match;
}

} // namespace

Result<void> Steering::create(CommandInterface &commands, const Rss &rss, const Capabilities &card) {
    commands_ = &commands;
    vport_.start(commands, card.vport_lists);
    addresses_ = TRY(Array<Address>::make(kAddresses));
    vlans_wanted_ = TRY(Array<u8>::make(kVlans / 8));
    vlans_installed_ = TRY(Array<u8>::make(kVlans / 8));
    TRY(create_traffic_table(rss, card.match_ip_version));
    TRY(create_address_table());
    return create_vlan_table();
}

// Entries before the tables that hold them, and the first table of a frame's way first.
Steering::~Steering() {
    vlan_.remove_root();
    if (all_vlans_) vlan_.delete_entry(kAnyVlanEntry);
    if (service_tag_) vlan_.delete_entry(kServiceTagEntry);
    if (untagged_) vlan_.delete_entry(kUntaggedEntry);
    clear_bytes(vlans_wanted_.data(), vlans_wanted_.size());
    remove_vlans();
    if (everything_) address_.delete_entry(kAnyAddressEntry);
    if (all_multicast_) address_.delete_entry(kMulticastEntry);
    for (Address &address : addresses_)
        address.wanted = false;
    remove_addresses();
    while (traffic_entries_ > 0)
        traffic_.delete_entry(--traffic_entries_);
}

Result<void> Steering::create_traffic_table(const Rss &rss, bool by_version) {
    constexpr u32 kAllVersionBits = 0xf, kAllEthertypeBits = 0xffff;
    Match version = match_version(by_version, kAllVersionBits, kAllEthertypeBits);
    Match version_and_protocol = version;
    version_and_protocol.set(MatchL2L4::ip_protocol, 0xff);
    TRY(traffic_.create(*commands_, kTrafficLevel, kLogTrafficTable));
    TRY(traffic_.add_group(0, kFirstIpEntry - 1, version_and_protocol));
    TRY(traffic_.add_group(kFirstIpEntry, kOtherEntry - 1, version));
    TRY(traffic_.add_group(kOtherEntry, kOtherEntry, Match{}));
    for (; traffic_entries_ < kTrafficKinds; ++traffic_entries_)
        TRY(set_traffic_entry(rss, by_version, traffic_entries_));
    return {};
}

Result<void> Steering::set_traffic_entry(const Rss &rss, bool by_version, u32 index) {
    const TrafficEntry &row = kTraffic[index];
    Match match = match_version(by_version, row.ip_version, row.ethertype);
    match.set(MatchL2L4::ip_protocol, row.protocol);
    return traffic_.set_entry(index, match, {Destination::tir, rss.tir(static_cast<Traffic>(index))});
}

Result<void> Steering::create_address_table() {
    TRY(address_.create(*commands_, kAddressLevel, kLogAddressTable));
    TRY(address_.add_group(0, kAddresses - 1, Match{}.set_dmac(kWholeAddress)));
    TRY(address_.add_group(kMulticastEntry, kMulticastEntry, Match{}.set_dmac(kMulticastBit)));
    return address_.add_group(kAnyAddressEntry, kAnyAddressEntry, Match{});
}

Result<void> Steering::create_vlan_table() {
    Match tag;
    tag.set(MatchL2L4::cvlan_tag, 1);
    Match service_tag;
    service_tag.set(MatchL2L4::svlan_tag, 1);
    Match tag_and_id = tag;
    tag_and_id.set(MatchL2L4::first_vid, 0xfff);
    TRY(vlan_.create(*commands_, kVlanLevel, kLogVlanTable));
    TRY(vlan_.add_group(0, kVlans - 1, tag_and_id));
    TRY(vlan_.add_group(kUntaggedEntry, kUntaggedEntry, tag)); // value 0 of the tag bit: no tag at all
    TRY(vlan_.add_group(kServiceTagEntry, kServiceTagEntry, service_tag));
    return vlan_.add_group(kAnyVlanEntry, kAnyVlanEntry, Match{});
}

Result<void> Steering::apply(const nic_filter &filter) {
    bool fits = want_addresses(filter);
    want_vlans(filter);
    // More addresses than entries: rather too many frames than too few.
    bool everything = filter.promiscuous || !fits;
    bool any_vlan = !filter.vlan_filter || filter.promiscuous;
    TRY(vport_.apply(filter, everything));
    if (everything) TRY(set_switch(address_, kAnyAddressEntry, everything_, true, Match{}, traffic_));
    if (any_vlan) TRY(set_switch(vlan_, kAnyVlanEntry, all_vlans_, true, Match{}, address_));
    TRY(set_switch(address_, kMulticastEntry, all_multicast_, filter.all_multicast,
                   Match{}.set_dmac(kMulticastBit), traffic_));
    TRY(set_switch(vlan_, kUntaggedEntry, untagged_, !any_vlan, Match{}, address_));
    TRY(set_switch(vlan_, kServiceTagEntry, service_tag_, !any_vlan, Match{}.set(MatchL2L4::svlan_tag, 1),
                   address_));
    TRY(add_addresses());
    TRY(add_vlans());
    TRY(vlan_.make_root());
    TRY(set_switch(address_, kAnyAddressEntry, everything_, everything, Match{}, traffic_));
    TRY(set_switch(vlan_, kAnyVlanEntry, all_vlans_, any_vlan, Match{}, address_));
    remove_addresses();
    remove_vlans();
    return {};
}

Result<void> Steering::set_switch(FlowTable &table, u32 index, bool &installed, bool wanted,
                                  const Match &value, const FlowTable &next) {
    if (installed == wanted) return {};
    if (wanted)
        TRY(table.set_entry(index, value, {Destination::table, next.number()}));
    else
        table.delete_entry(index);
    installed = wanted;
    return {};
}

bool Steering::want_addresses(const nic_filter &filter) {
    for (Address &address : addresses_)
        address.wanted = false;
    bool fits = want_address(filter.mac);
    fits = want_address(kBroadcast) && fits;
    for (unsigned i = 0; i < filter.address_count; ++i)
        fits = want_address(filter.addresses[i]) && fits;
    return fits;
}

// False when there is no entry left. An entry that waits for its removal may be in the way of a new address.
bool Steering::want_address(const u8 *mac) {
    MacAddress wanted;
    copy_bytes(wanted.bytes, mac, sizeof(wanted.bytes));
    Address *free = nullptr;
    for (Address &address : addresses_) {
        bool used = address.installed || address.wanted;
        if (used && address.mac == wanted) {
            address.wanted = true;
            return true;
        }
        if (!used && !free) free = &address;
    }
    if (!free) return false;
    free->mac = wanted;
    free->wanted = true;
    return true;
}

Result<void> Steering::add_addresses() {
    for (u32 i = 0; i < kAddresses; ++i) {
        Address &address = addresses_[i];
        if (!address.wanted || address.installed) continue;
        TRY(address_.set_entry(i, Match{}.set_dmac(address.mac.bytes),
                               {Destination::table, traffic_.number()}));
        address.installed = true;
    }
    return {};
}

void Steering::remove_addresses() {
    for (u32 i = 0; i < addresses_.size(); ++i) {
        Address &address = addresses_[i];
        if (address.wanted || !address.installed) continue;
        address_.delete_entry(i);
        address.installed = false;
    }
}

void Steering::want_vlans(const nic_filter &filter) {
    clear_bytes(vlans_wanted_.data(), vlans_wanted_.size());
    for (unsigned i = 0; i < filter.vlan_count; ++i) {
        u32 vid = filter.vlans[i] & (kVlans - 1);
        vlans_wanted_[vid / 8] |= static_cast<u8>(1u << (vid % 8));
    }
}

Result<void> Steering::add_vlans() {
    for (u32 vid = 0; vid < kVlans; ++vid) {
        if (!vlan_bit(vlans_wanted_, vid) || vlan_bit(vlans_installed_, vid)) continue;
        Match value;
        value.set(MatchL2L4::cvlan_tag, 1).set(MatchL2L4::first_vid, vid);
        TRY(vlan_.set_entry(vid, value, {Destination::table, address_.number()}));
        vlans_installed_[vid / 8] |= static_cast<u8>(1u << (vid % 8));
    }
    return {};
}

void Steering::remove_vlans() {
    for (u32 vid = 0; vid < 8 * vlans_installed_.size(); ++vid) {
        if (vlan_bit(vlans_wanted_, vid) || !vlan_bit(vlans_installed_, vid)) continue;
        vlan_.delete_entry(vid);
        vlans_installed_[vid / 8] &= static_cast<u8>(~(1u << (vid % 8)));
    }
}

} // namespace niclab::driver
