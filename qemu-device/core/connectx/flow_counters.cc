// SPDX-License-Identifier: GPL-2.0-or-later
// Flow counters: given out one by one, read one by one or in runs.
#include "connectx/device.h"
#include "connectx/handlers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynBulk = 0x5d0031, kSynFull = 0x5d0032, kSynUnknown = 0x5d0033, kSynUsed = 0x5d0034,
              kSynRun = 0x5d0035, kSynRoom = 0x5d0036;
constexpr u32 kRunStep = 4; // runs start at, and are as long as, a multiple of this

void report(FlowCounter *counter, u8 *at, bool clear) {
    if (!counter) return;
    store_be64(at, counter->packets);
    store_be64(at + 8, counter->octets);
    if (clear) counter->packets = counter->octets = 0;
}

} // namespace

Reply alloc_flow_counter(Device &device, const Request &request, const Response &response) {
    auto in = request.view<AllocFlowCounterIn>();
    if (in.get(AllocFlowCounterIn::flow_counter_bulk) ||
        in.get(AllocFlowCounterIn::flow_counter_bulk_log_size))
        return fail(Status::bad_parameter, kSynBulk);
    u32 number;
    if (!device.steering.counters.add(std::make_unique<FlowCounter>(), number))
        return fail(Status::limits_exceeded, kSynFull);
    response.view<AllocFlowCounterOut>().set(AllocFlowCounterOut::flow_counter_id, number);
    return kOk;
}

Reply dealloc_flow_counter(Device &device, const Request &request, const Response &) {
    u32 number = request.view<AllocFlowCounterOut>().get(AllocFlowCounterOut::flow_counter_id);
    FlowCounter *counter = device.steering.counters.find(number);
    if (!counter) return fail(Status::bad_resource, kSynUnknown);
    if (counter->users) return fail(Status::bad_resource_state, kSynUsed);
    device.steering.counters.remove(number);
    return kOk;
}

// In a run, numbers that belong to no counter read as zeros.
Reply query_flow_counter(Device &device, const Request &request, const Response &response) {
    auto in = request.view<QueryFlowCounterIn>();
    u32 first = in.get(QueryFlowCounterIn::flow_counter_id),
        run = in.get(QueryFlowCounterIn::num_of_counters);
    u32 count = run ? run : 1;
    if (run % kRunStep || (run && first % kRunStep) || run > 1u << kLogMaxFlowCounterBulk)
        return fail(Status::bad_parameter, kSynRun);
    if (!run && !device.steering.counters.find(first)) return fail(Status::bad_resource, kSynUnknown);
    constexpr usize kEach = QueryFlowCounterOut::statistics_bytes;
    if (response.bytes.size() < QueryFlowCounterOut::statistics + count * kEach)
        return fail(Status::bad_output_length, kSynRoom);
    u8 *at = response.bytes.data() + QueryFlowCounterOut::statistics;
    for (u32 i = 0; i < count; ++i)
        report(device.steering.counters.find(first + i), at + i * kEach, in.get(QueryFlowCounterIn::clear));
    return kOk;
}

} // namespace niclab::connectx
