// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/vport.h"

#include <algorithm>
#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "connectx/packet.h"
#include "spec/hca.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynOpMod = 0x550001, kSynOther = 0x550002, kSynListType = 0x550003, kSynSelect = 0x550004,
              kSynMtu = 0x550005, kSynAddress = 0x550006, kSynListSize = 0x550007, kSynListShort = 0x550008,
              kSynListEntry = 0x550009;
constexpr u64 kMacMask = (u64{1} << 48) - 1, kMulticastBit = u64{1} << 40, kVlanMask = u64{0xfff} << 32;
constexpr usize kListEntryBytes = 8;

// Only the card's own vport exists; no e-switch is offered.
template <class Layout>
bool other_vport(const Request &request) {
    auto in = request.view<Layout>();
    return in.get(Layout::other_vport) != 0 || in.get(Layout::vport_number) != 0;
}

u32 list_limit(const Hca &hca, u32 type) {
    switch (type) {
    case Vport::unicast_list:
        return 1u << hca.caps.get(GeneralCaps::log_max_current_uc_list);
    case Vport::multicast_list:
        return 1u << hca.caps.get(GeneralCaps::log_max_current_mc_list);
    default:
        return 1u << hca.caps.get(GeneralCaps::log_max_vlan_list);
    }
}

bool valid_entry(u32 type, u64 entry) {
    if (type == Vport::vlan_list) return (entry & ~kVlanMask) == 0;
    bool multicast = (entry & kMulticastBit) != 0;
    return (entry & ~kMacMask) == 0 && multicast == (type == Vport::multicast_list);
}

using Modify = ModifyNicVportContextIn;
using Context = ConstView<NicVportContext>;

// Bits of field_select that the card knows. RoCE and change events are not offered.
constexpr u32 kKnownSelect =
    1u << Modify::select_mtu.lo | 1u << Modify::select_promisc.lo |
    1u << Modify::select_permanent_address.lo | 1u << Modify::select_addresses_list.lo |
    1u << Modify::select_disable_uc_local_lb.lo | 1u << Modify::select_disable_mc_local_lb.lo;
constexpr usize kFieldSelectAt = 0x0c;

Reply read_list(const Device &device, const Request &request, Vport::Context &next) {
    Context in = request.view<NicVportContext>(Modify::context);
    u32 type = in.get(NicVportContext::allowed_list_type), size = in.get(NicVportContext::allowed_list_size);
    if (type >= Vport::list_count) return fail(Status::bad_parameter, kSynListType);
    if (size > list_limit(device.hca, type)) return fail(Status::bad_parameter, kSynListSize);
    constexpr usize kListAt = Modify::context + NicVportContext::list;
    if (!request.has(kListAt, kListEntryBytes * size)) return fail(Status::bad_input_length, kSynListShort);
    std::vector<u64> &list = next.lists[type];
    list.clear();
    for (u32 i = 0; i < size; ++i) {
        u64 entry = load_be64(request.bytes.data() + kListAt + kListEntryBytes * i);
        if (!valid_entry(type, entry)) return fail(Status::bad_parameter, kSynListEntry);
        list.push_back(entry);
    }
    return kOk;
}

Reply read_context(const Device &device, const Request &request, Vport::Context &next) {
    auto select = request.view<Modify>();
    Context in = request.view<NicVportContext>(Modify::context);
    if (select.get(Modify::select_mtu)) {
        next.mtu = in.get(NicVportContext::mtu);
        if (next.mtu < Port::kMinMtu || next.mtu > Port::kMaxMtu) return fail(Status::bad_parameter, kSynMtu);
    }
    if (select.get(Modify::select_promisc)) {
        next.promisc_uc = in.get(NicVportContext::promisc_uc);
        next.promisc_mc = in.get(NicVportContext::promisc_mc);
        next.promisc_all = in.get(NicVportContext::promisc_all);
    }
    if (select.get(Modify::select_disable_uc_local_lb))
        next.no_unicast_loopback = in.get(NicVportContext::disable_uc_local_lb);
    if (select.get(Modify::select_disable_mc_local_lb))
        next.no_multicast_loopback = in.get(NicVportContext::disable_mc_local_lb);
    if (select.get(Modify::select_permanent_address)) {
        std::memcpy(next.address.data(), in.raw() + NicVportContext::permanent_address, next.address.size());
        if (next.address[0] & 1) return fail(Status::bad_parameter, kSynAddress);
    }
    return select.get(Modify::select_addresses_list) ? read_list(device, request, next) : kOk;
}

// As many entries as the output has room for, and their number.
void write_list(const std::vector<u64> &list, const Response &response) {
    constexpr usize kListAt = QueryNicVportContextOut::context + NicVportContext::list;
    usize fits = std::min(list.size(), (response.bytes.size() - kListAt) / kListEntryBytes);
    for (usize i = 0; i < fits; ++i)
        store_be64(response.bytes.data() + kListAt + kListEntryBytes * i, list[i]);
    response.view<NicVportContext>(QueryNicVportContextOut::context)
        .set(NicVportContext::allowed_list_size, static_cast<u32>(fits));
}

} // namespace

Vport::Vport(const u8 (&mac)[6]) {
    std::copy(std::begin(mac), std::end(mac), configured_.begin());
    reset();
}

void Vport::reset() {
    context = {};
    context.address = configured_;
    context.mtu = Port::kDefaultMtu;
    clear_counters();
}

void Vport::count(Direction &direction, std::span<const u8> frame) {
    if (frame.size() < std::tuple_size_v<MacAddress>) return;
    Pair &many = is_broadcast(frame) ? direction.broadcast : direction.multicast;
    Pair &pair = frame[0] & 1 ? many : direction.unicast;
    pair.packets += 1;
    pair.octets += frame.size();
}

bool Vport::owns(std::span<const u8> address) const {
    if (std::equal(context.address.begin(), context.address.end(), address.begin())) return true;
    u64 entry = 0;
    for (u8 byte : address)
        entry = entry << 8 | byte;
    const std::vector<u64> &list = context.lists[unicast_list];
    return std::find(list.begin(), list.end(), entry) != list.end();
}

Vport::Ways Vport::ways_of(std::span<const u8> frame) const {
    if (frame[0] & 1) return {.wire = true, .back = !context.no_multicast_loopback};
    bool back = !context.no_unicast_loopback && owns(frame.first(std::tuple_size_v<MacAddress>));
    return {.wire = !back, .back = back};
}

Reply query_vport_state(Device &device, const Request &request, const Response &response) {
    if (request.op_mod != 0)
        return fail(Status::bad_parameter, kSynOpMod); // the e-switch's side of the vport
    if (other_vport<QueryNicVportContextIn>(request)) return fail(Status::bad_parameter, kSynOther);
    constexpr u32 kMbpsUnit = 100;
    response.view<QueryVportStateOut>()
        .set(QueryVportStateOut::max_tx_speed, device.config.speed_mbps / kMbpsUnit)
        .set(QueryVportStateOut::admin_state, device.port.admin_up())
        .set(QueryVportStateOut::state, device.port.up());
    return kOk;
}

Reply query_nic_vport_context(Device &device, const Request &request, const Response &response) {
    if (other_vport<QueryNicVportContextIn>(request)) return fail(Status::bad_parameter, kSynOther);
    u32 type = request.view<QueryNicVportContextIn>().get(QueryNicVportContextIn::allowed_list_type);
    if (type >= Vport::list_count) return fail(Status::bad_parameter, kSynListType);
    const Vport::Context &context = device.vport.context;
    auto out = response.view<NicVportContext>(QueryNicVportContextOut::context);
    out.set(NicVportContext::min_wqe_inline_mode, static_cast<u32>(device.hca.inline_mode))
        .set(NicVportContext::mtu, context.mtu)
        .set(NicVportContext::promisc_uc, context.promisc_uc)
        .set(NicVportContext::promisc_mc, context.promisc_mc)
        .set(NicVportContext::promisc_all, context.promisc_all)
        .set(NicVportContext::disable_uc_local_lb, context.no_unicast_loopback)
        .set(NicVportContext::disable_mc_local_lb, context.no_multicast_loopback)
        .set(NicVportContext::allowed_list_type, type);
    std::memcpy(out.raw() + NicVportContext::permanent_address, context.address.data(),
                context.address.size());
    write_list(context.lists[type], response);
    return kOk;
}

Reply modify_nic_vport_context(Device &device, const Request &request, const Response &) {
    if (other_vport<Modify>(request)) return fail(Status::bad_parameter, kSynOther);
    if (load_be32(request.bytes.data() + kFieldSelectAt) & ~kKnownSelect)
        return fail(Status::bad_parameter, kSynSelect);
    Vport::Context next = device.vport.context; // all or nothing
    Reply reply = read_context(device, request, next);
    if (reply.status == Status::ok) device.vport.context = std::move(next);
    return reply;
}

Reply query_vport_counter(Device &device, const Request &request, const Response &response) {
    using Layout = QueryVportCounterOut;
    if (request.op_mod != 0) return fail(Status::bad_parameter, kSynOpMod);
    if (other_vport<QueryVportCounterIn>(request)) return fail(Status::bad_parameter, kSynOther);
    auto put = [&](u16 at, Vport::Pair pair) {
        store_be64(response.bytes.data() + at, pair.packets);
        store_be64(response.bytes.data() + at + 8, pair.octets);
    };
    const Vport::Direction &rx = device.vport.rx(), &tx = device.vport.tx();
    put(Layout::received_errors, {rx.errors, 0});
    put(Layout::transmit_errors, {tx.errors, 0});
    put(Layout::received_broadcast, rx.broadcast);
    put(Layout::transmitted_broadcast, tx.broadcast);
    put(Layout::received_unicast, rx.unicast);
    put(Layout::transmitted_unicast, tx.unicast);
    put(Layout::received_multicast, rx.multicast);
    put(Layout::transmitted_multicast, tx.multicast);
    if (request.view<QueryVportCounterIn>().get(QueryVportCounterIn::clear)) device.vport.clear_counters();
    return kOk;
}

} // namespace niclab::connectx
