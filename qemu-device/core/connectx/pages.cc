// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/pages.h"

#include <algorithm>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "spec/hca.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynFunction = 0x530001, kSynOpMod = 0x530002, kSynListShort = 0x530003, kSynAddress = 0x530004;

// How many pages the card may not be without. While it runs it keeps what it asked for.
u32 needed(const Hca &hca) { return hca.phase == Phase::running ? Pages::kBoot + Pages::kInit : 0; }

} // namespace

bool Pages::give(std::span<const u8> addresses) {
    std::set<u64> fresh;
    for (usize i = 0; i + 8 <= addresses.size(); i += 8) {
        u64 address = load_be64(addresses.data() + i);
        if (address % kHostPageBytes != 0 || owns(address) || !fresh.insert(address).second) return false;
    }
    if (fresh.size() > kMost - pages_.size()) return false;
    pages_.merge(fresh);
    return true;
}

u32 Pages::take(std::span<u8> out, u32 keep) {
    u32 taken = 0;
    for (; live() > keep && usize{8} * (taken + 1) <= out.size(); ++taken) {
        store_be64(out.data() + 8 * taken, *pages_.begin());
        pages_.erase(pages_.begin());
    }
    return taken;
}

Reply query_pages(Device &device, const Request &request, const Response &response) {
    auto in = request.view<ManagePagesIn>();
    if (in.get(ManagePagesIn::function_id) != 0) return fail(Status::bad_parameter, kSynFunction);
    u32 wanted = 0;
    switch (static_cast<QueryPages>(request.op_mod)) {
    case QueryPages::boot:
        wanted = Pages::kBoot;
        break;
    case QueryPages::init:
        wanted = Pages::kBoot + Pages::kInit;
        break;
    case QueryPages::regular:
        break;
    default:
        return fail(Status::bad_parameter, kSynOpMod);
    }
    u32 live = device.hca.pages.live();
    response.view<QueryPagesOut>().set(QueryPagesOut::num_pages, wanted > live ? wanted - live : 0);
    return kOk;
}

Reply manage_pages(Device &device, const Request &request, const Response &response) {
    auto in = request.view<ManagePagesIn>();
    if (in.get(ManagePagesIn::function_id) != 0) return fail(Status::bad_parameter, kSynFunction);
    Pages &pages = device.hca.pages;
    usize entries = in.get(ManagePagesIn::input_num_entries);
    switch (static_cast<ManagePages>(request.op_mod)) {
    case ManagePages::cannot_give:
        return kOk; // nothing was asked for that could not be done without
    case ManagePages::give:
        if (!request.has(ManagePagesIn::pas, 8 * entries))
            return fail(Status::bad_input_length, kSynListShort);
        if (!pages.give(request.bytes.subspan(ManagePagesIn::pas, 8 * entries)))
            return fail(Status::bad_parameter, kSynAddress);
        break;
    case ManagePages::take: {
        std::span<u8> room = response.bytes.subspan(ManagePagesOut::pas);
        room = room.first(std::min(room.size(), 8 * entries));
        response.view<ManagePagesOut>().set(ManagePagesOut::output_num_entries,
                                            pages.take(room, needed(device.hca)));
        break;
    }
    default:
        return fail(Status::bad_parameter, kSynOpMod);
    }
    device.counters.set(Counter::live_pages, pages.live());
    return kOk;
}

} // namespace niclab::connectx
