// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/rx/fragment_memory.h"

#include "core/dma_block.h"
#include "core/sync.h"

namespace niclab::driver {

namespace {
constexpr u32 kHalfPage = kPageBytes / 2;
}

Result<void> FragmentMemory::configure(plat *platform, usize frame_bytes, Counts *counts) {
    if (frame_bytes == 0 || frame_bytes > kMaxRxFragments * kPageBytes) return Err{-kEinval};
    platform_ = platform;
    counts_ = counts;
    count_ = 0;
    capacity_ = 0;
    while (capacity_ < frame_bytes) {
        shape_[count_].bytes =
            frame_bytes - capacity_ <= kHalfPage ? kHalfPage : static_cast<u32>(kPageBytes);
        capacity_ += shape_[count_++].bytes;
    }
    return {};
}

FragmentMemory::~FragmentMemory() {
    for (Shape &shape : shape_)
        if (shape.page) plat_page_unref(shape.page);
}

Result<void> FragmentMemory::take(RxFragment *set, MaySleep may_sleep) {
    for (unsigned i = 0; i < count_; ++i) {
        auto taken = take_one(shape_[i], set[i], may_sleep);
        if (taken.ok()) continue;
        while (i-- > 0) {
            plat_unmap(platform_, set[i].bus, shape_[i].bytes, PLAT_FROM_DEVICE);
            bump(counts_->unmaps);
            plat_page_unref(set[i].page);
        }
        return taken;
    }
    return {};
}

Result<void> FragmentMemory::take_one(Shape &shape, RxFragment &fragment, MaySleep may_sleep) {
    if (!shape.page) {
        shape.page = plat_page_alloc(platform_, 0, may_sleep == MaySleep::yes);
        shape.offset = 0;
        if (!shape.page) return Err{-kEnomem};
    }
    unsigned long long bus;
    if (int error = plat_map(platform_, shape.page, shape.offset, shape.bytes, PLAT_FROM_DEVICE, &bus))
        return Err{error};
    bump(counts_->maps);
    fragment = {shape.page, bus, shape.offset};
    shape.offset += shape.bytes;
    if (shape.offset + shape.bytes <= kPageBytes)
        plat_page_ref(shape.page);
    else
        shape.page = nullptr;
    return {};
}

void FragmentMemory::deliver(const RxFragment *set, unsigned used) {
    for (unsigned i = 0; i < count_; ++i) {
        plat_unmap(platform_, set[i].bus, shape_[i].bytes, PLAT_FROM_DEVICE);
        if (i >= used) plat_page_unref(set[i].page);
    }
    bump(counts_->unmaps, count_);
}

void FragmentMemory::discard(const RxFragment *set) { deliver(set, 0); }

} // namespace niclab::driver
