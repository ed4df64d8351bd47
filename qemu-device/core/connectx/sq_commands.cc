// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "connectx/sq.h"
#include "connectx/wq.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynType = 0x5a0001, kSynSize = 0x5a0002, kSynPd = 0x5a0003, kSynCq = 0x5a0004,
              kSynTis = 0x5a0005, kSynUar = 0x5a0006, kSynRing = 0x5a0007, kSynRecord = 0x5a0008,
              kSynFull = 0x5a0009, kSynNumber = 0x5a000a, kSynState = 0x5a000b, kSynMove = 0x5a000c,
              kSynMask = 0x5a000d, kSynInline = 0x5a000e;

constexpr unsigned kLogBlockBytes = 6;
Reply check_new(const Device &device, const Request &request) {
    auto context = request.view<SqContext>(CreateQueueIn::context);
    auto wq = request.view<WqContext>(CreateQueueIn::wq);
    bool cyclic = wq.get(WqContext::wq_type) == static_cast<u32>(WqType::cyclic);
    bool offered = !context.get(SqContext::rlky) && !context.get(SqContext::cd_master) &&
                   !context.get(SqContext::allow_multi_pkt_send_wqe) &&
                   device.real_time.offers(context.get(SqContext::ts_format)) &&
                   context.get(SqContext::tis_lst_sz) <= 1;
    if (!cyclic || !offered || wq.get(WqContext::page_offset) ||
        context.get(SqContext::state) != static_cast<u32>(QueueState::reset))
        return fail(Status::bad_parameter, kSynType);
    if (wq.get(WqContext::log_wq_stride) != kLogBlockBytes || wq.get(WqContext::log_wq_sz) > kLogMaxWqSize)
        return fail(Status::bad_parameter, kSynSize);
    if (wq.get(WqContext::dbr_addr) & 7) return fail(Status::bad_parameter, kSynRecord);
    return kOk;
}

// The queue's own mode counts only where the vport's is the least; elsewhere the field is reserved.
Reply choose_inline_mode(const Device &device, ConstView<SqContext> context, InlineMode &mode) {
    mode = device.hca.inline_mode;
    if (mode < InlineMode::ip) return kOk;
    u32 asked = context.get(SqContext::min_wqe_inline_mode);
    if (asked < static_cast<u32>(mode) || asked > static_cast<u32>(InlineMode::transport))
        return fail(Status::bad_parameter, kSynInline);
    mode = static_cast<InlineMode>(asked);
    return kOk;
}

} // namespace

Reply create_sq(Device &device, const Request &request, const Response &response) {
    if (Reply reply = check_new(device, request); reply.status != Status::ok) return reply;
    auto context = request.view<SqContext>(CreateQueueIn::context);
    auto wq = request.view<WqContext>(CreateQueueIn::wq);
    u32 tisn = context.get(SqContext::tis_lst_sz) ? context.get(SqContext::tis_num_0) : 0;
    InlineMode inline_mode;
    if (Reply reply = choose_inline_mode(device, context, inline_mode); reply.status != Status::ok)
        return reply;
    Pd *pd = device.pds.find(wq.get(WqContext::pd));
    if (!pd) return fail(Status::bad_resource, kSynPd);
    Cq *cq = device.cqs.find(context.get(SqContext::cqn));
    if (!cq) return fail(Status::bad_resource, kSynCq);
    Uar *uar = device.uars.find(wq.get(WqContext::uar_page));
    if (!uar) return fail(Status::bad_resource, kSynUar);
    Tis *tis = device.tises.find(tisn);
    if (context.get(SqContext::tis_lst_sz) && !tis) return fail(Status::bad_resource, kSynTis);
    unsigned log_size = wq.get(WqContext::log_wq_sz);
    auto ring = QueueMemory::make(request.bytes.subspan(CreateQueueIn::pas),
                                  wq.get(WqContext::log_wq_pg_sz) + 12, 0, kSendBlockBytes << log_size);
    if (!ring) return fail(Status::bad_parameter, kSynRing);

    auto sq = std::make_unique<Sq>();
    sq->ring = std::move(*ring);
    sq->log_size = log_size;
    sq->record = wq.get(WqContext::dbr_addr);
    sq->cqn = context.get(SqContext::cqn);
    sq->pd = wq.get(WqContext::pd);
    sq->user_index = context.get(SqContext::user_index);
    sq->tisn = tisn;
    sq->inline_mode = inline_mode;
    sq->real_time = context.get(SqContext::ts_format) == static_cast<u32>(TimeFormat::real_time);
    sq->may_umr = context.get(SqContext::reg_umr);
    sq->software_parser = context.get(SqContext::allow_swp);
    sq->flush_in_error = context.get(SqContext::flush_in_error_en);
    std::memcpy(sq->context, context.raw(), sizeof sq->context);
    u32 number;
    if (!device.sqs.add(std::move(sq), number)) return fail(Status::no_resources, kSynFull);
    ++pd->users;
    ++cq->users;
    ++uar->users;
    if (tisn) ++tis->users;
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

Reply modify_sq(Device &device, const Request &request, const Response &) {
    auto in = request.view<ModifyQueueIn>();
    u32 number = in.get(ModifyQueueIn::number);
    Sq *sq = device.sqs.find(number);
    if (!sq) return fail(Status::bad_resource, kSynNumber);
    u32 to = request.view<SqContext>(ModifyQueueIn::context).get(SqContext::state);
    if (in.get(ModifyQueueIn::state) != static_cast<u32>(sq->state))
        return fail(Status::bad_resource_state, kSynState);
    if (!is_queue_state(to) || !queue_may_move(sq->state, static_cast<QueueState>(to)))
        return fail(Status::bad_resource_state, kSynMove);
    if (in.get(ModifyQueueIn::modify_bitmask))
        return fail(Status::bad_parameter, kSynMask); // rate limit, QoS: not offered
    QueueState next = static_cast<QueueState>(to);
    if (next != sq->state) sq_enter(device, *sq, number, next);
    return kOk;
}

Reply query_sq(Device &device, const Request &request, const Response &response) {
    const Sq *sq = device.sqs.find(request.view<ObjectIn>().get(ObjectIn::number));
    if (!sq) return fail(Status::bad_resource, kSynNumber);
    auto out = response.view<SqContext>(QueryQueueOut::context);
    std::memcpy(out.raw(), sq->context, sizeof sq->context);
    out.set(SqContext::state, static_cast<u32>(sq->state));
    return kOk;
}

Reply destroy_sq(Device &device, const Request &request, const Response &) {
    u32 number = request.view<ObjectIn>().get(ObjectIn::number);
    const Sq *sq = device.sqs.find(number);
    if (!sq) return fail(Status::bad_resource, kSynNumber);
    --device.pds.find(sq->pd)->users;
    --device.cqs.find(sq->cqn)->users;
    --device.uars.find(ConstView<WqContext>(sq->context + SqContext::bytes).get(WqContext::uar_page))->users;
    if (sq->tisn) --device.tises.find(sq->tisn)->users;
    device.sqs.remove(number);
    return kOk;
}

} // namespace niclab::connectx
