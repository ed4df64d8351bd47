// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/rq.h"

#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "connectx/receive_list.h"
#include "connectx/receive_strides.h"
#include "connectx/rq_state.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynType = 0x5b0001, kSynSize = 0x5b0002, kSynPd = 0x5b0003, kSynCq = 0x5b0004,
              kSynCounter = 0x5b0005, kSynRing = 0x5b0006, kSynRecord = 0x5b0007, kSynFull = 0x5b0008,
              kSynNumber = 0x5b0009, kSynUsed = 0x5b000a, kSynState = 0x5b000b, kSynMove = 0x5b000c,
              kSynMask = 0x5b000d;
constexpr u64 kModifiable =
    ModifyQueueIn::kRqVsd | ModifyQueueIn::kRqScatterFcs | ModifyQueueIn::kRqCounterSet;

} // namespace

void rq_receive(Device &device, u32 rqn, std::span<const u8> frame, std::span<u8, kCqeBytes> cqe) {
    Rq *rq = device.rqs.find(rqn);
    if (!rq) return drop_frame(device, frame.size(), Counter::rx_drop_no_queue);
    if (rq->state == QueueState::reset)
        return drop_frame(device, frame.size(), Counter::rx_drop_queue_not_ready);
    if (rq->state == QueueState::error) return drop_frame(device, frame.size(), Counter::rx_drop_queue_error);
    if (rq->striding)
        receive_into_strides(device, *rq, rqn, frame, cqe);
    else
        receive_into_list(device, *rq, rqn, frame, cqe);
}

namespace {

// Strides in a WQE are told as a 4-bit signed number beside 9.
unsigned log_strides(ConstView<WqContext> wq) {
    u32 raw = wq.get(WqContext::log_wqe_num_of_strides);
    return raw & 8 ? 9 + raw - 16 : 9 + raw;
}

Reply check_ring(ConstView<WqContext> wq) {
    unsigned log_stride = wq.get(WqContext::log_wq_stride);
    bool fits = false;
    switch (static_cast<WqType>(wq.get(WqContext::wq_type))) {
    case WqType::cyclic:
        fits = log_stride >= kLogMinRqStride && log_stride <= kLogMaxRqStride;
        break;
    case WqType::linked_list_striding:
    case WqType::cyclic_striding:
        fits = log_stride == kLogStridingWqe && !wq.get(WqContext::two_byte_shift_en) &&
               log_strides(wq) >= kLogMinStrides && log_strides(wq) <= kLogMaxStrides;
        break;
    default:
        return fail(Status::bad_parameter, kSynType);
    }
    if (!fits || wq.get(WqContext::log_wq_sz) > kLogMaxRqSize) return fail(Status::bad_parameter, kSynSize);
    if (wq.get(WqContext::page_offset)) return fail(Status::bad_parameter, kSynType);
    if (wq.get(WqContext::dbr_addr) & 7) return fail(Status::bad_parameter, kSynRecord);
    return kOk;
}

Reply check_new(const Device &device, ConstView<RqContext> context, ConstView<WqContext> wq) {
    bool inline_memory = context.get(RqContext::mem_rq_type) == 0;
    if (!inline_memory || context.get(RqContext::rlky) ||
        !device.real_time.offers(context.get(RqContext::ts_format)) ||
        context.get(RqContext::state) != static_cast<u32>(QueueState::reset))
        return fail(Status::bad_parameter, kSynType);
    return check_ring(wq);
}

void describe(Rq &rq, ConstView<RqContext> context, ConstView<WqContext> wq) {
    auto type = static_cast<WqType>(wq.get(WqContext::wq_type));
    rq.log_size = wq.get(WqContext::log_wq_sz);
    rq.log_stride = wq.get(WqContext::log_wq_stride);
    rq.real_time = context.get(RqContext::ts_format) == static_cast<u32>(TimeFormat::real_time);
    rq.striding = type != WqType::cyclic;
    rq.strides.linked = type == WqType::linked_list_striding;
    rq.strides.log_count = log_strides(wq);
    rq.strides.log_bytes = wq.get(WqContext::log_wqe_stride_size) + kLogMinStrideBytes;
    rq.record = wq.get(WqContext::dbr_addr);
    rq.cqn = context.get(RqContext::cqn);
    rq.pd = wq.get(WqContext::pd);
    rq.user_index = context.get(RqContext::user_index);
    rq.vlan_strip = !context.get(RqContext::vsd);
    rq.scatter_fcs = context.get(RqContext::scatter_fcs);
    rq.flush_in_error = context.get(RqContext::flush_in_error_en);
    std::memcpy(rq.context, context.raw(), sizeof rq.context);
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

} // namespace

Reply create_rq(Device &device, const Request &request, const Response &response) {
    auto context = request.view<RqContext>(CreateQueueIn::context);
    auto wq = request.view<WqContext>(CreateQueueIn::wq);
    if (Reply reply = check_new(device, context, wq); reply.status != Status::ok) return reply;
    // Domain 0 owns no key: the stock driver gives it to the queue that never gets a buffer.
    Pd *pd = device.pds.find(wq.get(WqContext::pd));
    if (!pd && wq.get(WqContext::pd) != 0) return fail(Status::bad_resource, kSynPd);
    Cq *cq = device.cqs.find(context.get(RqContext::cqn));
    if (!cq) return fail(Status::bad_resource, kSynCq);
    auto rq = std::make_unique<Rq>();
    describe(*rq, context, wq);
    auto ring =
        QueueMemory::make(request.bytes.subspan(CreateQueueIn::pas), wq.get(WqContext::log_wq_pg_sz) + 12, 0,
                          usize{1} << (rq->log_stride + rq->log_size));
    if (!ring) return fail(Status::bad_parameter, kSynRing);
    rq->ring = std::move(*ring);
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
    if (mask & ModifyQueueIn::kRqCounterSet &&
        !change_counter_set(device, *rq, context.get(RqContext::counter_set_id)))
        return fail(Status::bad_resource, kSynCounter);
    if (mask & ModifyQueueIn::kRqScatterFcs) rq->scatter_fcs = context.get(RqContext::scatter_fcs);
    if (mask & ModifyQueueIn::kRqVsd) rq->vlan_strip = !context.get(RqContext::vsd);

    QueueState next = static_cast<QueueState>(to);
    if (next != QueueState::ready) device.lro.forget(device, number);
    if (next == QueueState::error) {
        enter_rq_error(device, *rq, number);
    } else if (next != rq->state) {
        restart_rq(*rq);
        move_rq(device, *rq, number, next);
    }
    return kOk;
}

Reply query_rq(Device &device, const Request &request, const Response &response) {
    const Rq *rq = device.rqs.find(request.view<ObjectIn>().get(ObjectIn::number));
    if (!rq) return fail(Status::bad_resource, kSynNumber);
    auto out = response.view<RqContext>(QueryQueueOut::context);
    std::memcpy(out.raw(), rq->context, sizeof rq->context);
    out.set(RqContext::state, static_cast<u32>(rq->state));
    out.set(RqContext::vsd, !rq->vlan_strip)
        .set(RqContext::scatter_fcs, rq->scatter_fcs)
        .set(RqContext::counter_set_id, rq->counter_set);
    return kOk;
}

Reply destroy_rq(Device &device, const Request &request, const Response &) {
    u32 number = request.view<ObjectIn>().get(ObjectIn::number);
    Rq *rq = device.rqs.find(number);
    if (!rq) return fail(Status::bad_resource, kSynNumber);
    if (rq->users) return fail(Status::bad_resource_state, kSynUsed);
    device.lro.forget(device, number);
    change_counter_set(device, *rq, 0);
    if (Pd *pd = device.pds.find(rq->pd)) --pd->users;
    cq_close_session(device, rq->cqn);
    --device.cqs.find(rq->cqn)->users;
    device.rqs.remove(number);
    return kOk;
}

} // namespace niclab::connectx
