// SPDX-License-Identifier: GPL-2.0-or-later
// Completion queues: a ring of 64-byte entries in guest memory, written by send and receive queues.
#pragma once

#include <span>

#include "connectx/command.h"
#include "connectx/queue_memory.h"
#include "spec/queues.h"

namespace niclab::connectx {

constexpr u32 kFirstCq = 1, kLogMaxCqs = 13, kMaxCqs = 1 << kLogMaxCqs;
constexpr unsigned kLogMaxCqBytes = 26;                // what QueueMemory accepts as one ring
constexpr unsigned kLogMaxCqSize = kLogMaxCqBytes - 6; // entries

struct Cq {
    // Which entries raise the one event that an arm request asks for.
    enum class Arm : u8 { none, any, solicited };

    QueueMemory ring;
    unsigned log_size = 0;
    u64 record = 0; // guest address of {consumer index, arm word}
    u32 eqn = 0;
    u32 users = 0; // send and receive queues that complete here

    u32 producer = 0;      // entries written since creation; 24 bits are visible to the guest
    u32 consumer = 0;      // the guest's consumer index as last seen, 24 bits
    u32 solicited_end = 0; // producer index behind the newest solicited or error entry
    Arm armed = Arm::none;
    bool overrun = false; // a full ring was written to: nothing is written any more
    u8 context[CqContext::bytes] = {};
};

// Appends one entry whose owner bit is filled in here. An event follows when the queue is armed. False when
// the entry is lost: no such queue, overrun (a CQ error event is raised once), or a fault. The caller's queue
// then goes to its error state.
bool post_cqe(Device &device, u32 cqn, std::span<u8, kCqeBytes> cqe);

// The arm doorbell: word 0 is {sn[29:28], solicited only [24], consumer index [23:0]}.
void cq_arm(Device &device, u32 word0, u32 cqn);

} // namespace niclab::connectx
