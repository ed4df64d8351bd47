// SPDX-License-Identifier: GPL-2.0-or-later
// Completion queues (manual: completion queues). One reader at a time.
#pragma once

#include "core/dma_block.h"
#include "core/resources.h"
#include "spec/init_segment.h"
#include "spec/queues.h"

namespace niclab::driver {

// A doorbell record: eight bytes that the driver writes and the card reads.
struct Record {
    u8 *cpu = nullptr;
    u64 bus = 0;
};

class Cq {
  public:
    struct Settings {
        unsigned log_entries;
        u32 eqn;
        Record record;
        const u32 *arm_number; // counts the queue's completion events; the card drops arm requests older than
                               // an event
    };
    Cq() = default;
    static Result<Cq> make(const Resources &, const Settings &);

    // The next completion, or nothing. It stays in memory that the card can write: read it through DmaView.
    const u8 *peek() const {
        const u8 *entry = ring_.cpu() + (consumer_ & mask_) * kCqeBytes;
        u8 op_own = load_shared_u8(entry + Cqe::op_own_byte);
        if ((op_own & 1) != (consumer_ >> log_entries_ & 1)) return nullptr;
        if (op_own >> 4 == static_cast<u8>(CqeOpcode::invalid)) return nullptr;
        plat_acquire(); // owner bit before the rest; pairs with the card writing the owner byte last
        return entry;
    }
    void pop() { ++consumer_; }
    // Tell the card how far the queue was read.
    void publish() {
        store_shared_be32(record_.cpu + CqRecord::consumer.dword, consumer_ & CqRecord::consumer.mask());
    }
    // Ask for an event at the next completion after the published ones.
    void arm();
    u32 number() const { return object_.number(); }

  private:
    plat *platform_ = nullptr;
    u32 consumer_ = 0, mask_ = 0;
    unsigned log_entries_ = 0;
    u32 doorbell_ = 0;
    const u32 *arm_number_ = nullptr;
    Record record_;
    DmaBlock ring_;
    Object object_; // last: destroyed before its ring
};

} // namespace niclab::driver
