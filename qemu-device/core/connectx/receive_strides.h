// SPDX-License-Identifier: GPL-2.0-or-later
// Striding receive queues (multi-packet RQ): a WQE is one long buffer, a frame takes the next strides of it.
//
// A frame never spans two WQEs. Strides that a frame leaves over because it needs more of them are given back
// by a filler completion, so that the strides of all completions of a WQE add up to exactly its size: that is
// how drivers know that a WQE is used up.
//
// The WQEs of a linked queue follow each other by the link in their first segment. Drivers write a WQE's link
// when they post its successor, so the card reads it when it moves on and never earlier.
#pragma once

#include "connectx/rq.h"

namespace niclab::connectx {

constexpr unsigned kLogStridingWqe = 5; // bytes of a WQE: next segment and data segment
constexpr unsigned kLogMinStrideBytes = 6, kLogMaxStrideBytes = 13;
constexpr unsigned kLogMinStrides = 3, kLogMaxStrides = 14; // a completion counts them in 15 bits

// As rq_receive(), for a queue that is ready.
void receive_into_strides(Device &device, Rq &rq, u32 rqn, std::span<const u8> frame,
                          std::span<u8, kCqeBytes> cqe);

// Completes every posted WQE as flushed, what is left of the one in use first.
void flush_strides(Device &device, Rq &rq, u32 rqn);

} // namespace niclab::connectx
