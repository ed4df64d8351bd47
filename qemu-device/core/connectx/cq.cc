// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/cq.h"

#include <cstring>

#include "connectx/cq_event.h"
#include "connectx/device.h"
#include "connectx/handlers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynFormat = 0x590001, kSynSize = 0x590002, kSynEq = 0x590003, kSynUar = 0x590004,
              kSynRing = 0x590005, kSynRecord = 0x590006, kSynFull = 0x590007, kSynNumber = 0x590008,
              kSynUsed = 0x590009, kSynModify = 0x59000a, kSynPeriodMode = 0x59000b;
constexpr u8 kErrorOverrun = 1, kErrorAccess = 2;
constexpr u32 kModifiable = 0x17; // period, count, overrun ignore, period mode
// CQ context "status" and "st" as the manual prints them.
constexpr u32 kStatusOk = 0x0, kStatusOverflow = 0x9, kStateArmedSolicited = 0x6, kStateArmed = 0x9,
              kStateFired = 0xa;

// Entries that the guest has not consumed yet. A consumer index ahead of the producer counts as a full ring.
u32 unconsumed(const Cq &cq) { return (cq.producer - cq.consumer) & kCqIndexMask; }

void stop(Device &device, Cq &cq, u32 cqn, u8 syndrome) {
    cq.overrun = true;
    device.counters.add(syndrome == kErrorOverrun ? Counter::cq_overruns : Counter::queue_errors);
    device.trace(CX_TRACE_STATE, CX_CQ, cqn, syndrome);
    u8 data[12] = {};
    store_be32(data, cqn); // EQE 0x20
    data[11] = syndrome;   // EQE 0x2b
    post_async(device, Event::cq_error, 0, data);
}

// The consumer index is read from guest memory only when the ring looks full by the last one seen.
bool has_room(Device &device, Cq &cq) {
    u32 size = 1u << cq.log_size;
    if (unconsumed(cq) < size) return true;
    u8 word[4];
    if (!device.dma.read(DmaPurpose::record, cq.record, word, sizeof word)) return false;
    cq.consumer = load_be32(word) & kCqIndexMask;
    return unconsumed(cq) < size;
}

// The owner byte must become visible after the rest of the entry. One 64-byte copy does not promise that:
// memory copies may store their pieces in any order. So the last word, an aligned store everywhere, follows
// the body.
bool write_entry(Device &device, const Cq &cq, const u8 *cqe) {
    constexpr usize kBody = kCqeBytes - 4;
    usize at = usize{cq.producer & ((1u << cq.log_size) - 1)} * kCqeBytes;
    return cq.ring.write(device.dma, DmaPurpose::cqe, at, cqe, kBody) &&
           cq.ring.write(device.dma, DmaPurpose::cqe, at + kBody, cqe + kBody, 4);
}

bool is_error(u8 opcode) {
    return opcode == static_cast<u8>(CqeOpcode::requester_error) ||
           opcode == static_cast<u8>(CqeOpcode::responder_error);
}

void store_moderation(View<CqContext> to, ConstView<ModifyCqIn> select, ConstView<CqContext> from) {
    if (select.get(ModifyCqIn::select_period)) to.set(CqContext::cq_period, from.get(CqContext::cq_period));
    if (select.get(ModifyCqIn::select_count))
        to.set(CqContext::cq_max_count, from.get(CqContext::cq_max_count));
    if (select.get(ModifyCqIn::select_oi)) to.set(CqContext::oi, from.get(CqContext::oi));
    if (select.get(ModifyCqIn::select_period_mode))
        to.set(CqContext::cq_period_mode, from.get(CqContext::cq_period_mode));
}

} // namespace

bool post_cqe(Device &device, u32 cqn, std::span<u8, kCqeBytes> cqe) {
    Cq *cq = device.cqs.find(cqn);
    if (!cq || cq->overrun) return false;
    bool ignore_overrun = ConstView<CqContext>(cq->context).get(CqContext::oi);
    if (!ignore_overrun && !has_room(device, *cq)) {
        stop(device, *cq, cqn, kErrorOverrun);
        return false;
    }
    View<Cqe> entry(cqe.data());
    entry.set(Cqe::owner, cq->producer >> cq->log_size);
    if (!write_entry(device, *cq, cqe.data())) {
        stop(device, *cq, cqn, kErrorAccess);
        return false;
    }
    u8 opcode = static_cast<u8>(entry.get(Cqe::opcode));
    bool solicited = is_error(opcode) || entry.get(Cqe::solicited);
    ++cq->producer;
    if (solicited) cq->solicited_end = cq->producer;
    device.counters.add(is_error(opcode) ? Counter::error_completions : Counter::completions);
    device.trace(CX_TRACE_COMPLETION, cqn, u64{opcode} << 8 | (is_error(opcode) ? cqe[0x37] : 0),
                 entry.get(Cqe::wqe_counter));
    cq_written(device, *cq, cqn);
    return true;
}

Reply create_cq(Device &device, const Request &request, const Response &response) {
    auto context = request.view<CqContext>(CreateCqIn::context);
    // 128-byte entries, compression and rings that start inside a page are not offered.
    if (context.get(CqContext::cqe_sz) || context.get(CqContext::cqe_comp_en) ||
        context.get(CqContext::page_offset))
        return fail(Status::bad_parameter, kSynFormat);
    if (context.get(CqContext::cq_period_mode) > kPeriodFromCqe)
        return fail(Status::bad_parameter, kSynPeriodMode);
    unsigned log_size = context.get(CqContext::log_cq_size);
    if (log_size > kLogMaxCqSize) return fail(Status::bad_parameter, kSynSize);
    Uar *uar = device.uars.find(context.get(CqContext::uar_page));
    if (!uar) return fail(Status::bad_resource, kSynUar);
    Eq *eq = device.eqs.find(context.get(CqContext::c_eqn));
    if (!eq) return fail(Status::bad_resource, kSynEq);
    u64 record = context.get(CqContext::dbr_addr);
    if (record & 7) return fail(Status::bad_parameter, kSynRecord);
    auto ring = QueueMemory::make(request.bytes.subspan(CreateCqIn::pas),
                                  context.get(CqContext::log_page_size) + 12, 0, kCqeBytes << log_size);
    if (!ring) return fail(Status::bad_parameter, kSynRing);

    auto cq = std::make_unique<Cq>(device.timers, cq_timer_expired);
    cq->ring = std::move(*ring);
    cq->log_size = log_size;
    cq->record = record;
    cq->eqn = context.get(CqContext::c_eqn);
    std::memcpy(cq->context, context.raw(), sizeof cq->context);
    cq_apply_moderation(*cq);
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
