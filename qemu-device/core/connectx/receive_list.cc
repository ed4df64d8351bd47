// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/receive_list.h"

#include <algorithm>

#include "connectx/device.h"
#include "connectx/rq_state.h"

namespace niclab::connectx {
namespace {

// Makes the list at `consumer` available in `lists`.
Next fetch(Device &device, Rq &rq) {
    FetchedLists &lists = rq.lists;
    if (static_cast<u16>(rq.consumer - lists.from) < lists.count) return Next::ready;
    if (Next next = next_posted(device, rq); next != Next::ready) return next;
    u32 size = 1u << rq.log_size, at = rq.consumer & (size - 1);
    u32 count = std::min({u32{static_cast<u16>(rq.posted - rq.consumer)}, size - at,
                          static_cast<u32>(sizeof lists.bytes >> rq.log_stride)});
    lists.count = 0;
    if (!rq.ring.read(device.dma, DmaPurpose::wqe, usize{at} << rq.log_stride, lists.bytes,
                      usize{count} << rq.log_stride))
        return Next::broken;
    lists.from = rq.consumer;
    lists.count = static_cast<u16>(count);
    return Next::ready;
}

struct Segment {
    u32 bytes, lkey;
    u64 address;
};

// Calls f(segment) for each used segment until it says stop or the list ends.
template <class F>
void each_segment(const Rq &rq, F f) {
    const u8 *list = rq.lists.bytes + (usize{static_cast<u16>(rq.consumer - rq.lists.from)} << rq.log_stride);
    for (usize at = 0; at < usize{1} << rq.log_stride; at += kDsBytes) {
        ConstView<DataSegment> raw(list + at);
        Segment segment{raw.get(DataSegment::byte_count), raw.get(DataSegment::lkey),
                        raw.get(DataSegment::address)};
        if (segment.lkey == kTerminatorLkey) return;
        if (segment.bytes == 0) continue;
        if (!f(segment)) return;
    }
}

bool fits(const Rq &rq, usize bytes) {
    u64 room = 0;
    each_segment(rq, [&](const Segment &segment) {
        room += segment.bytes;
        return room < bytes;
    });
    return room >= bytes;
}

CqeSyndrome scatter(Device &device, const Rq &rq, std::span<const u8> frame) {
    CqeSyndrome result = CqeSyndrome::none;
    each_segment(rq, [&](const Segment &segment) {
        usize run = std::min<usize>(segment.bytes, frame.size());
        Region to{segment.lkey, rq.pd, segment.address};
        if (!mkey_write(device, DmaPurpose::payload, to, frame.data(), run)) {
            result = CqeSyndrome::local_protection;
            return false;
        }
        frame = frame.subspan(run);
        return !frame.empty();
    });
    return result;
}

} // namespace

void receive_into_list(Device &device, Rq &rq, u32 rqn, std::span<const u8> frame,
                       std::span<u8, kCqeBytes> cqe) {
    Next next = fetch(device, rq);
    if (next == Next::dry) return drop_out_of_buffer(device, rq, frame.size());
    if (next == Next::broken) {
        fail_rq(device, rq, rqn);
        return drop_frame(device, frame.size(), Counter::rx_drop_queue_error);
    }
    if (!fits(rq, frame.size())) return drop_frame(device, frame.size(), Counter::rx_drop_wqe_too_small);
    CqeSyndrome syndrome = scatter(device, rq, frame);
    u16 counter = rq.consumer++;
    device.counters.add(Counter::receive_wqes);
    if (syndrome != CqeSyndrome::none)
        complete_rq_error(device, rq, rqn, syndrome, counter);
    else if (complete_rq(device, rq, rqn, cqe, counter))
        return device.trace(CX_TRACE_FRAME_IN, frame.size(), rqn, 0);
    drop_frame(device, frame.size(), Counter::rx_drop_queue_error);
}

} // namespace niclab::connectx
