// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/cq_event.h"

#include "connectx/device.h"

namespace niclab::connectx {
namespace {

constexpr u64 kNanosecondsPerPeriodUnit = 1000;

// `ahead` is newer than `behind` on the 24-bit circle.
bool is_beyond(u32 ahead, u32 behind) {
    u32 distance = (ahead - behind) & kCqIndexMask;
    return distance != 0 && distance <= kCqIndexMask / 2;
}

// An arm request stands and there is an entry that it asks for.
bool event_wanted(const Cq &cq) {
    switch (cq.armed) {
    case Cq::Arm::none:
        return false;
    case Cq::Arm::any:
        return is_beyond(cq.producer, cq.armed_index);
    case Cq::Arm::solicited:
        return is_beyond(cq.solicited_end, cq.armed_index);
    }
    return false;
}

void fire(Device &device, Cq &cq, u32 cqn) {
    cq.armed = Cq::Arm::none;
    cq.timer.stop();
    cq.last_event_ns = device.now_ns();
    post_completion(device, cq.eqn, cqn);
}

} // namespace

// A period or a count of zero switches moderation off.
void cq_apply_moderation(Cq &cq) {
    ConstView<CqContext> context(cq.context);
    u32 period = context.get(CqContext::cq_period), count = context.get(CqContext::cq_max_count);
    bool on = period != 0 && count != 0;
    cq.period_ns = on ? period * kNanosecondsPerPeriodUnit : 0;
    cq.most_waiting = on ? count : 0;
    cq.period_from_cqe = context.get(CqContext::cq_period_mode) == kPeriodFromCqe;
}

// Held back is an event only while fewer than `count` entries wait and the period has not passed since the
// last event or since the last entry, as the mode says.
void cq_consider_event(Device &device, Cq &cq, u32 cqn) {
    if (!event_wanted(cq)) return;
    u32 waiting = (cq.producer - cq.armed_index) & kCqIndexMask;
    if (!cq.moderated() || waiting >= cq.most_waiting) return fire(device, cq, cqn);
    u64 due = (cq.period_from_cqe ? cq.last_entry_ns : cq.last_event_ns) + cq.period_ns;
    if (due <= device.now_ns()) return fire(device, cq, cqn);
    cq.timer.start(due, cqn);
}

void cq_written(Device &device, Cq &cq, u32 cqn) {
    if (cq.moderated() && cq.period_from_cqe) cq.last_entry_ns = device.now_ns();
    if (cq.armed != Cq::Arm::none) cq_consider_event(device, cq, cqn);
}

// An entry that the guest had not seen when it armed must raise the event as any other would, or both sides
// wait for ever.
void cq_arm(Device &device, u32 word0, u32 cqn) {
    Cq *cq = device.cqs.find(cqn);
    if (!cq) {
        device.counters.add(Counter::doorbells_invalid);
        device.guest_error("arm of a completion queue that does not exist", cqn);
        return;
    }
    bool solicited_only = word0 >> 24 & 1;
    cq->armed = solicited_only ? Cq::Arm::solicited : Cq::Arm::any;
    cq->armed_index = word0 & kCqIndexMask;
    cq_consider_event(device, *cq, cqn);
}

// Whether the event is still wanted is looked at again: the guest may have armed anew or have changed the
// period in the meantime.
void cq_timer_expired(Device &device, u32 cqn) {
    Cq *cq = device.cqs.find(cqn);
    if (cq) cq_consider_event(device, *cq, cqn);
}

} // namespace niclab::connectx
