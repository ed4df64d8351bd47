// SPDX-License-Identifier: GPL-2.0-or-later
// The receive path: from the wire through flow tables and hash to a receive queue.
#pragma once

#include <memory>
#include <span>

#include "spec/types.h"

namespace niclab::connectx {

class Device;

struct ReceivePath {
    static constexpr usize kMaxFrame = 1 << 14; // beyond the largest port MTU
    std::unique_ptr<u8[]> reshaped;             // the frame without its tag or with its FCS
    ReceivePath();
};

// One frame without FCS from the wire. Every frame ends in a queue or in exactly one drop counter.
void receive_frame(Device &device, std::span<const u8> frame);
// One that a send queue of this card emits and that may come back: to TIRs that let such frames in.
void receive_own_frame(Device &device, std::span<const u8> frame);

} // namespace niclab::connectx
