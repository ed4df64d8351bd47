// SPDX-License-Identifier: GPL-2.0-or-later
// A key's translation list: where each part of the key's address range lies.
//
//   MTT  equal pages at DMA addresses; two entries in an octword
//   KSM  equal pages behind other keys; one entry in an octword
//   KLM  pieces of any length behind other keys, one after the other; one entry in an octword
#pragma once

#include <span>
#include <vector>

#include "spec/objects.h"

namespace niclab::connectx {

class Translation {
  public:
    static constexpr u32 kLogMaxOctwords = 16, kMaxOctwords = 1 << kLogMaxOctwords;

    Translation() = default;
    // Entries that are never written lie at address 0 of key 0, which no key has.
    Translation(AccessMode mode, u32 octwords);

    u32 octwords() const { return octwords_; }
    // Replaces entries from octword `at` on; whole octwords that lie inside the list.
    void write(u64 at, std::span<const u8> list);

    // The longest piece that starts at `offset`. `bytes` is 0 behind the list's end; `key` is 0 for a DMA
    // address.
    struct Piece {
        u64 address = 0, bytes = 0;
        u32 key = 0;
    };
    Piece at(u64 offset, unsigned log_page) const;

  private:
    struct Reference {
        u64 address = 0;
        u32 key = 0, bytes = 0;
    };
    Piece of_references(u64 offset, unsigned log_page) const;
    void add_up(usize from);

    AccessMode mode_ = AccessMode::physical;
    u32 octwords_ = 0;
    std::vector<u64> pages_;            // MTT
    std::vector<Reference> references_; // KLM, KSM
    std::vector<u64> ends_;             // KLM: sum of the lengths up to and with each piece
};

} // namespace niclab::connectx
