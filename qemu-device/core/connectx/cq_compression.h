// SPDX-License-Identifier: GPL-2.0-or-later
// Compression of receive completions: entries that differ in little more than length and checksum are kept
// back for a moment and written as one title entry and arrays of eight-byte mini entries.
#pragma once

#include <algorithm>

#include "connectx/timer.h"
#include "spec/queues.h"

namespace niclab::connectx {

class Device;
struct Cq;

constexpr u32 kMostMiniCqes = 64;        // of one session
constexpr u32 kCompressionTimeoutUs = 4; // how long a session may stay open

// A run of entries that will become one block. Part of a CQ that compresses.
struct CqSession {
    CqSession(TimerQueue &timers, Timer::Action action, MiniCqeFormat mini_format, u32 ring_entries)
        : timer(timers, action), format(mini_format), most(std::min(kMostMiniCqes, ring_entries)) {}

    Timer timer; // runs while the session is open
    MiniCqeFormat format;
    u32 most;             // entries of a block
    u32 count = 0;        // entries kept back; 0: no session is open
    u16 next_counter = 0; // the WQE counter that the guest would work out for the next one
    u8 title[kCqeBytes];
    u8 minis[kMostMiniCqes * kMiniCqeBytes];
};

// Takes the entry when it can stand in a block; a block that cannot hold it is written first. False when the
// entry has to be written as it is, or the queue stopped.
bool cq_compress(Device &device, Cq &cq, u32 cqn, const u8 *cqe);

// Writes what is kept back: before anything that must come behind it, and when a queue stops completing here.
void cq_close_session(Device &device, Cq &cq, u32 cqn);
void cq_close_session(Device &device, u32 cqn); // an unknown number is ignored

// The action of a session's timer.
void cq_session_expired(Device &device, u32 cqn);

} // namespace niclab::connectx
