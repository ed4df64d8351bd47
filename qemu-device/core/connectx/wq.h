// SPDX-License-Identifier: GPL-2.0-or-later
// What send and receive queues share: the states a driver may move a queue between, and the error completion.
#pragma once

#include <span>

#include "spec/queues.h"

namespace niclab::connectx {

class Device;

// The one table of transitions; see sq.h and rq.h for who makes which.
constexpr bool queue_may_move(QueueState from, QueueState to) {
    constexpr bool kAllowed[4][4] = {
        // to: reset, ready, (none), error
        {true, true, false, false},   // from reset
        {true, true, false, true},    // from ready
        {false, false, false, false}, // no such state
        {true, false, false, true},   // from error
    };
    return kAllowed[static_cast<u8>(from) & 3][static_cast<u8>(to) & 3];
}
constexpr bool is_queue_state(u32 value) { return value == 0 || value == 1 || value == 3; }

enum class QueueKind : u8 { receive = 1, send = 2 }; // as an event names them

// An error entry for one WQE. False as post_cqe(). A striding receive queue adds which WQE it was and how
// many strides are gone with it.
struct StridesGone {
    u16 wqe_id = 0, strides = 0;
};
bool post_error_cqe(Device &device, u32 cqn, QueueKind kind, u32 number, CqeSyndrome syndrome, u8 wqe_opcode,
                    u16 counter, StridesGone gone = {});

// Tells the driver that the queue stopped for a reason that no completion can carry.
void post_queue_event(Device &device, Event event, QueueKind kind, u32 number);

} // namespace niclab::connectx
