// SPDX-License-Identifier: GPL-2.0-or-later
// Send queues: fetch posted WQEs, turn them into frames, complete them.
//
// States and who moves them (manual: MODIFY_SQ):
//   reset -> ready   driver; the card starts at WQE 0 and waits for the next doorbell
//   ready -> reset   driver
//   ready -> error   driver, or the card when a WQE cannot be executed
//   error -> reset   driver
//   every state stays itself when the driver says so; reset -> error and error -> ready are refused.
#pragma once

#include <memory>

#include "connectx/command.h"
#include "connectx/queue_memory.h"
#include "spec/queues.h"
#include "spec/wqe.h"

namespace niclab::connectx {

constexpr u32 kFirstSq = 1, kLogMaxSqs = 12, kMaxSqs = 1 << kLogMaxSqs;
constexpr unsigned kLogMaxWqSize = 15; // the doorbell record counts in 16 bits

constexpr usize kMaxLsoBytes = usize{1} << 19; // headers and payload of one LSO WQE

struct Sq {
    QueueState state = QueueState::reset;
    QueueMemory ring;
    unsigned log_size = 0;
    u64 record = 0; // guest address of {receive counter, send counter}
    u32 cqn = 0, pd = 0, user_index = 0;
    u32 tisn = 0; // 0: none, the queue may not send frames
    bool may_umr = false;
    bool real_time = false; // time stamps are of the real-time clock
    bool flush_in_error = false;
    InlineMode inline_mode = InlineMode::none; // headers that each WQE must hold inline
    bool software_parser = false;              // WQEs may tell where headers are
    u16 consumer = 0;                          // next WQEBB to execute, running
    u8 context[SqContext::bytes + WqContext::bytes] = {};
};

// A WQE that was fetched.
struct PostedWqe {
    const u8 *bytes;
    u16 counter; // its first WQEBB
    u8 opcode;
    u32 ds, blocks, ce;
    bool solicited;
};

// Shared by all send queues of a card, which run one after the other.
struct SendPath {
    static constexpr usize kHeadroom = 64;     // room for an inserted tag in front of a frame
    static constexpr usize kFetchBlocks = 256; // WQEBBs fetched at once; a WQE has 16 at most
    SendPath();

    std::unique_ptr<u8[]> frame; // kHeadroom, then headers and payload of one WQE
    std::unique_ptr<u8[]> wqes;  // kFetchBlocks
};

// Executes everything the doorbell record shows. Also called for a queue in error: WQEs posted there are
// flushed.
void sq_doorbell(Device &device, u32 sqn);

// Moves the queue. What is posted to a queue that goes into error is flushed.
void sq_enter(Device &device, Sq &sq, u32 sqn, QueueState next);

} // namespace niclab::connectx
