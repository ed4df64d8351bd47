// SPDX-License-Identifier: GPL-2.0-or-later
// Host pages lent to the card. The model needs none of their memory, but asks and gives back as a real card
// does.
#pragma once

#include <set>
#include <span>

#include "spec/types.h"

namespace niclab::connectx {

class Device;

class Pages {
  public:
    static constexpr u32 kBoot = 16, kInit = 64, kMost = 1u << 18;

    u32 live() const { return static_cast<u32>(pages_.size()); }
    bool owns(u64 address) const { return pages_.contains(address); }
    // All or nothing: false when an address is not page-aligned, given twice, or there are too many.
    bool give(std::span<const u8> addresses);
    // Takes up to `out.size() / 8` pages back into `out`; the number taken. Never leaves fewer than `keep`.
    u32 take(std::span<u8> out, u32 keep);
    void forget();

    // The first pages hold so many objects; more objects need more pages, by the step. The card asks for them
    // and gives them back by event while it runs, one request at a time. With some slack on the way down, so
    // that one object that comes and goes moves no pages.
    static constexpr u32 kObjectsHeld = 256, kObjectsPerPage = 8, kStep = 8, kSlack = 32;
    static u32 wanted(u32 objects);
    void balance(Device &device, u32 objects);
    // MANAGE_PAGES came: so many given, or taken back (negative), or none because there are none. Pages that
    // nobody asked for are kept, but not counted on.
    void answered(s64 pages);

  private:
    void ask(Device &device, s32 pages);

    s32 asked_ = 0;   // the request that software has not answered yet
    u32 extra_ = 0;   // held because of requests
    u32 refused_ = 0; // what could not be given is not asked for again
    std::set<u64> pages_;
};

} // namespace niclab::connectx
