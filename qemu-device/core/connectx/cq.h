// SPDX-License-Identifier: GPL-2.0-or-later
// Completion queues: a ring of 64-byte entries in guest memory, written by send and receive queues.
#pragma once

#include <memory>
#include <span>

#include "connectx/command.h"
#include "connectx/cq_compression.h"
#include "connectx/queue_memory.h"
#include "connectx/timer.h"
#include "spec/queues.h"

namespace niclab::connectx {

constexpr u32 kFirstCq = 1, kLogMaxCqs = 13, kMaxCqs = 1 << kLogMaxCqs;
constexpr unsigned kLogMaxCqBytes = 26;                // what QueueMemory accepts as one ring
constexpr unsigned kLogMaxCqSize = kLogMaxCqBytes - 6; // entries
constexpr u32 kCqIndexMask = 0xffffff;                 // of producer and consumer as the guest sees them

struct Cq {
    // Which entries raise the one event that an arm request asks for.
    enum class Arm : u8 { none, any, solicited };

    Cq(TimerQueue &timers, Timer::Action action) : timer(timers, action) {}

    QueueMemory ring;
    unsigned log_size = 0;
    u64 record = 0; // guest address of {consumer index, arm word}
    u32 eqn = 0;
    u32 users = 0; // send and receive queues that complete here

    u32 producer = 0;      // entries written since creation; 24 bits are visible to the guest
    u32 consumer = 0;      // the guest's consumer index as last seen, 24 bits
    u32 solicited_end = 0; // producer index behind the newest solicited or error entry
    Arm armed = Arm::none;
    u32 armed_index = 0;  // the consumer index of that request
    bool overrun = false; // a full ring was written to: nothing is written any more

    // How long an event may be held back; both zero: not at all.
    bool moderated() const { return most_waiting != 0; }
    u64 period_ns = 0;
    u32 most_waiting = 0;         // entries
    bool period_from_cqe = false; // the period runs from the last entry, not from the last event
    u64 last_event_ns = 0, last_entry_ns = 0;
    Timer timer; // runs while an event is held back

    std::unique_ptr<CqSession> session; // of a CQ that compresses

    u8 context[CqContext::bytes] = {};
};

// Appends one entry whose owner bit is filled in here. An event follows when the queue is armed. False when
// the entry is lost: no such queue, overrun (a CQ error event is raised once), or a fault. The caller's queue
// then goes to its error state.
bool post_cqe(Device &device, u32 cqn, std::span<u8, kCqeBytes> cqe);

// For what has found the CQ and knows that the ring has room. Both fill in the owner and stop the CQ when the
// ring cannot be written.
bool cq_append(Device &device, Cq &cq, u32 cqn, u8 *cqe);
bool cq_append_block(Device &device, Cq &cq, u32 cqn, u8 *title, std::span<const u8> minis);

} // namespace niclab::connectx
