// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/eq.h"

#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "connectx/link_bytes.h"
#include "spec/init_segment.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynSize = 0x560001, kSynVector = 0x560002, kSynUar = 0x560003, kSynPages = 0x560004,
              kSynFull = 0x560005, kSynUnknown = 0x560006, kSynInUse = 0x560007;
constexpr u32 kCountMask = 0xffffff; // producer and consumer are 24 bits wide
constexpr usize kEventData = 0x20;

u32 outstanding(const Eq &eq) { return (eq.producer - eq.consumer) & kCountMask; }

void fire(Device &device, u32 eqn, Eq &eq) {
    if (eq.state == EqState::armed) eq.state = EqState::fired;
    device.counters.add(Counter::interrupts);
    device.counters.add(Counter::interrupt_link_bytes, kInterruptLinkBytes);
    device.trace(CX_TRACE_INTERRUPT, eq.vector, eqn, 0);
    device.ops->interrupt(device.host, eq.vector);
}

void fail_queue(Device &device, u32 eqn, Eq &eq, Eq::Health health) {
    bool overflow = health == Eq::Health::overflow;
    eq.health = health;
    if (overflow) device.counters.add(Counter::eq_overruns);
    device.hca.report(overflow ? HealthSyndrome::eq_overrun : HealthSyndrome::eq_error);
    device.trace(CX_TRACE_STATE, CX_EQ, eqn, static_cast<u64>(health));
}

// The last word ends with the owner bit: 0 on the first lap, 1 on the second.
bool write_entry(Device &device, Eq &eq, u8 (&eqe)[kEqeBytes]) {
    View<Eqe>(eqe).set(Eqe::owner, eq.producer >> eq.log_size & 1);
    usize at = (eq.producer & ((1u << eq.log_size) - 1)) * kEqeBytes;
    return eq.ring.write_entry(device.dma, DmaPurpose::eqe, at, eqe, kEqeBytes);
}

void post(Device &device, u32 eqn, Eq &eq, u8 (&eqe)[kEqeBytes]) {
    if (eq.health != Eq::Health::good) return;
    if (!eq.ignore_overrun && outstanding(eq) >= 1u << eq.log_size) {
        fail_queue(device, eqn, eq, Eq::Health::overflow);
        return;
    }
    if (!write_entry(device, eq, eqe)) {
        fail_queue(device, eqn, eq, Eq::Health::write_failure);
        return;
    }
    eq.producer = (eq.producer + 1) & kCountMask;
    device.counters.add(Counter::events);
    if (eq.state != EqState::fired) fire(device, eqn, eq);
}

EqState initial_state(u32 requested) {
    auto state = static_cast<EqState>(requested);
    return state == EqState::armed || state == EqState::always_armed ? state : EqState::fired;
}

} // namespace

bool has_listener(const Device &device, Event event) {
    bool found = false;
    device.eqs.for_each([&](u32, const Eq &eq) { found |= eq.events >> static_cast<u8>(event) & 1; });
    return found;
}

void post_async(Device &device, Event event, u8 sub_type, std::span<const u8> data) {
    u8 eqe[kEqeBytes] = {};
    View<Eqe>(eqe).set(Eqe::type, static_cast<u32>(event)).set(Eqe::sub_type, sub_type);
    std::memcpy(eqe + kEventData, data.data(), std::min(data.size(), Eqe::owner.dword - kEventData));
    device.eqs.for_each([&](u32 eqn, Eq &eq) {
        if (!(eq.events >> static_cast<u8>(event) & 1)) return;
        device.trace(CX_TRACE_EVENT, eqn, static_cast<u64>(event) << 8 | sub_type,
                     load_be32(eqe + kEventData), eqe);
        post(device, eqn, eq, eqe);
    });
}

void post_completion(Device &device, u32 eqn, u32 cqn) {
    Eq *eq = device.eqs.find(eqn);
    if (!eq) return;
    u8 eqe[kEqeBytes] = {};
    View<Eqe>(eqe).set(Eqe::completion_cqn, cqn);
    device.trace(CX_TRACE_EVENT, eqn, static_cast<u64>(Event::completion) << 8, cqn, eqe);
    post(device, eqn, *eq, eqe);
}

void eq_doorbell(Device &device, u32 uar_page, u32 value, bool arm) {
    u8 raw[EqDoorbell::bytes];
    store_be32(raw, value);
    ConstView<EqDoorbell> doorbell(raw);
    u32 eqn = doorbell.get(EqDoorbell::eqn), consumer = doorbell.get(EqDoorbell::ci);
    Eq *eq = device.eqs.find(eqn);
    // The consumer index only moves forward, and not beyond what was produced.
    bool valid = eq && eq->uar_page == uar_page &&
                 (eq->ignore_overrun || ((consumer - eq->consumer) & kCountMask) <= outstanding(*eq));
    if (!valid) {
        device.counters.add(Counter::doorbells_invalid);
        device.guest_error("EQ doorbell with a wrong queue, page or consumer index", value);
        return;
    }
    eq->consumer = consumer;
    if (!arm || eq->health != Eq::Health::good) return;
    if (eq->state == EqState::fired) eq->state = EqState::armed;
    // Entries that came after the guest last looked would otherwise wait for the next event.
    if (outstanding(*eq) != 0) fire(device, eqn, *eq);
}

Reply create_eq(Device &device, const Request &request, const Response &response) {
    auto context = request.view<EqContext>(CreateEqIn::context);
    auto eq = std::make_unique<Eq>();
    eq->log_size = context.get(EqContext::log_eq_size);
    eq->vector = context.get(EqContext::intr);
    eq->uar_page = context.get(EqContext::uar_page);
    eq->events = load_be64(request.bytes.data() + CreateEqIn::event_bitmask);
    eq->ignore_overrun = context.get(EqContext::oi);
    eq->state = initial_state(context.get(EqContext::st));
    std::memcpy(eq->context, context.raw(), sizeof(eq->context));
    if (eq->log_size > device.hca.caps.get(GeneralCaps::log_max_eq_sz))
        return fail(Status::bad_parameter, kSynSize);
    if (eq->vector >= device.config.vectors) return fail(Status::bad_parameter, kSynVector);
    Uar *uar = device.uars.find(eq->uar_page);
    if (!uar) return fail(Status::bad_resource, kSynUar);
    constexpr unsigned kLogSmallestPage = 12, kOffsetUnit = 64;
    auto ring = QueueMemory::make(
        request.bytes.subspan(CreateEqIn::pas), context.get(EqContext::log_page_size) + kLogSmallestPage,
        context.get(EqContext::page_offset) * kOffsetUnit, kEqeBytes << eq->log_size);
    if (!ring) return fail(Status::bad_parameter, kSynPages);
    eq->ring = std::move(*ring);
    u32 eqn;
    if (!device.eqs.add(std::move(eq), eqn)) return fail(Status::limits_exceeded, kSynFull);
    ++uar->users;
    response.view<CreateEqOut>().set(CreateEqOut::eq_number, eqn);
    return kOk;
}

Reply destroy_eq(Device &device, const Request &request, const Response &) {
    u32 eqn = request.view<EqNumberIn>().get(EqNumberIn::eq_number);
    Eq *eq = device.eqs.find(eqn);
    if (!eq) return fail(Status::bad_resource, kSynUnknown);
    if (eq->users > 0) return fail(Status::bad_resource_state, kSynInUse);
    --device.uars.find(eq->uar_page)->users;
    device.eqs.remove(eqn);
    return kOk;
}

Reply query_eq(Device &device, const Request &request, const Response &response) {
    const Eq *eq = device.eqs.find(request.view<EqNumberIn>().get(EqNumberIn::eq_number));
    if (!eq) return fail(Status::bad_resource, kSynUnknown);
    std::memcpy(response.bytes.data() + QueryEqOut::context, eq->context, sizeof(eq->context));
    response.view<EqContext>(QueryEqOut::context)
        .set(EqContext::status, static_cast<u32>(eq->health))
        .set(EqContext::st, static_cast<u32>(eq->state))
        .set(EqContext::consumer_counter, eq->consumer)
        .set(EqContext::producer_counter, eq->producer);
    store_be64(response.bytes.data() + CreateEqIn::event_bitmask, eq->events);
    return kOk;
}

} // namespace niclab::connectx
