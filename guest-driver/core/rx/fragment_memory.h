// SPDX-License-Identifier: GPL-2.0-or-later
// Receive memory, the plain way (rx_map=fragment): each fragment is mapped when posted and unmapped when its
// packet is taken.
//
// This is one implementation of what RxRing asks of its memory:
//   shape(i), fragments()   what each scatter entry of a descriptor holds
//   take(set, sleep)        a whole set of fragments for one descriptor, or none of them
//   deliver(set, used)      the packet is complete: its first `used` fragments go to the caller with one page
//   reference each discard(set)            nobody wants them
// Sets are given back in the order they were taken.
#pragma once

#include "core/memory.h"

namespace niclab::driver {

constexpr unsigned kMaxRxFragments = 5;

// One piece of a page, posted to the card.
struct RxFragment {
    plat_page *page = nullptr;
    u64 bus = 0;
    u32 offset = 0;
};

enum class MaySleep : u8 { no, yes };

class FragmentMemory {
  public:
    struct Counts {
        u64 maps = 0, unmaps = 0;
    };
    FragmentMemory() = default;
    FragmentMemory(const FragmentMemory &) = delete;
    FragmentMemory &operator=(const FragmentMemory &) = delete;
    ~FragmentMemory();

    // Plan descriptors for frames of up to `frame_bytes`.
    Result<void> configure(plat *, usize frame_bytes, Counts *);
    unsigned fragments() const { return count_; }
    u32 fragment_bytes(unsigned i) const { return shape_[i].bytes; }
    usize capacity() const { return capacity_; }

    Result<void> take(RxFragment *set, MaySleep);
    void deliver(const RxFragment *set, unsigned used);
    void discard(const RxFragment *set);

  private:
    // Pieces of 2 KiB share a page. Each scatter entry cuts its own.
    struct Shape {
        u32 bytes = 0;
        plat_page *page = nullptr; // being cut, with one reference that its last piece takes along
        u32 offset = 0;
    };
    Result<void> take_one(Shape &, RxFragment &, MaySleep);

    plat *platform_ = nullptr;
    Counts *counts_ = nullptr;
    unsigned count_ = 0;
    usize capacity_ = 0;
    Shape shape_[kMaxRxFragments];
};

} // namespace niclab::driver
