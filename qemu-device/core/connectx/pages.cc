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
u32 needed(const Device &device) {
    if (device.hca.phase != Phase::running) return 0;
    return Pages::kBoot + Pages::kInit + Pages::wanted(device.live_objects());
}

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

void Pages::forget() {
    pages_.clear();
    asked_ = 0;
    extra_ = refused_ = 0;
}

u32 Pages::wanted(u32 objects) {
    if (objects <= kObjectsHeld) return 0;
    u32 pages = (objects - kObjectsHeld + kObjectsPerPage - 1) / kObjectsPerPage;
    return (pages + kStep - 1) / kStep * kStep;
}

void Pages::balance(Device &device, u32 objects) {
    if (asked_ != 0 || device.hca.phase != Phase::running || !has_listener(device, Event::page_request))
        return;
    u32 want = wanted(objects), keep = wanted(objects + kSlack);
    if (want <= extra_) refused_ = 0;
    if (want > extra_ && want != refused_)
        ask(device, static_cast<s32>(want - extra_));
    else if (extra_ > keep)
        ask(device, -static_cast<s32>(extra_ - keep));
}

void Pages::ask(Device &device, s32 pages) {
    asked_ = pages;
    u8 data[8] = {};
    constexpr usize kCount = 4;
    store_be32(data + kCount, static_cast<u32>(pages));
    post_async(device, Event::page_request, 0, data);
}

void Pages::answered(s64 pages) {
    constexpr u32 kFirst = kBoot + kInit;
    if (asked_ > 0 && pages <= 0) refused_ = extra_ + static_cast<u32>(asked_);
    s64 held = s64{extra_} + (asked_ != 0 ? pages : 0), most = live() > kFirst ? live() - kFirst : 0;
    extra_ = static_cast<u32>(std::clamp<s64>(held, 0, most));
    asked_ = 0;
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
        pages.answered(0);
        return kOk;
    case ManagePages::give:
        if (!request.has(ManagePagesIn::pas, 8 * entries))
            return fail(Status::bad_input_length, kSynListShort);
        if (!pages.give(request.bytes.subspan(ManagePagesIn::pas, 8 * entries)))
            return fail(Status::bad_parameter, kSynAddress);
        pages.answered(static_cast<s64>(entries));
        break;
    case ManagePages::take: {
        std::span<u8> room = response.bytes.subspan(ManagePagesOut::pas);
        room = room.first(std::min(room.size(), 8 * entries));
        u32 taken = pages.take(room, needed(device));
        response.view<ManagePagesOut>().set(ManagePagesOut::output_num_entries, taken);
        pages.answered(-s64{taken});
        break;
    }
    default:
        return fail(Status::bad_parameter, kSynOpMod);
    }
    device.counters.set(Counter::live_pages, pages.live());
    return kOk;
}

} // namespace niclab::connectx
