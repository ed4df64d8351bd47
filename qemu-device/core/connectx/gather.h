// SPDX-License-Identifier: GPL-2.0-or-later
// The bytes of a send WQE, from its own inline parts and from guest memory, joined to one run.
#pragma once

#include "connectx/sq.h"
#include "spec/wqe.h"

namespace niclab::connectx {

// One frame, or the template and payload of a large send, while it is put together.
struct Outgoing {
    u8 *frame; // with room for a tag in front and kMaxLsoBytes behind
    usize bytes = 0;
    u32 inline_header = 0; // bytes of it that the Ethernet segment held
    u32 inserted = 0;      // bytes of it that the card put in

    CqeSyndrome append(const u8 *from, usize n);
};

// Appends what the data segment at `at` stands for and moves `at` behind it; `end` is the end of the WQE.
CqeSyndrome gather_segment(Device &device, const Sq &sq, const u8 *wqe, usize &at, usize end, Outgoing &out);

// Headers, data and inserted tag of a SEND or LSO.
CqeSyndrome gather(Device &device, const Sq &sq, const PostedWqe &wqe, Outgoing &out);

} // namespace niclab::connectx
