// SPDX-License-Identifier: GPL-2.0-or-later
// When a completion queue raises the event that its guest asked for: arming and moderation.
#pragma once

#include "connectx/cq.h"

namespace niclab::connectx {

// Takes period, count and mode from the CQ's context.
void cq_apply_moderation(Cq &cq);

// Entries up to cq.producer are in guest memory.
void cq_written(Device &device, Cq &cq, u32 cqn);

// The arm doorbell: word 0 is {sn[29:28], solicited only [24], consumer index [23:0]}.
void cq_arm(Device &device, u32 word0, u32 cqn);

// Raises the event when it is due now, or waits for it anew. To be called whenever one of the values changed
// that the event depends on.
void cq_consider_event(Device &device, Cq &cq, u32 cqn);

// The action of a CQ's timer.
void cq_timer_expired(Device &device, u32 cqn);

} // namespace niclab::connectx
