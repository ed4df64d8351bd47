// SPDX-License-Identifier: GPL-2.0-or-later
// Cyclic receive queues: one frame into the scatter list of one WQE.
#pragma once

#include "connectx/rq.h"

namespace niclab::connectx {

// As rq_receive(), for a queue that is ready.
void receive_into_list(Device &device, Rq &rq, u32 rqn, std::span<const u8> frame,
                       std::span<u8, kCqeBytes> cqe);

} // namespace niclab::connectx
