// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/mkey.h"

#include <algorithm>
#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "spec/wqe.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynMode = 0x580001, kSynFree = 0x580002, kSynPd = 0x580003, kSynQpn = 0x580004,
              kSynFull = 0x580005, kSynNumber = 0x580006, kSynList = 0x580007, kSynPage = 0x580008,
              kSynMemory = 0x580009;
constexpr u32 kAnyQueue = 0xffffff;
// Smaller pages would break one frame into very many accesses.
constexpr unsigned kLogMinPage = 12, kLogMinKsmPage = 6;

enum class Access : u8 { read, write };

const Mkey *find_key(const Device &device, u32 lkey, u32 pd, Access access) {
    const Mkey *mkey = device.mkeys.find(lkey >> 8);
    if (!mkey || mkey->key != (lkey & 0xff) || mkey->pd != pd || mkey->free) return nullptr;
    return (access == Access::read ? mkey->local_read : mkey->local_write) ? mkey : nullptr;
}

bool inside(const Mkey &mkey, u64 address, u64 bytes) {
    if (address + bytes < address) return false;
    if (mkey.whole_space) return true;
    return address >= mkey.start && bytes <= mkey.length && address - mkey.start <= mkey.length - bytes;
}

// Page lists start at the page that the range starts in.
u64 list_offset(const Mkey &mkey, u64 address) {
    u64 start = mkey.start;
    if (mkey.mode == AccessMode::mtt) start &= ~((u64{1} << mkey.log_page) - 1);
    return address - start;
}

struct Run {
    u64 address = 0;
    usize bytes = 0; // 0: not allowed
};

// The DMA addresses at the front of the region, as far as they lie in one run.
Run front(const Device &device, Region region, Access access, usize bytes) {
    for (u32 level = 0; level <= kMaxIndirection; ++level) {
        const Mkey *mkey = find_key(device, region.lkey, region.pd, access);
        if (!mkey || !inside(*mkey, region.address, bytes)) return {};
        if (mkey->mode == AccessMode::physical) return {region.address, bytes};
        Translation::Piece piece = mkey->translation.at(list_offset(*mkey, region.address), mkey->log_page);
        bytes = static_cast<usize>(std::min<u64>(piece.bytes, bytes));
        if (bytes == 0) return {};
        if (mkey->mode == AccessMode::mtt) return {piece.address, bytes};
        region.lkey = piece.key;
        region.address = piece.address;
    }
    return {};
}

// Each step moves at least one byte, so `bytes` bounds the loop.
template <class F>
bool each_run(const Device &device, Region region, Access access, usize bytes, F move) {
    for (usize done = 0; done < bytes;) {
        Run run = front(device, region, access, bytes - done);
        if (run.bytes == 0 || !move(run.address, done, run.bytes)) return false;
        done += run.bytes;
        region.address += run.bytes;
    }
    return true;
}

// Most keys are of this kind, and all of their range is one run.
bool is_physical(const Device &device, const Region &region, Access access, usize bytes) {
    const Mkey *mkey = find_key(device, region.lkey, region.pd, access);
    return mkey && mkey->mode == AccessMode::physical && inside(*mkey, region.address, bytes);
}

} // namespace

bool mkey_read(Device &device, DmaPurpose purpose, const Region &from, void *to, usize bytes) {
    if (is_physical(device, from, Access::read, bytes))
        return device.dma.read(purpose, from.address, to, bytes);
    return each_run(device, from, Access::read, bytes, [&](u64 iova, usize done, usize run) {
        return device.dma.read(purpose, iova, static_cast<u8 *>(to) + done, run);
    });
}

bool mkey_write(Device &device, DmaPurpose purpose, const Region &to, const void *from, usize bytes) {
    if (is_physical(device, to, Access::write, bytes))
        return device.dma.write(purpose, to.address, from, bytes);
    return each_run(device, to, Access::write, bytes, [&](u64 iova, usize done, usize run) {
        return device.dma.write(purpose, iova, static_cast<const u8 *>(from) + done, run);
    });
}

bool describe_mkey(Mkey &mkey, ConstView<MkeyContext> context) {
    unsigned log_page = context.get(MkeyContext::log_page_size);
    if (mkey.mode == AccessMode::mtt && log_page < kLogMinPage) return false;
    if (mkey.mode == AccessMode::ksm && log_page < kLogMinKsmPage) return false;
    mkey.log_page = log_page;
    mkey.key = static_cast<u8>(context.get(MkeyContext::mkey_7_0));
    mkey.local_read = context.get(MkeyContext::local_read);
    mkey.local_write = context.get(MkeyContext::local_write);
    mkey.free = context.get(MkeyContext::free);
    mkey.whole_space = context.get(MkeyContext::length64);
    mkey.start = context.get(MkeyContext::start_addr);
    mkey.length = context.get(MkeyContext::len);
    return true;
}

namespace {

// Entries that the command does not bring stay empty.
Reply make_translation(Device &device, const Request &request, Mkey &mkey) {
    u32 octwords =
        request.view<MkeyContext>(CreateMkeyIn::context).get(MkeyContext::translations_octword_size);
    u32 given = request.view<CreateMkeyIn>().get(CreateMkeyIn::translations_octword_actual_size);
    if (octwords > Translation::kMaxOctwords || given > octwords ||
        !request.has(CreateMkeyIn::klm_pas_mtt, usize{given} * kOctwordBytes))
        return fail(Status::bad_parameter, kSynList);
    if (octwords > kMaxAllOctwords - device.translation_octwords)
        return fail(Status::no_resources, kSynMemory);
    mkey.translation = Translation(mkey.mode, octwords);
    mkey.translation.write(0, request.bytes.subspan(CreateMkeyIn::klm_pas_mtt, usize{given} * kOctwordBytes));
    return kOk;
}

} // namespace

Reply create_mkey(Device &device, const Request &request, const Response &response) {
    auto context = request.view<MkeyContext>(CreateMkeyIn::context);
    u32 mode = context.get(MkeyContext::access_mode_high) << 2 | context.get(MkeyContext::access_mode);
    if (mode > static_cast<u32>(AccessMode::ksm)) return fail(Status::bad_parameter, kSynMode);
    bool physical = mode == static_cast<u32>(AccessMode::physical);
    bool umr = context.get(MkeyContext::umr_en);
    // A physical key has nothing that a UMR could fill, and a free key needs a UMR that opens it.
    if ((physical && umr) || (context.get(MkeyContext::free) && !umr))
        return fail(Status::bad_parameter, kSynFree);
    if (context.get(MkeyContext::qpn) != kAnyQueue) return fail(Status::bad_parameter, kSynQpn);
    Pd *pd = device.pds.find(context.get(MkeyContext::pd));
    if (!pd) return fail(Status::bad_resource, kSynPd);

    auto mkey = std::make_unique<Mkey>();
    mkey->mode = static_cast<AccessMode>(mode);
    mkey->pd = context.get(MkeyContext::pd);
    mkey->umr = umr;
    if (!describe_mkey(*mkey, context)) return fail(Status::bad_parameter, kSynPage);
    if (!physical)
        if (Reply reply = make_translation(device, request, *mkey); reply.status != Status::ok) return reply;
    std::memcpy(mkey->context, context.raw(), sizeof mkey->context);
    u32 number;
    Mkey *added = device.mkeys.add(std::move(mkey), number);
    if (!added) return fail(Status::no_resources, kSynFull);
    device.translation_octwords += added->translation.octwords();
    ++pd->users;
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

Reply query_mkey(Device &device, const Request &request, const Response &response) {
    const Mkey *mkey = device.mkeys.find(request.view<ObjectIn>().get(ObjectIn::number));
    if (!mkey) return fail(Status::bad_resource, kSynNumber);
    std::memcpy(response.bytes.data() + QueryMkeyOut::context, mkey->context, sizeof mkey->context);
    return kOk;
}

// Queues look keys up for every access, so a key may go at any time: later accesses fail with a protection
// error.
Reply destroy_mkey(Device &device, const Request &request, const Response &) {
    u32 number = request.view<ObjectIn>().get(ObjectIn::number);
    const Mkey *mkey = device.mkeys.find(number);
    if (!mkey) return fail(Status::bad_resource, kSynNumber);
    --device.pds.find(mkey->pd)->users;
    device.translation_octwords -= mkey->translation.octwords();
    device.mkeys.remove(number);
    return kOk;
}

// The reserved, null and dump-fill keys are not offered and read as 0.
Reply query_special_contexts(Device &, const Request &, const Response &response) {
    response.view<QuerySpecialContextsOut>().set(QuerySpecialContextsOut::terminate_scatter_list_mkey,
                                                 kTerminatorLkey);
    return kOk;
}

} // namespace niclab::connectx
