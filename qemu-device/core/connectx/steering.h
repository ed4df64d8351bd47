// SPDX-License-Identifier: GPL-2.0-or-later
// Flow tables: from a frame's match key to transport interfaces.
//
// A table holds groups, a group holds entries that share one mask. Groups own disjoint index ranges and are
// visited by rising index, so the first match is the entry with the lowest flow index. Inside a group the
// masked key is looked up in a hash table. Destinations and miss links lead to higher levels only; with a
// table's level below kTableLevels no packet can circle.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "connectx/command.h"
#include "connectx/object_table.h"
#include "spec/steering.h"

namespace niclab::connectx {

struct Packet;

constexpr u32 kFirstTable = 1, kLogMaxTables = 8, kMaxTables = 1 << kLogMaxTables;
constexpr u32 kFirstGroup = 1, kMaxGroups = 1 << 16;
constexpr u32 kLogMaxEntries = 20, kMaxEntries = 1 << kLogMaxEntries;
constexpr u32 kTableLevels = 128; // with chained tables the later kernel reaches beyond 64
constexpr unsigned kLogMaxTableSize = 22;
constexpr u32 kLogMaxDestinations = 4, kMaxDestinations = 1 << kLogMaxDestinations; // of one entry

// Layers 2 to 4 of a frame, word by word as MatchL2L4, then layers 3 and 4 of the packet that it carries.
constexpr usize kLayerWords = MatchL2L4::bytes / 4, kMatchWords = 2 * kLayerWords;
using MatchKey = std::array<u32, kMatchWords>;
MatchKey match_key(std::span<const u8> frame, const Packet &packet, const Packet *inner);

constexpr u32 kFirstFlowCounter = 1, kLogMaxFlowCounters = 15, kMaxFlowCounters = 1 << kLogMaxFlowCounters;
constexpr u32 kLogMaxFlowCounterBulk = 10; // read by one command

// What matched the entries that name the counter; octets without FCS.
struct FlowCounter {
    u64 packets = 0, octets = 0;
    u32 users = 0; // entries
};
struct FlowTarget {
    Destination type;
    u32 id;
};
struct FlowEntry {
    u32 index = 0, group = 0, hash = 0;
    u32 action = 0, flow_tag = 0;
    std::vector<u32> value; // the group's used words
    std::vector<FlowTarget> targets;
    FlowCounter *counter = nullptr; // cannot go while the entry uses it
    FlowEntry *next = nullptr;      // in the group's bucket, by rising index
};

class FlowGroup {
  public:
    FlowGroup(u32 table, u32 first, u32 last, const MatchKey &mask);

    const FlowEntry *find(const MatchKey &key) const;
    void insert(FlowEntry &entry);
    void remove(FlowEntry &entry);
    // The words of a match value that the group looks at, cut by the mask.
    std::vector<u32> compress(const MatchKey &value) const;

    const u32 table, first, last;
    const MatchKey mask; // as the guest gave it

    u32 entries() const { return entries_; }

  private:
    struct Word {
        u32 at, mask;
    };
    u32 hash(const u32 *value) const;
    void grow();

    std::vector<Word> words_;
    std::vector<FlowEntry *> buckets_;
    u32 entries_ = 0;
};

struct FlowTable {
    u8 level = 0, log_size = 0;
    MissAction miss = MissAction::drop;
    u32 miss_table = 0;
    u32 users = 0;                                               // entries and miss links that lead here
    std::vector<FlowGroup *> groups;                             // by rising index
    std::unordered_map<u32, std::unique_ptr<FlowEntry>> entries; // by flow index
};

// Where a frame goes: every TIR that the walk through the tables reached.
struct Verdict {
    static constexpr u32 kMaxTirs = 64;
    struct To {
        u32 tirn, flow_tag;
    };
    usize frame_bytes = 0; // given: what flow counters count
    bool rooted = false;
    u32 count = 0;
    To to[kMaxTirs];
};

class Steering {
  public:
    void reset();
    void classify(const MatchKey &key, Verdict &verdict) const;

    ObjectTable<FlowTable> tables{kFirstTable, kMaxTables};
    ObjectTable<FlowGroup> groups{kFirstGroup, kMaxGroups};
    ObjectTable<FlowCounter> counters{kFirstFlowCounter, kMaxFlowCounters};
    u32 entries = 0;
    u32 root = 0; // 0: none

  private:
    void walk(u32 table, const MatchKey &key, Verdict &verdict, u32 &budget) const;
};

} // namespace niclab::connectx
