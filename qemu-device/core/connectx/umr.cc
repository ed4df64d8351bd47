// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/umr.h"

#include <cstring>
#include <vector>

#include "connectx/device.h"
#include "spec/wqe.h"

namespace niclab::connectx {
namespace {

constexpr usize kUmrAt = CtrlSegment::bytes, kContextAt = kUmrAt + UmrSegment::bytes,
                kListAt = kContextAt + MkeyContext::bytes;

// Which bits of the key context each bit of the mask takes over.
struct Row {
    u64 mask;
    Field<MkeyContext> field;
};
constexpr Row kRows[] = {
    {mkey_mask::kLength, MkeyContext::length64},
    {mkey_mask::kPageSize, MkeyContext::log_page_size},
    {mkey_mask::kKey, MkeyContext::mkey_7_0},
    {mkey_mask::kLocalRead, MkeyContext::local_read},
    {mkey_mask::kLocalWrite, MkeyContext::local_write},
    {mkey_mask::kRemoteRead, MkeyContext::remote_read},
    {mkey_mask::kRemoteWrite, MkeyContext::remote_write},
    {mkey_mask::kAtomic, MkeyContext::atomic},
    {mkey_mask::kRelaxedWrite, MkeyContext::relaxed_ordering_write},
    {mkey_mask::kRelaxedRead, MkeyContext::relaxed_ordering_read},
    {mkey_mask::kFree, MkeyContext::free},
};

constexpr u64 known_mask() {
    u64 mask = mkey_mask::kStart;
    for (const Row &row : kRows)
        mask |= row.mask;
    return mask;
}

void take_over(u8 *context, ConstView<MkeyContext> from, u64 mask) {
    View<MkeyContext> to(context);
    for (const Row &row : kRows)
        if (mask & row.mask) to.set(row.field, from.get(row.field));
    if (mask & mkey_mask::kLength) to.set(MkeyContext::len, from.get(MkeyContext::len));
    if (mask & mkey_mask::kStart) to.set(MkeyContext::start_addr, from.get(MkeyContext::start_addr));
}

// The key that the WQE names, when it may be changed in this way.
Mkey *find_target(Device &device, u32 pd, u32 name, ConstView<UmrSegment> umr) {
    constexpr u32 kFailWhenFree = 1, kFailWhenNotFree = 2;
    Mkey *mkey = device.mkeys.find(name >> 8);
    if (!mkey || !mkey->umr || mkey->pd != pd) return nullptr;
    // A UMR that renames the key carries the new name.
    bool renames = umr.get(UmrSegment::mkey_mask) & mkey_mask::kKey;
    if (!renames && mkey->key != (name & 0xff)) return nullptr;
    u32 check = umr.get(UmrSegment::check_free);
    if ((check & kFailWhenFree && mkey->free) || (check & kFailWhenNotFree && !mkey->free)) return nullptr;
    return mkey;
}

// Where the list goes, in octwords.
u64 list_place(ConstView<UmrSegment> umr) {
    if (!umr.get(UmrSegment::offset_en)) return 0;
    return u64{umr.get(UmrSegment::xlt_offset_47_16)} << 16 | umr.get(UmrSegment::xlt_offset);
}

// The list itself: in the WQE, or in memory that the WQE points at; then it is read into `memory`.
CqeSyndrome find_list(Device &device, u32 pd, std::span<const u8> wqe, usize bytes, std::vector<u8> &memory,
                      std::span<const u8> &list) {
    if (bytes == 0) return CqeSyndrome::none;
    if (ConstView<UmrSegment>(wqe.data() + kUmrAt).get(UmrSegment::inline_list)) {
        if (bytes > wqe.size() - kListAt) return CqeSyndrome::local_qp_operation;
        list = wqe.subspan(kListAt, bytes);
        return CqeSyndrome::none;
    }
    if (wqe.size() < kListAt + DataSegment::bytes) return CqeSyndrome::local_qp_operation;
    ConstView<DataSegment> pointer(wqe.data() + kListAt);
    memory.resize(bytes);
    Region from{pointer.get(DataSegment::lkey), pd, pointer.get(DataSegment::address)};
    if (!mkey_read(device, DmaPurpose::wqe, from, memory.data(), bytes)) return CqeSyndrome::local_protection;
    list = memory;
    return CqeSyndrome::none;
}

} // namespace

CqeSyndrome execute_umr(Device &device, u32 pd, std::span<const u8> wqe) {
    if (wqe.size() < kListAt) return CqeSyndrome::local_qp_operation;
    ConstView<UmrSegment> umr(wqe.data() + kUmrAt);
    u64 mask = umr.get(UmrSegment::mkey_mask);
    if (mask & ~known_mask()) return CqeSyndrome::local_qp_operation;
    u32 name = ConstView<CtrlSegment>(wqe.data()).get(CtrlSegment::imm);
    Mkey *mkey = find_target(device, pd, name, umr);
    if (!mkey) return CqeSyndrome::memory_window_bind;

    u32 octwords = umr.get(UmrSegment::xlt_octowords);
    u64 place = list_place(umr);
    if (place > mkey->translation.octwords() || octwords > mkey->translation.octwords() - place)
        return CqeSyndrome::memory_window_bind;
    std::vector<u8> memory;
    std::span<const u8> list;
    CqeSyndrome result = find_list(device, pd, wqe, usize{octwords} * kOctwordBytes, memory, list);
    if (result != CqeSyndrome::none) return result;

    u8 context[MkeyContext::bytes];
    std::memcpy(context, mkey->context, sizeof context);
    take_over(context, ConstView<MkeyContext>(wqe.data() + kContextAt), mask);
    if (!describe_mkey(*mkey, ConstView<MkeyContext>(context))) return CqeSyndrome::memory_window_bind;
    std::memcpy(mkey->context, context, sizeof context);
    mkey->translation.write(place, list);
    device.counters.add(Counter::umr_wqes);
    return CqeSyndrome::none;
}

} // namespace niclab::connectx
