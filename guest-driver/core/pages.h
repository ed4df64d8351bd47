// SPDX-License-Identifier: GPL-2.0-or-later
// Host pages lent to the card's firmware (manual: page management). The card may return only what it was
// given.
#pragma once

#include "core/command_interface.h"
#include "spec/hca.h"

namespace niclab::driver {

class Pages {
  public:
    static Result<Owned<Pages>> make(CommandInterface &);
    ~Pages();

    // Ask how many pages the card wants at this stage and give them.
    Result<void> give_wanted(QueryPages stage);
    // A page request of the card: `count` > 0 wants pages, < 0 returns some.
    void serve(u16 function_id, s32 count);
    // Take every page back; before DISABLE_HCA. Pages that the card keeps are freed all the same with ~Pages.
    void take_all();
    u32 lent() const { return lent_; }

  private:
    friend class Owned<Pages>;
    Pages() = default;

    struct Page {
        DmaBlock memory;
        Owned<Page> next;
    };
    static constexpr usize kBuckets = 512;
    static constexpr u32 kMostLent = 1u << 18; // 1 GiB: more is not a request but an attack
    static constexpr u32 kTakeAtOnce = 256;
    static usize bucket(u64 bus) { return (bus / kHostPageBytes) % kBuckets; }

    Result<void> give(u16 function_id, u32 count);
    Result<void> lend_one(u8 *address);
    Result<u32> take(u16 function_id, u32 count);
    bool forget(u64 bus);
    void refuse(u16 function_id);

    CommandInterface *commands_ = nullptr;
    Mutex mutex_;
    Array<Owned<Page>> buckets_;
    Array<u8> taken_; // reply of one MANAGE_PAGES take
    u32 lent_ = 0;
};

} // namespace niclab::driver
