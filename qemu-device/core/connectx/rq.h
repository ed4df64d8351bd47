// SPDX-License-Identifier: GPL-2.0-or-later
// Receive queues: rings of WQEs that the driver posts and received frames consume. A cyclic queue's WQE is a
// scatter list and takes one frame (receive_list.h); a striding queue's WQE is one long buffer cut into
// strides and takes many (receive_strides.h).
//
// States and who moves them (manual: MODIFY_RQ):
//   reset -> ready   driver; the card starts at WQE 0
//   ready -> reset   driver
//   ready -> error   driver, or the card when a posted WQE cannot be used
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
constexpr unsigned kLogMinRqStride = 4, kLogMaxRqStride = 9; // bytes of a scatter list
constexpr unsigned kLogMaxRqSize = 15;                       // the doorbell record counts in 16 bits

// Posted lists belong to the card and no longer change, so several are fetched at once.
struct FetchedLists {
    u16 from = 0, count = 0; // running counters
    u8 bytes[1024] = {};
};

// A striding queue.
struct Strides {
    unsigned log_count = 0; // strides in a WQE
    unsigned log_bytes = 0;
    bool linked = false; // WQEs follow each other by link, not by index

    bool open = false;    // a WQE is in use: the one that `Rq::consumer` counts
    bool started = false; // `index` is the WQE in use, or the last one that was
    u16 index = 0;
    u32 used = 0; // strides of the WQE in use
    u32 lkey = 0, bytes = 0;
    u64 address = 0;

    u32 count() const { return 1u << log_count; }
    u32 left() const { return count() - used; }
};

struct Rq {
    QueueState state = QueueState::reset;
    QueueMemory ring;
    unsigned log_size = 0, log_stride = 0;
    u64 record = 0; // guest address of {receive counter, send counter}
    u32 cqn = 0, pd = 0, user_index = 0;
    u8 counter_set = 0; // 0: none
    bool vlan_strip = true;
    bool flush_in_error = false;
    bool scatter_fcs = false;
    bool striding = false;
    bool real_time = false; // time stamps are of the real-time clock
    u32 users = 0;          // TIRs and indirection table entries that name it

    u16 consumer = 0; // WQEs used up, running
    u16 posted = 0;   // doorbell record as last read; read again when consumer reaches it
    FetchedLists lists;
    Strides strides;
    u8 context[RqContext::bytes + WqContext::bytes] = {};
};

// Puts a frame into the next posted WQE. `cqe` is complete but for the WQE's own fields, opcode and owner.
void rq_receive(Device &device, u32 rqn, std::span<const u8> frame, std::span<u8, kCqeBytes> cqe);

} // namespace niclab::connectx
