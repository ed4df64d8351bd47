// SPDX-License-Identifier: GPL-2.0-or-later
// A card with one send queue, for tests of what WQEs put on the wire.
#pragma once

#include "support/card.h"

namespace niclab::test {

class SendTest : public testing::Test {
  protected:
    // A SEND of one buffer.
    SendWqe send_of(const Bytes &bytes) {
        SendWqe wqe;
        wqe.pointer(card_.lkey, card_.buffer(bytes), static_cast<u32>(bytes.size()));
        return wqe;
    }
    // What one WQE puts on the wire.
    std::vector<Bytes> wire(const SendWqe &wqe) {
        card_.host.frames.clear();
        card_.send(sq_, wqe);
        return card_.host.frames;
    }
    // The syndrome of the newest completion; the queue is brought back to life.
    CqeSyndrome failure(const SendWqe &wqe) {
        u16 index = card_.post(sq_, wqe);
        card_.ring(sq_);
        std::vector<Completion> done = card_.drain(cq_);
        if (done.empty() || done[0].opcode() != CqeOpcode::requester_error) return CqeSyndrome::none;
        EXPECT_EQ(done[0].counter(), index);
        EXPECT_EQ(done[0].get(ErrorCqe::qpn), sq_.number);
        EXPECT_EQ(done[0].get(ErrorCqe::wqe_opcode), static_cast<u32>(wqe.opcode));
        EXPECT_EQ(card_.sq_state(sq_), QueueState::error);
        recover();
        return done[0].syndrome();
    }
    void recover() {
        EXPECT_EQ(card_.modify_sq(sq_, QueueState::error, QueueState::reset).status(), Status::ok);
        EXPECT_EQ(card_.modify_sq(sq_, QueueState::reset, QueueState::ready).status(), Status::ok);
        sq_.producer = 0;
    }

    Card card_;
    Queue cq_ = card_.create_cq(8), sq_ = card_.create_sq(4, cq_.number);
};

} // namespace niclab::test
