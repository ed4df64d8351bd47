// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/receive_strides.h"

#include <algorithm>

#include "connectx/device.h"
#include "connectx/rq_state.h"

namespace niclab::connectx {
namespace {

// The place of the WQE that follows the last one used. False when it cannot be read or is none of the ring's.
bool follow(Device &device, const Rq &rq, u16 &index) {
    u32 size = 1u << rq.log_size;
    if (!rq.strides.linked) {
        index = static_cast<u16>(rq.consumer & (size - 1));
        return true;
    }
    index = 0;
    if (!rq.strides.started) return true;
    u8 link[NextSegment::bytes];
    if (!rq.ring.read(device.dma, DmaPurpose::wqe, usize{rq.strides.index} << kLogStridingWqe, link,
                      sizeof link))
        return false;
    index = static_cast<u16>(ConstView<NextSegment>(link).get(NextSegment::next_wqe_index));
    return index < size;
}

// Makes sure that a WQE is in use.
Next open_wqe(Device &device, Rq &rq) {
    Strides &strides = rq.strides;
    if (strides.open) return Next::ready;
    if (Next next = next_posted(device, rq); next != Next::ready) return next;
    u16 index;
    u8 wqe[1 << kLogStridingWqe];
    if (!follow(device, rq, index) ||
        !rq.ring.read(device.dma, DmaPurpose::wqe, usize{index} << kLogStridingWqe, wqe, sizeof wqe))
        return Next::broken;
    ConstView<DataSegment> data(wqe + NextSegment::bytes);
    strides.lkey = data.get(DataSegment::lkey);
    strides.bytes = data.get(DataSegment::byte_count);
    strides.address = data.get(DataSegment::address);
    strides.index = index;
    strides.used = 0;
    strides.open = strides.started = true;
    return Next::ready;
}

void close_wqe(Rq &rq) {
    rq.strides.open = false;
    ++rq.consumer;
}

void use_up(Device &device, Rq &rq) {
    close_wqe(rq);
    device.counters.add(Counter::receive_wqes);
}

// What is left of the WQE in use.
StridesGone rest(const Strides &strides) {
    return {.wqe_id = strides.index, .strides = static_cast<u16>(strides.left())};
}

// Gives the rest of the WQE in use back. False when the queue failed over it.
bool post_filler(Device &device, Rq &rq, u32 rqn) {
    alignas(8) u8 cqe[kCqeBytes] = {};
    u16 first = static_cast<u16>(rq.strides.used);
    View<Cqe>(cqe)
        .set(Cqe::wqe_id, rq.strides.index)
        .set(Cqe::filler, 1)
        .set(Cqe::strides, rq.strides.left());
    use_up(device, rq);
    device.counters.add(Counter::rx_fillers);
    return complete_rq(device, rq, rqn, cqe, first);
}

bool fits(const Strides &strides, usize bytes, u32 need) {
    u64 at = u64{strides.used} << strides.log_bytes;
    return need <= strides.left() && at + bytes <= strides.bytes;
}

// The frame into the WQE in use, and its completion. False when it is lost.
bool deliver(Device &device, Rq &rq, u32 rqn, std::span<const u8> frame, u32 need,
             std::span<u8, kCqeBytes> cqe) {
    Strides &strides = rq.strides;
    u16 first = static_cast<u16>(strides.used);
    Region to{strides.lkey, rq.pd, strides.address + (u64{first} << strides.log_bytes)};
    if (!mkey_write(device, DmaPurpose::payload, to, frame.data(), frame.size())) {
        StridesGone gone = rest(strides);
        use_up(device, rq);
        complete_rq_error(device, rq, rqn, CqeSyndrome::local_protection, first, gone);
        return false;
    }
    store_be32(cqe.data() + Cqe::wqe_id.dword,
               load_be32(cqe.data() + Cqe::wqe_id.dword) | Cqe::wqe_id.place(strides.index));
    store_be32(cqe.data() + Cqe::strides.dword,
               Cqe::strides.place(need) | Cqe::stride_byte_cnt.place(static_cast<u32>(frame.size())));
    strides.used += need;
    if (strides.left() == 0) use_up(device, rq);
    return complete_rq(device, rq, rqn, cqe, first);
}

} // namespace

void receive_into_strides(Device &device, Rq &rq, u32 rqn, std::span<const u8> frame,
                          std::span<u8, kCqeBytes> cqe) {
    const Strides &strides = rq.strides;
    u32 need = static_cast<u32>((frame.size() + (usize{1} << strides.log_bytes) - 1) >> strides.log_bytes);
    bool fits_the_next = strides.open && need > strides.left() && need <= strides.count();
    if (fits_the_next && !post_filler(device, rq, rqn))
        return drop_frame(device, frame.size(), Counter::rx_drop_queue_error);
    Next next = open_wqe(device, rq);
    if (next == Next::dry) return drop_out_of_buffer(device, rq, frame.size());
    if (next == Next::broken) fail_rq(device, rq, rqn);
    if (next == Next::ready && !fits(strides, frame.size(), need))
        return drop_frame(device, frame.size(), Counter::rx_drop_wqe_too_small);
    if (next == Next::broken || !deliver(device, rq, rqn, frame, need, cqe))
        return drop_frame(device, frame.size(), Counter::rx_drop_queue_error);
    device.trace(CX_TRACE_FRAME_IN, frame.size(), rqn, 0);
}

void flush_strides(Device &device, Rq &rq, u32 rqn) {
    while (rq.consumer != rq.posted && open_wqe(device, rq) == Next::ready) {
        u16 first = static_cast<u16>(rq.strides.used);
        StridesGone gone = rest(rq.strides);
        close_wqe(rq);
        if (!post_error_cqe(device, rq.cqn, QueueKind::receive, rqn, CqeSyndrome::flushed, 0, first, gone))
            break;
    }
    rq.consumer = rq.posted;
}

} // namespace niclab::connectx
