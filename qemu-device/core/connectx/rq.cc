// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/rq.h"

#include <algorithm>
#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "connectx/wq.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynType = 0x5b0001, kSynSize = 0x5b0002, kSynPd = 0x5b0003, kSynCq = 0x5b0004,
              kSynCounter = 0x5b0005, kSynRing = 0x5b0006, kSynRecord = 0x5b0007, kSynFull = 0x5b0008,
              kSynNumber = 0x5b0009, kSynUsed = 0x5b000a, kSynState = 0x5b000b, kSynMove = 0x5b000c,
              kSynMask = 0x5b000d, kSynFcs = 0x5b000e;
constexpr u64 kModifiable =
    ModifyQueueIn::kRqVsd | ModifyQueueIn::kRqScatterFcs | ModifyQueueIn::kRqCounterSet;

void move(Device &device, Rq &rq, u32 rqn, QueueState next) {
    if (next != QueueState::ready) cq_close_session(device, rq.cqn);
    rq.state = next;
    device.trace(CX_TRACE_STATE, CX_RQ, rqn, static_cast<u64>(next));
}

// Reads the record; false when it faults or shows more lists than the ring has.
bool read_record(Device &device, Rq &rq) {
    u8 word[4];
    if (!device.dma.read(DmaPurpose::record, rq.record, word, sizeof word)) return false;
    rq.posted = static_cast<u16>(load_be32(word));
    return static_cast<u16>(rq.posted - rq.consumer) <= 1u << rq.log_size;
}

// Every posted list completes as flushed. Bounded by the ring size, which read_record() checked.
void flush(Device &device, Rq &rq, u32 rqn) {
    if (!rq.flush_in_error || !read_record(device, rq)) return;
    u32 cqn = rq.cqn;
    for (u16 counter = rq.consumer, end = rq.posted; counter != end; ++counter)
        if (!post_error_cqe(device, cqn, QueueKind::receive, rqn, CqeSyndrome::flushed, 0, counter)) break;
    rq.consumer = rq.posted;
}

void enter_error(Device &device, Rq &rq, u32 rqn) {
    if (rq.state == QueueState::error) return;
    move(device, rq, rqn, QueueState::error);
    rq.fetched = 0;
    flush(device, rq, rqn);
}

// The card found the queue unusable, and no completion can say so.
void fail_queue(Device &device, Rq &rq, u32 rqn, Event event) {
    device.counters.add(Counter::queue_errors);
    enter_error(device, rq, rqn);
    post_queue_event(device, event, QueueKind::receive, rqn);
}

enum class Next : u8 { list, dry, broken };

// Makes the list at `consumer` available in `lists`.
Next fetch(Device &device, Rq &rq) {
    if (static_cast<u16>(rq.consumer - rq.fetched_from) < rq.fetched) return Next::list;
    if (rq.consumer == rq.posted) {
        if (!read_record(device, rq)) return Next::broken;
        if (rq.consumer == rq.posted) return Next::dry;
    }
    u32 size = 1u << rq.log_size, at = rq.consumer & (size - 1);
    u32 count = std::min({u32{static_cast<u16>(rq.posted - rq.consumer)}, size - at,
                          static_cast<u32>(sizeof rq.lists >> rq.log_stride)});
    rq.fetched = 0;
    if (!rq.ring.read(device.dma, DmaPurpose::wqe, usize{at} << rq.log_stride, rq.lists,
                      usize{count} << rq.log_stride))
        return Next::broken;
    rq.fetched_from = rq.consumer;
    rq.fetched = static_cast<u16>(count);
    return Next::list;
}

struct Segment {
    u32 bytes, lkey;
    u64 address;
};

// Calls f(segment) for each used segment until it says stop or the list ends.
template <class F>
void each_segment(const Rq &rq, F f) {
    const u8 *list = rq.lists + (usize{static_cast<u16>(rq.consumer - rq.fetched_from)} << rq.log_stride);
    for (usize at = 0; at < usize{1} << rq.log_stride; at += kDsBytes) {
        ConstView<DataSegment> raw(list + at);
        Segment segment{raw.get(DataSegment::byte_count), raw.get(DataSegment::lkey),
                        raw.get(DataSegment::address)};
        if (segment.lkey == kTerminatorLkey) return;
        if (segment.bytes == 0) continue;
        if (!f(segment)) return;
    }
}

// Nothing is written when the frame does not fit.
CqeSyndrome scatter(Device &device, const Rq &rq, std::span<const u8> frame) {
    u64 room = 0;
    each_segment(rq, [&](const Segment &segment) {
        room += segment.bytes;
        return room < frame.size();
    });
    if (room < frame.size()) return CqeSyndrome::local_length;
    CqeSyndrome result = CqeSyndrome::none;
    each_segment(rq, [&](const Segment &segment) {
        usize run = std::min<usize>(segment.bytes, frame.size());
        if (!mkey_allows(device, segment.lkey, rq.pd, Access::write, segment.address, run) ||
            !device.dma.write(DmaPurpose::payload, segment.address, frame.data(), run)) {
            result = CqeSyndrome::local_protection;
            return false;
        }
        frame = frame.subspan(run);
        return !frame.empty();
    });
    return result;
}

void drop(Device &device, u32 bytes, Counter reason) {
    device.counters.add(reason);
    device.trace(CX_TRACE_FRAME_IN, bytes, 0, static_cast<u64>(reason));
}

void count_out_of_buffer(Device &device, const Rq &rq) {
    if (QCounter *counter = device.q_counters.find(rq.counter_set)) ++counter->out_of_buffer;
}

// A frame too long for its list costs only that list; an unusable list stops the queue, as drivers expect.
void complete_in_error(Device &device, Rq &rq, u32 rqn, CqeSyndrome syndrome, u16 counter) {
    bool posted = post_error_cqe(device, rq.cqn, QueueKind::receive, rqn, syndrome, 0, counter);
    if (!posted || syndrome != CqeSyndrome::local_length) {
        device.counters.add(Counter::queue_errors);
        enter_error(device, rq, rqn);
    }
}

} // namespace

void rq_receive(Device &device, u32 rqn, std::span<const u8> frame, std::span<u8, kCqeBytes> cqe) {
    Rq *rq = device.rqs.find(rqn);
    u32 bytes = static_cast<u32>(frame.size());
    if (!rq) return drop(device, bytes, Counter::rx_drop_no_queue);
    if (rq->state == QueueState::reset) return drop(device, bytes, Counter::rx_drop_queue_not_ready);
    if (rq->state == QueueState::error) return drop(device, bytes, Counter::rx_drop_queue_error);
    Next next = fetch(device, *rq);
    if (next == Next::dry) {
        count_out_of_buffer(device, *rq);
        return drop(device, bytes, Counter::rx_drop_out_of_buffer);
    }
    if (next == Next::broken) {
        fail_queue(device, *rq, rqn, Event::wq_catastrophic);
        return drop(device, bytes, Counter::rx_drop_queue_error);
    }
    CqeSyndrome syndrome = scatter(device, *rq, frame);
    u16 counter = rq->consumer++;
    device.counters.add(Counter::receive_wqes);
    if (syndrome != CqeSyndrome::none) {
        complete_in_error(device, *rq, rqn, syndrome, counter);
        return drop(device, bytes, Counter::rx_drop_queue_error);
    }
    store_be32(cqe.data() + Cqe::user_index.dword, Cqe::user_index.place(rq->user_index));
    store_be32(cqe.data() + Cqe::wqe_counter.dword,
               Cqe::wqe_counter.place(counter) |
                   Cqe::opcode.place(static_cast<u32>(CqeOpcode::responder_send)));
    if (!post_cqe(device, rq->cqn, cqe)) {
        fail_queue(device, *rq, rqn, Event::wq_catastrophic);
        return drop(device, bytes, Counter::rx_drop_queue_error);
    }
    device.trace(CX_TRACE_FRAME_IN, bytes, rqn, 0);
}

namespace {

Reply check_new(const Request &request, unsigned log_stride, unsigned log_size) {
    auto context = request.view<RqContext>(CreateQueueIn::context);
    auto wq = request.view<WqContext>(CreateQueueIn::wq);
    bool cyclic = wq.get(WqContext::wq_type) == static_cast<u32>(WqType::cyclic);
    bool inline_memory = context.get(RqContext::mem_rq_type) == 0;
    if (!cyclic || !inline_memory || context.get(RqContext::rlky) ||
        context.get(RqContext::ts_format) > kTsDefault || wq.get(WqContext::page_offset) ||
        context.get(RqContext::state) != static_cast<u32>(QueueState::reset))
        return fail(Status::bad_parameter, kSynType);
    if (context.get(RqContext::scatter_fcs)) return fail(Status::bad_parameter, kSynFcs);
    if (log_stride < 4 || log_stride > kLogMaxRqStride || log_size > kLogMaxRqSize)
        return fail(Status::bad_parameter, kSynSize);
    if (wq.get(WqContext::dbr_addr) & 7) return fail(Status::bad_parameter, kSynRecord);
    return kOk;
}

// 0 names no counter set. The old set, when there is one, loses a user.
bool change_counter_set(Device &device, Rq &rq, u32 id) {
    QCounter *counter = device.q_counters.find(id);
    if (id != 0 && !counter) return false;
    if (counter) ++counter->users;
    if (QCounter *old = device.q_counters.find(rq.counter_set)) --old->users;
    rq.counter_set = static_cast<u8>(id);
    return true;
}

void restart(Rq &rq) {
    rq.consumer = rq.posted = 0;
    rq.fetched_from = rq.fetched = 0;
}

} // namespace

Reply create_rq(Device &device, const Request &request, const Response &response) {
    auto context = request.view<RqContext>(CreateQueueIn::context);
    auto wq = request.view<WqContext>(CreateQueueIn::wq);
    unsigned log_stride = wq.get(WqContext::log_wq_stride), log_size = wq.get(WqContext::log_wq_sz);
    if (Reply reply = check_new(request, log_stride, log_size); reply.status != Status::ok) return reply;
    // Domain 0 owns no key: the stock driver gives it to the queue that never gets a buffer.
    Pd *pd = device.pds.find(wq.get(WqContext::pd));
    if (!pd && wq.get(WqContext::pd) != 0) return fail(Status::bad_resource, kSynPd);
    Cq *cq = device.cqs.find(context.get(RqContext::cqn));
    if (!cq) return fail(Status::bad_resource, kSynCq);
    auto ring =
        QueueMemory::make(request.bytes.subspan(CreateQueueIn::pas), wq.get(WqContext::log_wq_pg_sz) + 12, 0,
                          usize{1} << (log_stride + log_size));
    if (!ring) return fail(Status::bad_parameter, kSynRing);

    auto rq = std::make_unique<Rq>();
    rq->ring = std::move(*ring);
    rq->log_size = log_size;
    rq->log_stride = log_stride;
    rq->record = wq.get(WqContext::dbr_addr);
    rq->cqn = context.get(RqContext::cqn);
    rq->pd = wq.get(WqContext::pd);
    rq->user_index = context.get(RqContext::user_index);
    rq->vlan_strip = !context.get(RqContext::vsd);
    rq->flush_in_error = context.get(RqContext::flush_in_error_en);
    std::memcpy(rq->context, context.raw(), sizeof rq->context);
    u32 number;
    Rq *added = device.rqs.add(std::move(rq), number);
    if (!added) return fail(Status::no_resources, kSynFull);
    if (!change_counter_set(device, *added, context.get(RqContext::counter_set_id))) {
        device.rqs.remove(number);
        return fail(Status::bad_resource, kSynCounter);
    }
    if (pd) ++pd->users;
    ++cq->users;
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

Reply modify_rq(Device &device, const Request &request, const Response &) {
    auto in = request.view<ModifyQueueIn>();
    auto context = request.view<RqContext>(ModifyQueueIn::context);
    u32 number = in.get(ModifyQueueIn::number);
    Rq *rq = device.rqs.find(number);
    if (!rq) return fail(Status::bad_resource, kSynNumber);
    u32 to = context.get(RqContext::state);
    if (in.get(ModifyQueueIn::state) != static_cast<u32>(rq->state))
        return fail(Status::bad_resource_state, kSynState);
    if (!is_queue_state(to) || !queue_may_move(rq->state, static_cast<QueueState>(to)))
        return fail(Status::bad_resource_state, kSynMove);
    u64 mask = in.get(ModifyQueueIn::modify_bitmask);
    if (mask & ~kModifiable) return fail(Status::bad_parameter, kSynMask);
    if (mask & ModifyQueueIn::kRqScatterFcs && context.get(RqContext::scatter_fcs))
        return fail(Status::bad_parameter, kSynFcs);
    if (mask & ModifyQueueIn::kRqCounterSet &&
        !change_counter_set(device, *rq, context.get(RqContext::counter_set_id)))
        return fail(Status::bad_resource, kSynCounter);
    if (mask & ModifyQueueIn::kRqVsd) rq->vlan_strip = !context.get(RqContext::vsd);

    QueueState next = static_cast<QueueState>(to);
    if (next == QueueState::error) {
        enter_error(device, *rq, number);
    } else if (next != rq->state) {
        restart(*rq);
        move(device, *rq, number, next);
    }
    return kOk;
}

Reply query_rq(Device &device, const Request &request, const Response &response) {
    const Rq *rq = device.rqs.find(request.view<ObjectIn>().get(ObjectIn::number));
    if (!rq) return fail(Status::bad_resource, kSynNumber);
    auto out = response.view<RqContext>(QueryQueueOut::context);
    std::memcpy(out.raw(), rq->context, sizeof rq->context);
    out.set(RqContext::state, static_cast<u32>(rq->state));
    out.set(RqContext::vsd, !rq->vlan_strip).set(RqContext::counter_set_id, rq->counter_set);
    return kOk;
}

Reply destroy_rq(Device &device, const Request &request, const Response &) {
    u32 number = request.view<ObjectIn>().get(ObjectIn::number);
    Rq *rq = device.rqs.find(number);
    if (!rq) return fail(Status::bad_resource, kSynNumber);
    if (rq->users) return fail(Status::bad_resource_state, kSynUsed);
    change_counter_set(device, *rq, 0);
    if (Pd *pd = device.pds.find(rq->pd)) --pd->users;
    cq_close_session(device, rq->cqn);
    --device.cqs.find(rq->cqn)->users;
    device.rqs.remove(number);
    return kOk;
}

} // namespace niclab::connectx
