// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/tir.h"

#include <algorithm>
#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "connectx/packet.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynRqtSize = 0x5c0001, kSynRqtList = 0x5c0002, kSynRqtRq = 0x5c0003, kSynRqtFull = 0x5c0004,
              kSynRqtNumber = 0x5c0005, kSynRqtUsed = 0x5c0006, kSynRqtMask = 0x5c0007;
constexpr u32 kSynTirMerge = 0x5c0011, kSynTirHash = 0x5c0013, kSynTirTarget = 0x5c0014,
              kSynTirDomain = 0x5c0015, kSynTirFull = 0x5c0016, kSynTirNumber = 0x5c0017,
              kSynTirUsed = 0x5c0018, kSynTirMask = 0x5c0019, kSynTirDispatch = 0x5c001a;

using namespace hash_field;

// ---- Hash
// -----------------------------------------------------------------------------------------------------------
struct HashInput {
    u8 bytes[ToeplitzHash::kMaxInput];
    usize length = 0;
    void append(const u8 *from, usize n) {
        std::memcpy(bytes + length, from, n);
        length += n;
    }
};

// Source and destination as selected. A symmetric hash takes the smaller of the two first when both are
// selected, so that both directions of a flow look the same.
void append_pair(HashInput &input, const u8 *source, const u8 *destination, usize bytes, bool use_source,
                 bool use_destination, bool symmetric) {
    if (symmetric && use_source && use_destination && std::memcmp(source, destination, bytes) > 0)
        std::swap(source, destination);
    if (use_source) input.append(source, bytes);
    if (use_destination) input.append(destination, bytes);
}

void append_l3(HashInput &input, HashResult &result, const Tir &tir, const u8 *frame, const Packet &packet) {
    if ((tir.hash_fields & (kSrcIp | kDstIp)) == 0) return;
    bool ipv6 = packet.l3 == L3::ipv6;
    const u8 *source = frame + packet.l3_at + (ipv6 ? 8 : 12);
    usize bytes = ipv6 ? 16 : 4;
    append_pair(input, source, source + bytes, bytes, tir.hash_fields & kSrcIp, tir.hash_fields & kDstIp,
                tir.symmetric);
    result.ip = ipv6 ? 2 : 1;
}

void append_l4(HashInput &input, HashResult &result, const Tir &tir, const u8 *frame, const Packet &packet) {
    if (tir.hash_fields & kIpsecSpi) {
        if (!packet.spi) return;
        input.append(frame + packet.spi_at, 4);
        result.l4 = 3;
        return;
    }
    L4 wanted = tir.hash_udp ? L4::udp : L4::tcp;
    if ((tir.hash_fields & (kSrcPort | kDstPort)) == 0 || packet.l4 != wanted) return;
    const u8 *ports = frame + packet.l4_at;
    append_pair(input, ports, ports + 2, 2, tir.hash_fields & kSrcPort, tir.hash_fields & kDstPort,
                tir.symmetric);
    result.l4 = tir.hash_udp ? 2 : 1;
}

u32 inverted_xor8(const HashInput &input) {
    u8 sum = 0;
    for (usize i = 0; i < input.length; ++i)
        sum ^= input.bytes[i];
    return static_cast<u8>(~sum);
}

// Layer 4 of a fragment is not looked at, so all fragments of a datagram share one hash.
HashResult compute(const Tir &tir, const u8 *frame, const Packet &packet) {
    HashResult result;
    if (tir.hash == HashFunction::none || packet.l3 != (tir.hash_ipv6 ? L3::ipv6 : L3::ipv4)) return result;
    HashInput input;
    append_l3(input, result, tir, frame, packet);
    append_l4(input, result, tir, frame, packet);
    if (input.length == 0) return result;
    result.value = tir.hash == HashFunction::toeplitz ? tir.toeplitz.hash(input.bytes, input.length)
                                                      : inverted_xor8(input);
    return result;
}

void take_hash(Tir &tir, ConstView<TirContext> context) {
    tir.hash = static_cast<HashFunction>(context.get(TirContext::rx_hash_fn));
    tir.symmetric = context.get(TirContext::rx_hash_symmetric);
    tir.hash_inner = context.get(TirContext::inner_hash_fields) != 0;
    tir.hash_ipv6 = context.get(tir.hash_inner ? TirContext::inner_hash_l3_type : TirContext::hash_l3_type);
    tir.hash_udp = context.get(tir.hash_inner ? TirContext::inner_hash_l4_type : TirContext::hash_l4_type);
    tir.hash_fields = context.get(tir.hash_inner ? TirContext::inner_hash_fields : TirContext::hash_fields);
    if (tir.hash != HashFunction::toeplitz) return;
    tir.toeplitz.set_key(std::span<const u8, ToeplitzHash::kKeyBytes>(
        context.raw() + TirContext::toeplitz_key, ToeplitzHash::kKeyBytes));
}

void take_merge(Device &device, Tir &tir, ConstView<TirContext> context) {
    u32 mask = context.get(TirContext::packet_merge_mask);
    tir.merge_ipv4 = mask & TirContext::kMergeIpv4;
    tir.merge_ipv6 = mask & TirContext::kMergeIpv6;
    tir.merge_bytes = context.get(TirContext::lro_max_ip_payload_size) * TirContext::kMergeUnit;
    tir.merge_microseconds = context.get(TirContext::lro_timeout_period_usecs);
    if (mask != 0) device.lro.prepare(device);
}

bool merge_is_known(ConstView<TirContext> context) {
    u32 mask = context.get(TirContext::packet_merge_mask);
    return (mask & ~(TirContext::kMergeIpv4 | TirContext::kMergeIpv6)) == 0 &&
           context.get(TirContext::lro_timeout_period_usecs) <= kMaxLroMicroseconds;
}

bool hash_is_known(ConstView<TirContext> context) {
    constexpr u32 kKnown = kSrcIp | kDstIp | kSrcPort | kDstPort | kIpsecSpi;
    u32 outer = context.get(TirContext::hash_fields), inner = context.get(TirContext::inner_hash_fields);
    return context.get(TirContext::rx_hash_fn) <= static_cast<u32>(HashFunction::toeplitz) &&
           ((outer | inner) & ~kKnown) == 0 && (outer == 0 || inner == 0);
}

// ---- Indirection tables
// -----------------------------------------------------------------------------------------------
Reply read_list(Device &device, const Request &request, u32 max_size, std::vector<u32> &rqs) {
    auto context = request.view<RqtContext>(CreateRqtIn::context);
    u32 size = context.get(RqtContext::rqt_actual_size);
    if (size == 0 || size > max_size) return fail(Status::bad_parameter, kSynRqtSize);
    usize at = CreateRqtIn::context + RqtContext::rq_num;
    if (!request.has(at, usize{size} * 4)) return fail(Status::bad_parameter, kSynRqtList);
    rqs.resize(size);
    for (u32 i = 0; i < size; ++i) {
        rqs[i] = load_be32(request.bytes.data() + at + 4 * i) & 0xffffff;
        if (!device.rqs.find(rqs[i])) return fail(Status::bad_resource, kSynRqtRq);
    }
    return kOk;
}

void use_rqs(Device &device, const std::vector<u32> &rqs, int change) {
    for (u32 rqn : rqs)
        device.rqs.find(rqn)->users += static_cast<u32>(change);
}

u32 *target_users(Device &device, TirDispatch dispatch, u32 target) {
    if (dispatch == TirDispatch::direct) {
        Rq *rq = device.rqs.find(target);
        return rq ? &rq->users : nullptr;
    }
    Rqt *rqt = device.rqts.find(target);
    return rqt ? &rqt->users : nullptr;
}

} // namespace

HashResult tir_hash(const Tir &tir, const u8 *frame, const Packet &packet, const Packet *inner) {
    if (!tir.hash_inner) return compute(tir, frame, packet);
    return inner ? compute(tir, frame, *inner) : HashResult{};
}

u32 tir_select(const Device &device, const Tir &tir, u32 hash) {
    if (tir.dispatch == TirDispatch::direct) return tir.target;
    const Rqt *rqt = device.rqts.find(tir.target);
    return rqt ? rqt->rqs[hash % rqt->rqs.size()] : 0;
}

Reply create_rqt(Device &device, const Request &request, const Response &response) {
    u32 max_size = request.view<RqtContext>(CreateRqtIn::context).get(RqtContext::rqt_max_size);
    if (max_size == 0 || max_size > kMaxRqtSize) return fail(Status::bad_parameter, kSynRqtSize);
    auto rqt = std::make_unique<Rqt>();
    rqt->max_size = max_size;
    if (Reply reply = read_list(device, request, max_size, rqt->rqs); reply.status != Status::ok)
        return reply;
    u32 number;
    Rqt *added = device.rqts.add(std::move(rqt), number);
    if (!added) return fail(Status::no_resources, kSynRqtFull);
    use_rqs(device, added->rqs, 1);
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

// The new list replaces the old one between two frames.
Reply modify_rqt(Device &device, const Request &request, const Response &) {
    auto in = request.view<ModifyRqtIn>();
    Rqt *rqt = device.rqts.find(in.get(ModifyRqtIn::number));
    if (!rqt) return fail(Status::bad_resource, kSynRqtNumber);
    u64 mask = in.get(ModifyRqtIn::bitmask);
    if (mask & ~ModifyRqtIn::kList) return fail(Status::bad_parameter, kSynRqtMask);
    if (mask == 0) return kOk;
    std::vector<u32> rqs;
    if (Reply reply = read_list(device, request, rqt->max_size, rqs); reply.status != Status::ok)
        return reply;
    use_rqs(device, rqs, 1);
    use_rqs(device, rqt->rqs, -1);
    rqt->rqs = std::move(rqs);
    return kOk;
}

Reply query_rqt(Device &device, const Request &request, const Response &response) {
    const Rqt *rqt = device.rqts.find(request.view<ObjectIn>().get(ObjectIn::number));
    if (!rqt) return fail(Status::bad_resource, kSynRqtNumber);
    auto out = response.view<RqtContext>(QueryRqtOut::context);
    out.set(RqtContext::rqt_max_size, rqt->max_size);
    out.set(RqtContext::rqt_actual_size, static_cast<u32>(rqt->rqs.size()));
    usize at = QueryRqtOut::context + RqtContext::rq_num;
    for (usize i = 0; i < rqt->rqs.size() && at + 4 * i + 4 <= response.bytes.size(); ++i)
        store_be32(response.bytes.data() + at + 4 * i, rqt->rqs[i]);
    return kOk;
}

Reply destroy_rqt(Device &device, const Request &request, const Response &) {
    u32 number = request.view<ObjectIn>().get(ObjectIn::number);
    Rqt *rqt = device.rqts.find(number);
    if (!rqt) return fail(Status::bad_resource, kSynRqtNumber);
    if (rqt->users) return fail(Status::bad_resource_state, kSynRqtUsed);
    use_rqs(device, rqt->rqs, -1);
    device.rqts.remove(number);
    return kOk;
}

// tunneled_offload_en changes nothing: what the completion tells of a tunnel it tells of every one.
Reply create_tir(Device &device, const Request &request, const Response &response) {
    auto context = request.view<TirContext>(CreateTirIn::context);
    if (!merge_is_known(context)) return fail(Status::bad_parameter, kSynTirMerge);
    if (!hash_is_known(context)) return fail(Status::bad_parameter, kSynTirHash);
    u32 dispatch = context.get(TirContext::disp_type);
    if (dispatch > static_cast<u32>(TirDispatch::indirect))
        return fail(Status::bad_parameter, kSynTirDispatch);

    auto tir = std::make_unique<Tir>();
    tir->dispatch = static_cast<TirDispatch>(dispatch);
    bool direct = tir->dispatch == TirDispatch::direct;
    tir->target = context.get(direct ? TirContext::inline_rqn : TirContext::indirect_table);
    tir->transport_domain = context.get(TirContext::transport_domain);
    u32 *users = target_users(device, tir->dispatch, tir->target);
    if (!users) return fail(Status::bad_resource, kSynTirTarget);
    TransportDomain *domain = device.transport_domains.find(tir->transport_domain);
    if (!domain) return fail(Status::bad_resource, kSynTirDomain);
    take_hash(*tir, context);
    take_merge(device, *tir, context);
    std::memcpy(tir->context, context.raw(), sizeof tir->context);
    u32 number;
    if (!device.tirs.add(std::move(tir), number)) return fail(Status::no_resources, kSynTirFull);
    ++*users;
    ++domain->users;
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

Reply modify_tir(Device &device, const Request &request, const Response &) {
    auto in = request.view<ModifyTirIn>();
    auto context = request.view<TirContext>(ModifyTirIn::context);
    Tir *tir = device.tirs.find(in.get(ModifyTirIn::number));
    if (!tir) return fail(Status::bad_resource, kSynTirNumber);
    u64 mask = in.get(ModifyTirIn::bitmask);
    if (mask & ~(ModifyTirIn::kPacketMerge | ModifyTirIn::kHash | ModifyTirIn::kSelfLoopback))
        return fail(Status::bad_parameter, kSynTirMask);
    if (mask & ModifyTirIn::kPacketMerge && !merge_is_known(context))
        return fail(Status::bad_parameter, kSynTirMerge);
    if (mask & ModifyTirIn::kHash && !hash_is_known(context)) return fail(Status::bad_parameter, kSynTirHash);

    View<TirContext> kept(tir->context);
    if (mask & ModifyTirIn::kSelfLoopback)
        kept.set(TirContext::self_lb_block, context.get(TirContext::self_lb_block));
    if (mask & ModifyTirIn::kPacketMerge) {
        take_merge(device, *tir, context);
        for (auto field : {TirContext::packet_merge_mask, TirContext::lro_max_ip_payload_size,
                           TirContext::lro_timeout_period_usecs})
            kept.set(field, context.get(field));
    }
    if (mask & ModifyTirIn::kHash) {
        take_hash(*tir, context);
        for (auto field : {TirContext::rx_hash_symmetric, TirContext::rx_hash_fn, TirContext::hash_l3_type,
                           TirContext::hash_l4_type, TirContext::hash_fields, TirContext::inner_hash_l3_type,
                           TirContext::inner_hash_l4_type, TirContext::inner_hash_fields})
            kept.set(field, context.get(field));
        std::memcpy(tir->context + TirContext::toeplitz_key, context.raw() + TirContext::toeplitz_key,
                    TirContext::kToeplitzKeyBytes);
    }
    return kOk;
}

Reply query_tir(Device &device, const Request &request, const Response &response) {
    const Tir *tir = device.tirs.find(request.view<ObjectIn>().get(ObjectIn::number));
    if (!tir) return fail(Status::bad_resource, kSynTirNumber);
    std::memcpy(response.bytes.data() + QueryTirOut::context, tir->context, sizeof tir->context);
    return kOk;
}

Reply destroy_tir(Device &device, const Request &request, const Response &) {
    u32 number = request.view<ObjectIn>().get(ObjectIn::number);
    Tir *tir = device.tirs.find(number);
    if (!tir) return fail(Status::bad_resource, kSynTirNumber);
    if (tir->users) return fail(Status::bad_resource_state, kSynTirUsed);
    --*target_users(device, tir->dispatch, tir->target);
    --device.transport_domains.find(tir->transport_domain)->users;
    device.tirs.remove(number);
    return kOk;
}

} // namespace niclab::connectx
