// SPDX-License-Identifier: GPL-2.0-or-later
// Event queues (manual: event queues). One reader at a time.
#pragma once

#include "core/dma_block.h"
#include "core/object.h"
#include "spec/queues.h"

namespace niclab::driver {

class Eq {
  public:
    struct Settings {
        unsigned log_entries;
        u64 events; // bit n: event type n
        u32 vector; // MSI-X
        u32 uar_page;
    };
    Eq() = default;
    static Result<Eq> make(CommandInterface &, const Settings &);

    // The next event, or nothing.
    const u8 *peek() const;
    void pop() { ++consumer_; }
    // Tell the card what was read and ask for an interrupt at the next event; one already there counts as
    // next.
    void arm();
    unsigned entries() const { return mask_ + 1; }
    u32 number() const { return object_.number(); }

  private:
    plat *platform_ = nullptr;
    u32 doorbell_ = 0, consumer_ = 0, mask_ = 0;
    unsigned log_entries_ = 0;
    DmaBlock ring_;
    Object object_; // last: destroyed before its ring
};

} // namespace niclab::driver
