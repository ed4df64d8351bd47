// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/wq.h"

#include "connectx/device.h"

namespace niclab::connectx {

bool post_error_cqe(Device &device, u32 cqn, QueueKind kind, u32 number, CqeSyndrome syndrome, u8 wqe_opcode,
                    u16 counter, StridesGone gone) {
    u8 cqe[kCqeBytes] = {};
    CqeOpcode opcode = kind == QueueKind::send ? CqeOpcode::requester_error : CqeOpcode::responder_error;
    View<ErrorCqe>(cqe)
        .set(ErrorCqe::wqe_id, gone.wqe_id)
        .set(ErrorCqe::strides, gone.strides)
        .set(ErrorCqe::syndrome, static_cast<u32>(syndrome))
        .set(ErrorCqe::wqe_opcode, wqe_opcode)
        .set(ErrorCqe::qpn, number)
        .set(ErrorCqe::wqe_counter, counter)
        .set(ErrorCqe::opcode, static_cast<u32>(opcode));
    return post_cqe(device, cqn, cqe);
}

void post_queue_event(Device &device, Event event, QueueKind kind, u32 number) {
    u8 data[0x1c] = {};
    data[0x14] = static_cast<u8>(kind); // EQE 0x34
    store_be32(data + 0x18, number);    // EQE 0x38
    post_async(device, event, 0, data);
}

} // namespace niclab::connectx
