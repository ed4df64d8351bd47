// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/rq_state.h"

#include "connectx/cq_compression.h"
#include "connectx/device.h"
#include "connectx/receive_strides.h"

namespace niclab::connectx {
namespace {

// Every posted WQE completes as flushed. Bounded by the ring size, which read_rq_record() checked.
void flush(Device &device, Rq &rq, u32 rqn) {
    if (!rq.flush_in_error || !read_rq_record(device, rq)) return;
    if (rq.striding) return flush_strides(device, rq, rqn);
    for (u16 counter = rq.consumer; counter != rq.posted; ++counter)
        if (!post_error_cqe(device, rq.cqn, QueueKind::receive, rqn, CqeSyndrome::flushed, 0, counter)) break;
    rq.consumer = rq.posted;
}

} // namespace

void move_rq(Device &device, Rq &rq, u32 rqn, QueueState next) {
    if (next != QueueState::ready) cq_close_session(device, rq.cqn);
    rq.state = next;
    device.trace(CX_TRACE_STATE, CX_RQ, rqn, static_cast<u64>(next));
}

void restart_rq(Rq &rq) {
    rq.consumer = rq.posted = 0;
    rq.lists.from = rq.lists.count = 0;
    rq.strides.open = rq.strides.started = false;
    rq.strides.index = 0;
    rq.strides.used = 0;
}

bool read_rq_record(Device &device, Rq &rq) {
    u8 word[4];
    if (!device.dma.read(DmaPurpose::record, rq.record, word, sizeof word)) return false;
    rq.posted = static_cast<u16>(load_be32(word));
    return static_cast<u16>(rq.posted - rq.consumer) <= 1u << rq.log_size;
}

Next next_posted(Device &device, Rq &rq) {
    if (rq.consumer != rq.posted) return Next::ready;
    if (!read_rq_record(device, rq)) return Next::broken;
    return rq.consumer == rq.posted ? Next::dry : Next::ready;
}

void enter_rq_error(Device &device, Rq &rq, u32 rqn) {
    if (rq.state == QueueState::error) return;
    move_rq(device, rq, rqn, QueueState::error);
    rq.lists.count = 0;
    flush(device, rq, rqn);
}

void fail_rq(Device &device, Rq &rq, u32 rqn) {
    device.counters.add(Counter::queue_errors);
    enter_rq_error(device, rq, rqn);
    post_queue_event(device, Event::wq_catastrophic, QueueKind::receive, rqn);
}

void complete_rq_error(Device &device, Rq &rq, u32 rqn, CqeSyndrome syndrome, u16 counter, StridesGone gone) {
    (void)post_error_cqe(device, rq.cqn, QueueKind::receive, rqn, syndrome, 0, counter, gone);
    device.counters.add(Counter::queue_errors);
    enter_rq_error(device, rq, rqn);
}

bool complete_rq(Device &device, Rq &rq, u32 rqn, std::span<u8, kCqeBytes> cqe, u16 counter) {
    u32 user = load_be32(cqe.data() + Cqe::user_index.dword) & ~Cqe::user_index.mask();
    store_be32(cqe.data() + Cqe::user_index.dword, user | Cqe::user_index.place(rq.user_index));
    store_be32(cqe.data() + Cqe::wqe_counter.dword,
               Cqe::wqe_counter.place(counter) |
                   Cqe::opcode.place(static_cast<u32>(CqeOpcode::responder_send)));
    if (post_cqe(device, rq.cqn, cqe)) return true;
    fail_rq(device, rq, rqn);
    return false;
}

void drop_frame(Device &device, usize bytes, Counter reason) {
    device.counters.add(reason);
    device.trace(CX_TRACE_FRAME_IN, bytes, 0, static_cast<u64>(reason));
}

void drop_out_of_buffer(Device &device, const Rq &rq, usize bytes) {
    if (QCounter *counter = device.q_counters.find(rq.counter_set)) ++counter->out_of_buffer;
    drop_frame(device, bytes, Counter::rx_drop_out_of_buffer);
}

} // namespace niclab::connectx
