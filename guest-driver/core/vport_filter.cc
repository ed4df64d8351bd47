// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/vport_filter.h"

#include "core/vport.h"

namespace niclab::driver {

namespace {

using Modify = ModifyNicVportContextIn;

constexpr usize kListEntryBytes = 8;
constexpr usize kListAt = Modify::context + NicVportContext::list;

// The address is the end of its entry.
u8 *put_entry(u8 *at, const u8 *mac) {
    copy_bytes(at + kListEntryBytes - kMacBytes, mac, kMacBytes);
    return at + kListEntryBytes;
}

} // namespace

VportFilter::~VportFilter() {
    if (!commands_ || commands_->dead()) return;
    const nic_filter nothing{};
    bool cleared = set({}).ok() && send_list(List::unicast, nothing, 0).ok() &&
                   send_list(List::multicast, nothing, 0).ok();
    if (!cleared) plat_log(commands_->platform(), PLAT_WARN, "the vport keeps its receive filter");
}

Result<void> VportFilter::apply(const nic_filter &filter, bool everything) {
    u32 unicasts = 1, multicasts = 1; // the port's own address, the broadcast address
    for (unsigned i = 0; i < filter.address_count; ++i)
        ++(is_multicast(filter.addresses[i]) ? multicasts : unicasts);
    Promiscuous next;
    next.all = everything;
    next.unicast = everything || unicasts > limits_.unicast;
    next.multicast = everything || filter.all_multicast || multicasts > limits_.multicast;
    TRY(set({next.unicast || now_.unicast, next.multicast || now_.multicast, next.all || now_.all}));
    TRY(send_list(List::unicast, filter, unicasts > limits_.unicast ? 0 : unicasts));
    TRY(send_list(List::multicast, filter, multicasts > limits_.multicast ? 0 : multicasts));
    return set(next);
}

Result<void> VportFilter::set(const Promiscuous &next) {
    if (next.unicast == now_.unicast && next.multicast == now_.multicast && next.all == now_.all) return {};
    Command<Modify::bytes> command(Opcode::modify_nic_vport_context);
    command.input<Modify>().set(Modify::select_promisc, 1);
    command.input<NicVportContext>(Modify::context)
        .set(NicVportContext::promisc_uc, next.unicast)
        .set(NicVportContext::promisc_mc, next.multicast)
        .set(NicVportContext::promisc_all, next.all);
    TRY(command.execute(*commands_));
    now_ = next;
    return {};
}

// The list as a whole: one command replaces all entries of its kind.
Result<void> VportFilter::send_list(List list, const nic_filter &filter, u32 entries) {
    auto command =
        TRY(LargeCommand::make(Opcode::modify_nic_vport_context, 0, kListAt + kListEntryBytes * entries));
    command.input<Modify>().set(Modify::select_addresses_list, 1);
    command.input<NicVportContext>(Modify::context)
        .set(NicVportContext::allowed_list_type, static_cast<u32>(list))
        .set(NicVportContext::allowed_list_size, entries);
    if (entries > 0) {
        bool wanted = list == List::multicast;
        u8 *at = put_entry(command.in() + kListAt, wanted ? kBroadcast : filter.mac);
        for (unsigned i = 0; i < filter.address_count; ++i)
            if (is_multicast(filter.addresses[i]) == wanted) at = put_entry(at, filter.addresses[i]);
    }
    return command.execute(*commands_);
}

} // namespace niclab::driver
