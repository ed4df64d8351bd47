// SPDX-License-Identifier: GPL-2.0-or-later
// Receive queues: rings of scatter lists that the driver posts and received frames consume, one list per
// frame.
//
// States and who moves them (manual: MODIFY_RQ):
//   reset -> ready   driver; the card starts at WQE 0
//   ready -> reset   driver
//   ready -> error   driver, or the card when a posted list cannot be used
//   error -> reset   driver
//   every state stays itself when the driver says so; reset -> error and error -> ready are refused.
#pragma once

#include <span>

#include "connectx/command.h"
#include "connectx/queue_memory.h"
#include "spec/queues.h"
#include "spec/wqe.h"

namespace niclab::connectx {

constexpr u32 kFirstRq = 1, kLogMaxRqs = 12, kMaxRqs = 1 << kLogMaxRqs;
constexpr unsigned kLogMaxRqStride = 9; // bytes of the longest scatter list
constexpr unsigned kLogMaxRqSize = 15;  // the doorbell record counts in 16 bits

struct Rq {
    QueueState state = QueueState::reset;
    QueueMemory ring;
    unsigned log_size = 0, log_stride = 0;
    u64 record = 0; // guest address of {receive counter, send counter}
    u32 cqn = 0, pd = 0, user_index = 0;
    u8 counter_set = 0; // 0: none
    bool vlan_strip = true;
    bool flush_in_error = false;
    u32 users = 0; // TIRs and indirection table entries that name it

    u16 consumer = 0; // next list to use, running
    u16 posted = 0;   // doorbell record as last read; read again when consumer reaches it
    // Posted lists belong to the card and no longer change, so several are fetched at once.
    u16 fetched_from = 0, fetched = 0;
    u8 lists[1024] = {};
    u8 context[RqContext::bytes + WqContext::bytes] = {};
};

// Puts a frame into the next posted list. `cqe` is complete but for wqe_counter, opcode and owner.
void rq_receive(Device &device, u32 rqn, std::span<const u8> frame, std::span<u8, kCqeBytes> cqe);

} // namespace niclab::connectx
