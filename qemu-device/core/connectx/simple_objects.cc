// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/simple_objects.h"

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "spec/command.h"
#include "spec/hca.h"
#include "spec/objects.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynUar = 0x570100, kSynPd = 0x570200, kSynTd = 0x570300, kSynQCounter = 0x570400,
              kSynTis = 0x570500;
// Added to the base of the kind.
constexpr u32 kFull = 1, kUnknown = 2, kInUse = 3, kBadReference = 4, kBadMask = 5;

template <class T>
Reply alloc(ObjectTable<T> &table, const Response &response, u32 syndromes) {
    u32 number;
    if (!table.add(std::make_unique<T>(), number)) return fail(Status::limits_exceeded, syndromes + kFull);
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

template <class T>
Reply dealloc(ObjectTable<T> &table, u32 number, u32 syndromes) {
    T *object = table.find(number);
    if (!object) return fail(Status::bad_resource, syndromes + kUnknown);
    if (object->users > 0) return fail(Status::bad_resource_state, syndromes + kInUse);
    table.remove(number);
    return kOk;
}

u32 number_in(const Request &request) { return request.view<ObjectIn>().get(ObjectIn::number); }

} // namespace

Reply alloc_uar(Device &device, const Request &, const Response &response) {
    return alloc(device.uars, response, kSynUar);
}
Reply dealloc_uar(Device &device, const Request &request, const Response &) {
    return dealloc(device.uars, number_in(request), kSynUar);
}
Reply alloc_pd(Device &device, const Request &, const Response &response) {
    return alloc(device.pds, response, kSynPd);
}
Reply dealloc_pd(Device &device, const Request &request, const Response &) {
    return dealloc(device.pds, number_in(request), kSynPd);
}
Reply alloc_transport_domain(Device &device, const Request &, const Response &response) {
    return alloc(device.transport_domains, response, kSynTd);
}
Reply dealloc_transport_domain(Device &device, const Request &request, const Response &) {
    return dealloc(device.transport_domains, number_in(request), kSynTd);
}

Reply alloc_q_counter(Device &device, const Request &, const Response &response) {
    return alloc(device.q_counters, response, kSynQCounter);
}
Reply dealloc_q_counter(Device &device, const Request &request, const Response &) {
    return dealloc(device.q_counters,
                   request.view<DeallocQCounterIn>().get(DeallocQCounterIn::counter_set_id), kSynQCounter);
}
Reply query_q_counter(Device &device, const Request &request, const Response &response) {
    auto in = request.view<QueryQCounterIn>();
    QCounter *counter = device.q_counters.find(in.get(QueryQCounterIn::counter_set_id));
    if (!counter) return fail(Status::bad_resource, kSynQCounter + kUnknown);
    response.view<QueryQCounterOut>().set(QueryQCounterOut::out_of_buffer, counter->out_of_buffer);
    if (in.get(QueryQCounterIn::clear)) counter->out_of_buffer = 0;
    return kOk;
}

Reply create_tis(Device &device, const Request &request, const Response &response) {
    auto context = request.view<TisContext>(CreateTisIn::context);
    u32 td = context.get(TisContext::transport_domain);
    TransportDomain *domain = device.transport_domains.find(td);
    if (!domain) return fail(Status::bad_resource, kSynTis + kBadReference);
    Reply reply = alloc(device.tises, response, kSynTis);
    if (reply.status != Status::ok) return reply;
    Tis &tis = *device.tises.find(response.view<ObjectOut>().get(ObjectOut::number));
    tis.prio = static_cast<u8>(context.get(TisContext::prio));
    tis.td = td;
    ++domain->users;
    return kOk;
}
Reply modify_tis(Device &device, const Request &request, const Response &) {
    auto in = request.view<ModifyTirIn>();
    Tis *tis = device.tises.find(in.get(ModifyTirIn::number));
    if (!tis) return fail(Status::bad_resource, kSynTis + kUnknown);
    constexpr u64 kPrio = 1; // the only thing that may change: the card belongs to no bond
    if (in.get(ModifyTirIn::bitmask) & ~kPrio) return fail(Status::bad_parameter, kSynTis + kBadMask);
    if (in.get(ModifyTirIn::bitmask) & kPrio)
        tis->prio = static_cast<u8>(request.view<TisContext>(ModifyTirIn::context).get(TisContext::prio));
    return kOk;
}
Reply destroy_tis(Device &device, const Request &request, const Response &) {
    Tis *tis = device.tises.find(number_in(request));
    u32 td = tis ? tis->td : 0;
    Reply reply = dealloc(device.tises, number_in(request), kSynTis);
    if (reply.status == Status::ok) --device.transport_domains.find(td)->users;
    return reply;
}
Reply query_tis(Device &device, const Request &request, const Response &response) {
    Tis *tis = device.tises.find(number_in(request));
    if (!tis) return fail(Status::bad_resource, kSynTis + kUnknown);
    response.view<TisContext>(QueryTisOut::context)
        .set(TisContext::prio, tis->prio)
        .set(TisContext::transport_domain, tis->td);
    return kOk;
}

} // namespace niclab::connectx
