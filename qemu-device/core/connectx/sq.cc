// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/sq.h"

#include <algorithm>

#include "connectx/device.h"
#include "connectx/send.h"
#include "connectx/umr.h"
#include "connectx/wq.h"

namespace niclab::connectx {
namespace {

PostedWqe look(const u8 *bytes, u16 counter) {
    ConstView<CtrlSegment> ctrl(bytes);
    u32 ds = ctrl.get(CtrlSegment::ds);
    return {bytes,
            counter,
            static_cast<u8>(ctrl.get(CtrlSegment::opcode)),
            ds,
            std::max<u32>(1, (ds + 3) / 4),
            ctrl.get(CtrlSegment::ce),
            ctrl.get(CtrlSegment::solicited) != 0};
}

CqeSyndrome execute(Device &device, const Sq &sq, u32 sqn, const PostedWqe &wqe) {
    device.counters.add(Counter::send_wqes);
    device.trace(CX_TRACE_WQE, sqn, wqe.counter, u64{wqe.opcode} << 8 | wqe.ds,
                 {wqe.bytes, usize{wqe.ds} * kDsBytes});
    if (wqe.ds == 0) return CqeSyndrome::local_qp_operation;
    switch (static_cast<WqeOpcode>(wqe.opcode)) {
    case WqeOpcode::nop:
        return CqeSyndrome::none;
    case WqeOpcode::send:
    case WqeOpcode::lso:
        return send(device, sq, sqn, wqe);
    case WqeOpcode::multi_packet_send:
        return send_many(device, sq, sqn, wqe);
    case WqeOpcode::umr:
        if (!sq.may_umr) return CqeSyndrome::local_qp_operation;
        return execute_umr(device, sq.pd, {wqe.bytes, usize{wqe.ds} * kDsBytes});
    default:
        return CqeSyndrome::local_qp_operation;
    }
}

void move(Device &device, Sq &sq, u32 sqn, QueueState next) {
    sq.state = next;
    device.trace(CX_TRACE_STATE, CX_SQ, sqn, static_cast<u64>(next));
}

// `count` WQEBBs from the consumer on, in order, also when they wrap around the ring's end.
bool fetch(Device &device, const Sq &sq, u32 count) {
    u32 size = 1u << sq.log_size, at = sq.consumer & (size - 1);
    u32 run = std::min(count, size - at);
    u8 *to = device.send.wqes.get();
    return sq.ring.read(device.dma, DmaPurpose::wqe, usize{at} * kSendBlockBytes, to,
                        usize{run} * kSendBlockBytes) &&
           (run == count || sq.ring.read(device.dma, DmaPurpose::wqe, 0, to + usize{run} * kSendBlockBytes,
                                         usize{count - run} * kSendBlockBytes));
}

// Calls f(wqe) for each WQE from the consumer up to `posted`, after moving the consumer behind it, until f
// says stop. A WQE that reaches beyond `posted` is shown with ds 0, which is in error and ends there. False
// when the ring cannot be read.
template <class F>
bool each_wqe(Device &device, Sq &sq, u16 posted, F f) {
    while (sq.consumer != posted) {
        u32 left = static_cast<u16>(posted - sq.consumer);
        u32 count = std::min<u32>(left, SendPath::kFetchBlocks);
        if (!fetch(device, sq, count)) return false;
        for (u32 at = 0; at < count;) {
            PostedWqe wqe = look(device.send.wqes.get() + usize{at} * kSendBlockBytes, sq.consumer);
            if (wqe.blocks > left - at) {
                wqe.ds = 0;
                wqe.blocks = left - at;
            } else if (wqe.blocks > count - at) {
                break; // fetched in part: once more from its start
            }
            sq.consumer = static_cast<u16>(sq.consumer + wqe.blocks);
            at += wqe.blocks;
            if (!f(wqe)) return true;
        }
    }
    return true;
}

// Every posted WQE must be acknowledged, or recovery waits for it for ever.
void flush(Device &device, Sq &sq, u32 sqn, u16 posted) {
    if (sq.flush_in_error)
        each_wqe(device, sq, posted, [&](const PostedWqe &wqe) {
            return post_error_cqe(device, sq.cqn, QueueKind::send, sqn, CqeSyndrome::flushed, wqe.opcode,
                                  wqe.counter);
        });
    sq.consumer = posted;
}

// The card found the queue unusable, and no completion can say so.
void fail_queue(Device &device, Sq &sq, u32 sqn) {
    device.counters.add(Counter::queue_errors);
    move(device, sq, sqn, QueueState::error);
    post_queue_event(device, Event::wq_catastrophic, QueueKind::send, sqn);
}

bool complete(Device &device, const Sq &sq, u32 sqn, const PostedWqe &wqe) {
    constexpr u32 kAlwaysWithEvent = 3;
    u8 cqe[kCqeBytes] = {};
    View<Cqe>(cqe)
        .set(Cqe::user_index, sq.user_index)
        .set(Cqe::timestamp, device.stamp(sq.real_time))
        .set(Cqe::qpn, sqn)
        .set(Cqe::wqe_counter, wqe.counter)
        .set(Cqe::opcode, static_cast<u32>(CqeOpcode::requester))
        .set(Cqe::solicited, wqe.solicited || wqe.ce == kAlwaysWithEvent);
    return post_cqe(device, sq.cqn, cqe);
}

void run(Device &device, Sq &sq, u32 sqn, u16 posted) {
    CqeSyndrome failure = CqeSyndrome::none;
    bool lost = false;
    bool readable = each_wqe(device, sq, posted, [&](const PostedWqe &wqe) {
        failure = execute(device, sq, sqn, wqe);
        if (failure != CqeSyndrome::none)
            lost = !post_error_cqe(device, sq.cqn, QueueKind::send, sqn, failure, wqe.opcode, wqe.counter);
        else if (wqe.ce >= CtrlSegment::kCeAlways)
            lost = !complete(device, sq, sqn, wqe);
        return failure == CqeSyndrome::none && !lost;
    });
    if (!readable || lost) return fail_queue(device, sq, sqn);
    if (failure == CqeSyndrome::none) return;
    device.counters.add(Counter::queue_errors);
    move(device, sq, sqn, QueueState::error);
    flush(device, sq, sqn, posted);
}

// The send counter of the doorbell record; false when it cannot be read or runs ahead of what the ring can
// hold.
bool read_record(Device &device, const Sq &sq, u16 &posted) {
    u8 word[4];
    if (!device.dma.read(DmaPurpose::record, sq.record + 4, word, sizeof word)) return false;
    posted = static_cast<u16>(load_be32(word));
    return static_cast<u16>(posted - sq.consumer) <= 1u << sq.log_size;
}

} // namespace

SendPath::SendPath()
    : frame(std::make_unique<u8[]>(kHeadroom + kMaxLsoBytes)),
      wqes(std::make_unique<u8[]>(kFetchBlocks * kSendBlockBytes)) {}

// From reset to ready the card starts at WQE 0 and does not look at the record before the next doorbell:
// after a recovery the record still holds the old count.
void sq_enter(Device &device, Sq &sq, u32 sqn, QueueState next) {
    move(device, sq, sqn, next);
    u16 posted;
    if (next != QueueState::error)
        sq.consumer = 0;
    else if (read_record(device, sq, posted))
        flush(device, sq, sqn, posted);
}

void sq_doorbell(Device &device, u32 sqn) {
    Sq *sq = device.sqs.find(sqn);
    if (!sq || sq->state == QueueState::reset) {
        device.counters.add(Counter::doorbells_invalid);
        device.guest_error("doorbell of a send queue that is not ready", sqn);
        return;
    }
    u16 posted;
    if (!read_record(device, *sq, posted)) {
        if (sq->state == QueueState::ready) fail_queue(device, *sq, sqn);
    } else if (sq->state == QueueState::error) {
        flush(device, *sq, sqn, posted);
    } else {
        run(device, *sq, sqn, posted);
    }
}

} // namespace niclab::connectx
