// SPDX-License-Identifier: GPL-2.0-or-later
// Host pages lent to the card. The model needs none of their memory, but asks and gives back as a real card
// does.
#pragma once

#include <set>
#include <span>

#include "spec/types.h"

namespace niclab::connectx {

class Pages {
  public:
    static constexpr u32 kBoot = 16, kInit = 64, kMost = 1u << 18;

    u32 live() const { return static_cast<u32>(pages_.size()); }
    bool owns(u64 address) const { return pages_.contains(address); }
    // All or nothing: false when an address is not page-aligned, given twice, or there are too many.
    bool give(std::span<const u8> addresses);
    // Takes up to `out.size() / 8` pages back into `out`; the number taken. Never leaves fewer than `keep`.
    u32 take(std::span<u8> out, u32 keep);
    void forget() { pages_.clear(); }

  private:
    std::set<u64> pages_;
};

} // namespace niclab::connectx
