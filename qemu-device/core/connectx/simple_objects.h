// SPDX-License-Identifier: GPL-2.0-or-later
// Objects that are little more than a number. `users` counts the objects that refer to one; it cannot go
// while there are any.
#pragma once

#include "spec/types.h"

namespace niclab::connectx {

struct Uar {
    u32 users = 0;        // EQs; queues when they name it
    u32 cq_arm_latch = 0; // first half of a CQ arm written as two 32-bit stores
};
struct Pd {
    u32 users = 0;
};
struct TransportDomain {
    u32 users = 0;
};
struct QCounter {
    u32 out_of_buffer = 0;
    u32 users = 0; // RQs
};
struct Tis {
    u8 prio = 0;
    u32 td = 0;
    u32 users = 0; // SQs
};

} // namespace niclab::connectx
