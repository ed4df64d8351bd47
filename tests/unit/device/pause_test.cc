// SPDX-License-Identifier: GPL-2.0-or-later
// Pause frames: set, obeyed, counted.
#include "support/card.h"
#include "support/registers.h"

namespace niclab::test {
namespace {

// A MAC control frame: to the reserved group address, opcode, quanta of 512 bit times.
Bytes control(u16 opcode, u16 quanta) {
    Bytes frame = {0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08};
    frame = frame + be16(opcode) + be16(quanta);
    frame.resize(60);
    return frame;
}

class PauseRegister : public PortTest {
  protected:
    // Words 0x08 and 0x0c: transmit and receive.
    std::pair<u32, u32> words() {
        CommandResult result = must(pfcc(kRead));
        return {load_be32(result.out.data() + kImage + 8), load_be32(result.out.data() + kImage + 0xc)};
    }
};

TEST_F(PauseRegister, IsOnBothWaysUntilSetOtherwise) {
    constexpr u32 kOn = 1u << 31, kKeep = 1u << 29;
    EXPECT_EQ(words(), std::pair(kOn, kOn));
    must(pfcc(kWrite, 0, kOn));
    EXPECT_EQ(words(), std::pair(0u, kOn));
    must(pfcc(kWrite, kOn | kKeep, 0));
    EXPECT_EQ(words(), std::pair(0u, 0u)) << "transmit was to be kept";
    must(pfcc(kWrite, kOn, kOn | kKeep));
    EXPECT_EQ(words(), std::pair(kOn, 0u)) << "receive was to be kept";
}

TEST_F(PauseRegister, RefusesPausesOfSinglePriorities) {
    EXPECT_EQ(run(pfcc(kWrite, 1u << 16)).status(), Status::bad_parameter);
    EXPECT_EQ(run(pfcc(kWrite, 0, 1u << 23)).status(), Status::bad_parameter);
    EXPECT_EQ(run(pfcc(kWrite).set(Pfcc::local_port, 2, kImage)).status(), Status::bad_parameter);
}

class PauseTest : public testing::Test {
  protected:
    PauseTest() {
        cq_ = card_.create_cq(6);
        sq_ = card_.create_sq(6, cq_.number);
        data_ = card_.buffer(Bytes(60, 0x55));
    }
    void send() { card_.send(sq_, SendWqe{}.pointer(card_.lkey, data_, 60)); }
    usize sent() const { return card_.host.frames.size(); }
    void pause(u16 quanta) { card_.host.frame_in(control(1, quanta)); }
    static CommandInput access(u16 id, u16 op, usize bytes) {
        CommandInput input(Opcode::access_register, kImage + bytes, op);
        return input.set(AccessRegisterIn::register_id, id);
    }
    void set_pause(bool receive) {
        card_.driver.must(
            access(kPfcc, kWrite, 0x20).set(Pfcc::local_port, 1, kImage).set(Pfcc::pprx, receive, kImage),
            kImage + 0x20);
    }
    u64 count(u32 group, usize at, u32 prio = 0) {
        CommandInput input = access(kPpcnt, kRead, 0x100);
        input.set(Ppcnt::local_port, 1, kImage)
            .set(Ppcnt::grp, group, kImage)
            .set(Ppcnt::prio_tc, prio, kImage);
        return load_be64(card_.driver.must(input, kImage + 0x100).out.data() + kImage + 8 + at);
    }

    Card card_;
    Queue cq_, sq_;
    u64 data_ = 0;
};

TEST_F(PauseTest, FramesWaitUntilThePauseIsOver) {
    pause(1000); // 1000 * 512 bits at 100 Gbit/s: 5120 ns
    send();
    send();
    EXPECT_EQ(sent(), 0u);
    card_.host.advance(5119);
    EXPECT_EQ(sent(), 0u);
    card_.host.advance(1);
    EXPECT_EQ(sent(), 2u);
    send();
    EXPECT_EQ(sent(), 3u);
    EXPECT_EQ(count(0x10, 0x50), 1u) << "pauses";
    EXPECT_EQ(count(0x10, 0x58), 5u) << "microseconds";
    EXPECT_EQ(count(0x10, 0x70), 1u) << "transitions";
    EXPECT_EQ(count(0x10, 0x50, 3), 0u) << "the whole port, not a priority";
}

TEST_F(PauseTest, AFurtherPauseReplacesTheRestAndZeroEndsIt) {
    pause(1000);
    send();
    card_.host.advance(5000);
    pause(1000);
    card_.host.advance(5000);
    EXPECT_EQ(sent(), 0u);
    pause(0);
    card_.host.advance(0);
    EXPECT_EQ(sent(), 1u);
    EXPECT_EQ(count(0x10, 0x50), 3u);
    EXPECT_EQ(count(0x10, 0x58), 10u);
    EXPECT_EQ(count(0x10, 0x70), 1u) << "one silence";
    pause(0);
    send();
    EXPECT_EQ(sent(), 2u) << "nothing to end";
}

TEST_F(PauseTest, IsNotObeyedWhenReceivingIsOff) {
    set_pause(false);
    pause(0xffff);
    send();
    EXPECT_EQ(sent(), 1u);
    EXPECT_EQ(count(0x00, 0x88), 1u) << "seen all the same";
    EXPECT_EQ(count(0x10, 0x50), 0u);
}

TEST_F(PauseTest, TurningItOffEndsAPause) {
    pause(0xffff);
    send();
    set_pause(false);
    card_.host.advance(0);
    EXPECT_EQ(sent(), 1u);
}

TEST_F(PauseTest, NobodyBehindThePortSeesControlFrames) {
    Queue rq = card_.create_rq(4, 6, cq_.number);
    card_.catch_all(card_.create_tir(rq.number));
    pause(1);
    card_.host.frame_in(control(2, 0));
    EXPECT_EQ(card_.host.counter("rx_drop_out_of_buffer"), 0u);
    EXPECT_EQ(count(0x00, 0x78), 2u) << "control frames";
    EXPECT_EQ(count(0x00, 0x80), 1u) << "of an unknown kind";
    EXPECT_EQ(count(0x00, 0x88), 1u) << "pause frames";
}

TEST_F(PauseTest, AQueueThatGoesDuringAPauseIsForgotten) {
    pause(1000);
    send();
    EXPECT_TRUE(card_.destroy(Opcode::destroy_sq, sq_.number).ok());
    card_.host.advance(10'000);
    EXPECT_EQ(sent(), 0u);
    EXPECT_TRUE(card_.host.guest_errors.empty()) << "the guest did nothing wrong";
}

// Receive queues are filled through such queues, and receiving does not pause.
TEST_F(PauseTest, AQueueThatSendsNoFramesDoesNotWait) {
    Queue filler;
    card_.start_sq(
        filler, card_.sq_input(filler, 4, cq_.number).set(SqContext::tis_lst_sz, 0, CreateQueueIn::context));
    pause(1000);
    card_.send(filler, {.opcode = WqeOpcode::nop});
    EXPECT_EQ(card_.poll(cq_).value().opcode(), CqeOpcode::requester);
}

// However many numbers a guest tries, nothing is kept for queues that are not there.
TEST_F(PauseTest, ADoorbellOfNoQueueIsAnErrorAtOnce) {
    pause(1000);
    for (u32 number = 0x10000; number < 0x10100; ++number)
        card_.doorbell(number);
    EXPECT_EQ(card_.host.guest_errors.size(), 0x100u);
}

TEST_F(PauseTest, ResetForgetsThePause) {
    pause(0xffff);
    send();
    cx_core_reset(card_.host.core());
    card_.host.advance(1'000'000);
    EXPECT_EQ(sent(), 0u);
}

} // namespace
} // namespace niclab::test
