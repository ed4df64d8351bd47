// SPDX-License-Identifier: GPL-2.0-or-later
// What both kinds of receive queue share: the doorbell record, the way into the error state, completions and
// drops.
#pragma once

#include "connectx/counters.h"
#include "connectx/rq.h"
#include "connectx/wq.h"

namespace niclab::connectx {

void move_rq(Device &device, Rq &rq, u32 rqn, QueueState next);

// Back to WQE 0, as the driver's side starts after a reset.
void restart_rq(Rq &rq);

// Reads the record; false when it faults or shows more WQEs than the ring has.
bool read_rq_record(Device &device, Rq &rq);

enum class Next : u8 { ready, dry, broken };
// Whether a posted WQE is left at `consumer`.
Next next_posted(Device &device, Rq &rq);

// The error state; posted WQEs complete as flushed when the queue wants that.
void enter_rq_error(Device &device, Rq &rq, u32 rqn);
// The card found the queue unusable, and no completion can say so.
void fail_rq(Device &device, Rq &rq, u32 rqn);
// A WQE cannot be used: its completion says so and the queue stops.
void complete_rq_error(Device &device, Rq &rq, u32 rqn, CqeSyndrome syndrome, u16 counter,
                       StridesGone gone = {});
// A good frame: `where` is the last word of the entry but for opcode and owner. False when the entry is lost;
// then the queue has failed.
bool complete_rq(Device &device, Rq &rq, u32 rqn, std::span<u8, kCqeBytes> cqe, u16 counter);

void drop_frame(Device &device, usize bytes, Counter reason);
// No WQE: the frame is counted where the driver looks.
void drop_out_of_buffer(Device &device, const Rq &rq, usize bytes);

} // namespace niclab::connectx
