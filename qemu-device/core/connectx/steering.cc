// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/steering.h"

#include <algorithm>

#include "connectx/packet.h"

namespace niclab::connectx {
namespace {

constexpr u32 kWalkBudget = 256; // table visits for one frame; only replicating tables come near it
constexpr usize kFirstBuckets = 16;

constexpr u32 field(Field<MatchL2L4> f, u32 value) { return (value & f.mask()) << f.lo; }
constexpr usize word_of(Field<MatchL2L4> f) { return f.dword / 4; }

void key_layer2(u32 *key, const u8 *frame, const Packet &packet) {
    if (packet.bytes < kEthernetHeaderBytes) return;
    key[2] = load_be32(frame);
    key[3] = u32{load_be16(frame + 4)} << 16;
    key[0] = load_be32(frame + 6);
    key[1] = u32{load_be16(frame + 10)} << 16 | packet.ethertype;
    if (packet.outer_tpid == 0) return;
    key[3] |= packet.outer_tci; // priority, CFI and VLAN id lie as in the tag
    bool cvlan = packet.outer_tpid == kEthertypeCvlan;
    key[4] |= field(cvlan ? MatchL2L4::cvlan_tag : MatchL2L4::svlan_tag, 1);
}

void key_layer3(u32 *key, const u8 *frame, const Packet &packet) {
    if (packet.l3 == L3::none) return;
    key[4] |= field(MatchL2L4::ip_protocol, packet.protocol) | field(MatchL2L4::frag, packet.fragment) |
              field(MatchL2L4::ip_version, packet.l3 == L3::ipv4 ? 4 : 6) | u32{packet.traffic_class} << 16;
    key[6] = packet.ttl;
    const u8 *ip = frame + packet.l3_at;
    if (packet.l3 == L3::ipv4) {
        key[11] = load_be32(ip + 12);
        key[15] = load_be32(ip + 16);
    } else {
        for (usize i = 0; i < 8; ++i)
            key[8 + i] = load_be32(ip + 8 + 4 * i);
    }
}

void key_layer4(u32 *key, const u8 *frame, const Packet &packet) {
    if (packet.l4 == L4::none) return;
    u32 ports = load_be32(frame + packet.l4_at);
    if (packet.l4 == L4::udp) {
        key[7] = ports;
    } else {
        key[5] = ports;
        key[4] |= field(MatchL2L4::tcp_flags, packet.tcp_flags);
    }
}

static_assert(word_of(MatchL2L4::ethertype) == 1 && MatchL2L4::dmac == 8 &&
              word_of(MatchL2L4::first_vid) == 3);
static_assert(word_of(MatchL2L4::ip_protocol) == 4 && word_of(MatchL2L4::tcp_flags) == 4);
static_assert(word_of(MatchL2L4::tcp_sport) == 5 && word_of(MatchL2L4::ttl_hoplimit) == 6);
static_assert(word_of(MatchL2L4::udp_sport) == 7 && MatchL2L4::src_ip == 32 && MatchL2L4::dst_ip == 48);
static_assert(MatchL2L4::ip_dscp.lo == 18 && MatchL2L4::ip_ecn.lo == 16); // together the traffic class

} // namespace

MatchKey match_key(std::span<const u8> frame, const Packet &packet, const Packet *inner) {
    MatchKey key{};
    key_layer2(key.data(), frame.data(), packet);
    key_layer3(key.data(), frame.data(), packet);
    key_layer4(key.data(), frame.data(), packet);
    if (!inner) return key;
    u32 *inside = key.data() + kLayerWords;
    inside[word_of(MatchL2L4::ethertype)] = inner->ethertype;
    key_layer3(inside, frame.data(), *inner);
    key_layer4(inside, frame.data(), *inner);
    return key;
}

// ---- Groups
// -------------------------------------------------------------------------------------------------------------
// A rule for "no C-VLAN tag" means "untagged": it must not take S-VLAN tagged frames. The outer tag is of one
// kind only, so looking at both bits whenever a rule asks about the C-VLAN tag gives that, and changes
// nothing for rules that want a C-VLAN tag.
FlowGroup::FlowGroup(u32 table_id, u32 first_index, u32 last_index, const MatchKey &criteria)
    : table(table_id), first(first_index), last(last_index), mask(criteria), buckets_(kFirstBuckets) {
    MatchKey effective = criteria;
    u32 &tags = effective[word_of(MatchL2L4::cvlan_tag)];
    if (tags & field(MatchL2L4::cvlan_tag, 1)) tags |= field(MatchL2L4::svlan_tag, 1);
    for (u32 i = 0; i < kMatchWords; ++i)
        if (effective[i]) words_.push_back({i, effective[i]});
}

std::vector<u32> FlowGroup::compress(const MatchKey &value) const {
    std::vector<u32> words;
    for (const Word &word : words_)
        words.push_back(value[word.at] & mask[word.at]);
    return words;
}

u32 FlowGroup::hash(const u32 *value) const {
    u32 h = 0x9e3779b9;
    for (usize i = 0; i < words_.size(); ++i)
        h = (h ^ value[i]) * 0x85ebca6b ^ h >> 15;
    return h ^ h >> 16;
}

const FlowEntry *FlowGroup::find(const MatchKey &key) const {
    u32 value[kMatchWords] = {};
    for (usize i = 0; i < words_.size(); ++i)
        value[i] = key[words_[i].at] & words_[i].mask;
    u32 h = hash(value);
    for (const FlowEntry *entry = buckets_[h & (buckets_.size() - 1)]; entry; entry = entry->next)
        if (entry->hash == h && std::equal(entry->value.begin(), entry->value.end(), value)) return entry;
    return nullptr;
}

void FlowGroup::insert(FlowEntry &entry) {
    if (entries_ >= buckets_.size()) grow();
    entry.hash = hash(entry.value.data());
    FlowEntry **link = &buckets_[entry.hash & (buckets_.size() - 1)];
    while (*link && (*link)->index < entry.index)
        link = &(*link)->next;
    entry.next = *link;
    *link = &entry;
    ++entries_;
}

void FlowGroup::remove(FlowEntry &entry) {
    FlowEntry **link = &buckets_[entry.hash & (buckets_.size() - 1)];
    while (*link && *link != &entry)
        link = &(*link)->next;
    if (!*link) return;
    *link = entry.next;
    --entries_;
}

void FlowGroup::grow() {
    std::vector<FlowEntry *> old(buckets_.size() * 4);
    old.swap(buckets_);
    entries_ = 0;
    for (FlowEntry *entry : old)
        while (entry) {
            FlowEntry *next = entry->next;
            insert(*entry);
            entry = next;
        }
}

// ---- The walk
// -----------------------------------------------------------------------------------------------------------
void Steering::reset() {
    tables.clear();
    groups.clear();
    counters.clear();
    entries = root = 0;
}

void Steering::classify(const MatchKey &key, Verdict &verdict) const {
    verdict.rooted = root != 0;
    verdict.count = 0;
    u32 budget = kWalkBudget;
    if (verdict.rooted) walk(root, key, verdict, budget);
}

// Destinations and miss links lead to higher levels, so the recursion is at most kTableLevels deep.
void Steering::walk(u32 number, const MatchKey &key, Verdict &verdict, u32 &budget) const {
    while (budget-- > 0) {
        const FlowTable *table = tables.find(number);
        if (!table) return;
        const FlowEntry *entry = nullptr;
        for (const FlowGroup *group : table->groups)
            if ((entry = group->find(key))) break;
        if (!entry) {
            if (table->miss != MissAction::table) return;
            number = table->miss_table;
            continue;
        }
        if (FlowCounter *counter = entry->counter) {
            counter->packets += 1;
            counter->octets += verdict.frame_bytes;
        }
        for (const FlowTarget &target : entry->targets) {
            if (target.type == Destination::table)
                walk(target.id, key, verdict, budget);
            else if (verdict.count < Verdict::kMaxTirs)
                verdict.to[verdict.count++] = {target.id, entry->flow_tag};
        }
        return;
    }
    budget = 0;
}

} // namespace niclab::connectx
