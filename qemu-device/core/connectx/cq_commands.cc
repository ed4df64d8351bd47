// SPDX-License-Identifier: GPL-2.0-or-later
// CREATE_CQ, MODIFY_CQ, QUERY_CQ, DESTROY_CQ.
#include <cstring>

#include "connectx/cq_event.h"
#include "connectx/device.h"
#include "connectx/handlers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynFormat = 0x590001, kSynSize = 0x590002, kSynEq = 0x590003, kSynUar = 0x590004,
              kSynRing = 0x590005, kSynRecord = 0x590006, kSynFull = 0x590007, kSynNumber = 0x590008,
              kSynUsed = 0x590009, kSynModify = 0x59000a, kSynPeriodMode = 0x59000b, kSynMini = 0x59000c;
constexpr u32 kModifiable = 0x17; // period, count, overrun ignore, period mode
// CQ context "status" and "st" as the manual prints them.
constexpr u32 kStatusOk = 0x0, kStatusOverflow = 0x9, kStateArmedSolicited = 0x6, kStateArmed = 0x9,
              kStateFired = 0xa;

void store_moderation(View<CqContext> to, ConstView<ModifyCqIn> select, ConstView<CqContext> from) {
    if (select.get(ModifyCqIn::select_period)) to.set(CqContext::cq_period, from.get(CqContext::cq_period));
    if (select.get(ModifyCqIn::select_count))
        to.set(CqContext::cq_max_count, from.get(CqContext::cq_max_count));
    if (select.get(ModifyCqIn::select_oi)) to.set(CqContext::oi, from.get(CqContext::oi));
    if (select.get(ModifyCqIn::select_period_mode))
        to.set(CqContext::cq_period_mode, from.get(CqContext::cq_period_mode));
}

bool is_mini_format(u32 value) {
    return value == static_cast<u32>(MiniCqeFormat::hash) ||
           value == static_cast<u32>(MiniCqeFormat::checksum) ||
           value == static_cast<u32>(MiniCqeFormat::checksum_stride);
}

// 128-byte entries, the later layout of compressed ones and rings that start inside a page are not offered.
Reply check_new(ConstView<CqContext> context) {
    if (context.get(CqContext::cqe_sz) || context.get(CqContext::cqe_compression_layout) ||
        context.get(CqContext::page_offset))
        return fail(Status::bad_parameter, kSynFormat);
    if (context.get(CqContext::cqe_comp_en) && !is_mini_format(context.get(CqContext::mini_cqe_res_format)))
        return fail(Status::bad_parameter, kSynMini);
    if (context.get(CqContext::cq_period_mode) > kPeriodFromCqe)
        return fail(Status::bad_parameter, kSynPeriodMode);
    if (context.get(CqContext::log_cq_size) > kLogMaxCqSize) return fail(Status::bad_parameter, kSynSize);
    if (context.get(CqContext::dbr_addr) & 7) return fail(Status::bad_parameter, kSynRecord);
    return kOk;
}

} // namespace

Reply create_cq(Device &device, const Request &request, const Response &response) {
    auto context = request.view<CqContext>(CreateCqIn::context);
    if (Reply reply = check_new(context); reply.status != Status::ok) return reply;
    Uar *uar = device.uars.find(context.get(CqContext::uar_page));
    if (!uar) return fail(Status::bad_resource, kSynUar);
    Eq *eq = device.eqs.find(context.get(CqContext::c_eqn));
    if (!eq) return fail(Status::bad_resource, kSynEq);
    unsigned log_size = context.get(CqContext::log_cq_size);
    auto ring = QueueMemory::make(request.bytes.subspan(CreateCqIn::pas),
                                  context.get(CqContext::log_page_size) + 12, 0, kCqeBytes << log_size);
    if (!ring) return fail(Status::bad_parameter, kSynRing);

    auto cq = std::make_unique<Cq>(device.timers, cq_timer_expired);
    cq->ring = std::move(*ring);
    cq->log_size = log_size;
    cq->record = context.get(CqContext::dbr_addr);
    cq->eqn = context.get(CqContext::c_eqn);
    std::memcpy(cq->context, context.raw(), sizeof cq->context);
    cq_apply_moderation(*cq);
    if (context.get(CqContext::cqe_comp_en))
        cq->session = std::make_unique<CqSession>(
            device.timers, cq_session_expired,
            static_cast<MiniCqeFormat>(context.get(CqContext::mini_cqe_res_format)), 1u << log_size);
    u32 number;
    if (!device.cqs.add(std::move(cq), number)) return fail(Status::no_resources, kSynFull);
    ++eq->users;
    ++uar->users;
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

Reply modify_cq(Device &device, const Request &request, const Response &) {
    auto in = request.view<ModifyCqIn>();
    Cq *cq = device.cqs.find(in.get(ModifyCqIn::cqn));
    if (!cq) return fail(Status::bad_resource, kSynNumber);
    bool resize = request.op_mod != 0; // not offered
    if (resize || in.get(ModifyCqIn::field_select) & ~kModifiable)
        return fail(Status::bad_parameter, kSynModify);
    auto context = request.view<CqContext>(ModifyCqIn::context);
    if (in.get(ModifyCqIn::select_period_mode) && context.get(CqContext::cq_period_mode) > kPeriodFromCqe)
        return fail(Status::bad_parameter, kSynPeriodMode);
    store_moderation(View<CqContext>(cq->context), in, context);
    cq_apply_moderation(*cq);
    cq_consider_event(device, *cq, in.get(ModifyCqIn::cqn)); // what waits may be due by the new values
    return kOk;
}

Reply query_cq(Device &device, const Request &request, const Response &response) {
    const Cq *cq = device.cqs.find(request.view<ObjectIn>().get(ObjectIn::number));
    if (!cq) return fail(Status::bad_resource, kSynNumber);
    auto out = response.view<CqContext>(QueryCqOut::context);
    std::memcpy(out.raw(), cq->context, sizeof cq->context);
    u32 state = cq->armed == Cq::Arm::none  ? kStateFired
                : cq->armed == Cq::Arm::any ? kStateArmed
                                            : kStateArmedSolicited;
    out.set(CqContext::status, cq->overrun ? kStatusOverflow : kStatusOk).set(CqContext::st, state);
    out.set(CqContext::producer_counter, cq->producer & kCqIndexMask);
    out.set(CqContext::consumer_counter, cq->consumer);
    return kOk;
}

Reply destroy_cq(Device &device, const Request &request, const Response &) {
    u32 number = request.view<ObjectIn>().get(ObjectIn::number);
    const Cq *cq = device.cqs.find(number);
    if (!cq) return fail(Status::bad_resource, kSynNumber);
    if (cq->users) return fail(Status::bad_resource_state, kSynUsed);
    --device.eqs.find(cq->eqn)->users;
    --device.uars.find(ConstView<CqContext>(cq->context).get(CqContext::uar_page))->users;
    device.cqs.remove(number);
    return kOk;
}

} // namespace niclab::connectx
