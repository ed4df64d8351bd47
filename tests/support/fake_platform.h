// SPDX-License-Identifier: GPL-2.0-or-later
// The platform seam in a test: memory with an exact account of everything handed out, an IOMMU that knows
// every mapping, a clock that only waiting moves, and a way to make any single step fail.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/platform.h"
#include "spec/types.h"

struct plat_page {
    std::vector<niclab::u8> memory;
    int references;
};
struct plat_mutex {
    bool locked = false;
};
struct plat_event {
    unsigned count = 0;
};

namespace niclab::test {

// What the code under test holds, over all its devices. A test that ends with something left, or that broke a
// rule of the seam on the way, has failed.
struct Ledger {
    std::map<void *, usize> blocks;
    std::set<plat_page *> pages;
    std::set<plat_mutex *> mutexes;
    std::set<plat_event *> events;
    std::set<plat *> devices;
    std::vector<std::string> violations;
    std::vector<std::string> log;
    u64 now_ms = 1000;
    u64 allocations = 0; // memory of any kind, since the start

    // Steps that can fail are counted; number `fail_at` fails (1 is the next one, 0 never).
    u64 steps = 0, fail_at = 0;
    bool failed = false; // that step has come
    bool fail_this_step();

    std::string leftovers() const; // empty when nothing is held and no rule was broken
    bool logged(const std::string &part) const;
};
Ledger &ledger(); // of the running test
void reset_ledger();

} // namespace niclab::test

// One device: a card behind an IOMMU. What its registers do, a test decides.
struct plat {
    plat();
    virtual ~plat();
    plat(const plat &) = delete;

    virtual niclab::u32 read32(niclab::u32 offset) = 0;
    virtual void write32(niclab::u32 offset, niclab::u32 value) = 0;
    virtual void ring(niclab::u32 offset, niclab::u64 value) = 0;
    virtual niclab::u32 bar_bytes() const { return 32u << 20; }
    // The world runs while somebody waits: interrupts, deferred work, cards.
    virtual void run() {}
    // Called when the driver waits for running handlers: the last chance of interrupts raised before.
    virtual void late_interrupts() {}

    // The card's way to memory: false when any byte is not mapped for this direction. That is a violation as
    // well, unless the test expects it.
    bool card_read(niclab::u64 bus, void *to, niclab::usize bytes);
    bool card_write(niclab::u64 bus, const void *from, niclab::usize bytes);
    bool tolerate_faults = false; // a hostile card tries what it likes
    bool dma_stopped = false;
    unsigned faults = 0;

    struct Mapping {
        niclab::usize bytes;
        plat_direction direction;
        bool coherent;
        niclab::u8 *cpu;                // what the CPU sees
        std::vector<niclab::u8> bounce; // what the card sees of a streaming mapping, until it is undone
    };
    std::map<niclab::u64, Mapping> mappings;
    unsigned maps = 0, unmaps = 0;
    // Mappings never reuse an address, so that a stale one is always noticed.
    niclab::u64 next_bus = 0x1'0000'0000;
    niclab::u64 take_bus(niclab::usize bytes);
    Mapping *find(niclab::u64 bus, niclab::usize bytes, bool write);
};
