// SPDX-License-Identifier: GPL-2.0-or-later
// Event queues: rings of 64-byte EQEs in guest memory, each tied to one MSI-X vector.
#pragma once

#include <span>

#include "connectx/queue_memory.h"
#include "spec/queues.h"

namespace niclab::connectx {

class Device;

struct Eq {
    enum class Health : u8 { good = 0, overflow = 0x9, write_failure = 0xa }; // EQ context "status"

    QueueMemory ring;
    unsigned log_size = 0;
    unsigned vector = 0; // MSI-X table index
    u32 uar_page = 0;
    u64 events = 0; // bit n: event type n is reported here
    bool ignore_overrun = false;
    Health health = Health::good;
    EqState state = EqState::fired;
    u32 producer = 0, consumer = 0;    // 24-bit running counts
    u32 users = 0;                     // CQs that report here
    u8 context[EqContext::bytes] = {}; // as created, for QUERY_EQ
};

// One event to every EQ that asked for its type. `data` (28 bytes at most) lands at 0x20 of the EQE.
void post_async(Device &device, Event event, u8 sub_type, std::span<const u8> data);
// CQ `cqn` has something to report; an unknown EQ number is ignored.
void post_completion(Device &device, u32 eqn, u32 cqn);
// Write to UAR + 0x40 (arm) or + 0x48 through doorbell page `uar_page`.
void eq_doorbell(Device &device, u32 uar_page, u32 value, bool arm);
// True when an EQ reports `event`.
bool has_listener(const Device &device, Event event);

} // namespace niclab::connectx
