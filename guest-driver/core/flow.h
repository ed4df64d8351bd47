// SPDX-License-Identifier: GPL-2.0-or-later
// Flow tables, groups and entries as owned objects (manual: steering commands).
#pragma once

#include "core/command_interface.h"
#include "spec/steering.h"

namespace niclab::driver {

// The outer L2 to L4 part of a match: what entries compare, or the mask of a group.
struct Match {
    u8 raw[MatchL2L4::bytes] = {};
    Match &set(Field<MatchL2L4> f, u32 value) {
        View<MatchL2L4>(raw).set(f, value);
        return *this;
    }
    Match &set_dmac(const u8 *mac) {
        copy_bytes(raw + MatchL2L4::dmac, mac, 6);
        return *this;
    }
    bool empty() const {
        for (u8 byte : raw)
            if (byte) return false;
        return true;
    }
};

struct FlowDestinationTo {
    Destination type;
    u32 number;
};

// A receive flow table with its groups; both go with this object, entries must be gone before.
class FlowTable {
  public:
    static constexpr unsigned kMostGroups = 4;

    FlowTable() = default;
    FlowTable(const FlowTable &) = delete;
    FlowTable &operator=(const FlowTable &) = delete;
    ~FlowTable();

    Result<void> create(CommandInterface &, unsigned level, unsigned log_size);
    // Entries `first` to `last` match on what `mask` selects. In rising order.
    Result<void> add_group(u32 first, u32 last, const Match &mask);
    Result<void> set_entry(u32 index, const Match &value, FlowDestinationTo);
    void delete_entry(u32 index);
    // Received frames start here, or nowhere.
    Result<void> make_root();
    void remove_root();
    u32 number() const { return number_; }

  private:
    struct Group {
        u32 first, last, number;
    };
    void destroy_group(u32 number);
    const Group *group_of(u32 index) const;

    CommandInterface *commands_ = nullptr;
    u32 number_ = 0;
    unsigned group_count_ = 0;
    Group groups_[kMostGroups];
    bool root_ = false;
};

} // namespace niclab::driver
