// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/mkey.h"

#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "spec/wqe.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynMode = 0x580001, kSynFree = 0x580002, kSynPd = 0x580003, kSynQpn = 0x580004,
              kSynFull = 0x580005, kSynNumber = 0x580006;
constexpr u32 kAnyQueue = 0xffffff;

} // namespace

bool mkey_allows(const Device &device, u32 lkey, u32 pd, Access access, u64 address, u64 bytes) {
    const Mkey *mkey = device.mkeys.find(lkey >> 8);
    if (!mkey || mkey->key != (lkey & 0xff) || mkey->pd != pd) return false;
    if (access == Access::read ? !mkey->local_read : !mkey->local_write) return false;
    if (address + bytes < address) return false;
    if (mkey->whole_space) return true;
    return address >= mkey->start && bytes <= mkey->length && address - mkey->start <= mkey->length - bytes;
}

Reply create_mkey(Device &device, const Request &request, const Response &response) {
    auto context = request.view<MkeyContext>(CreateMkeyIn::context);
    u32 mode = context.get(MkeyContext::access_mode_high) << 2 | context.get(MkeyContext::access_mode);
    if (mode != static_cast<u32>(AccessMode::physical)) return fail(Status::bad_parameter, kSynMode);
    // A free key, or one that a WQE may rewrite, needs UMR, which is not offered.
    if (context.get(MkeyContext::free) || context.get(MkeyContext::umr_en))
        return fail(Status::bad_parameter, kSynFree);
    if (context.get(MkeyContext::qpn) != kAnyQueue) return fail(Status::bad_parameter, kSynQpn);
    Pd *pd = device.pds.find(context.get(MkeyContext::pd));
    if (!pd) return fail(Status::bad_resource, kSynPd);

    auto mkey = std::make_unique<Mkey>();
    mkey->pd = context.get(MkeyContext::pd);
    mkey->key = static_cast<u8>(context.get(MkeyContext::mkey_7_0));
    mkey->local_read = context.get(MkeyContext::local_read);
    mkey->local_write = context.get(MkeyContext::local_write);
    mkey->whole_space = context.get(MkeyContext::length64);
    mkey->start = context.get(MkeyContext::start_addr);
    mkey->length = context.get(MkeyContext::len);
    std::memcpy(mkey->context, context.raw(), sizeof mkey->context);
    u32 number;
    if (!device.mkeys.add(std::move(mkey), number)) return fail(Status::no_resources, kSynFull);
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
