// SPDX-License-Identifier: GPL-2.0-or-later
// Frames whose checksum went wrong on the wire.
#include "support/card.h"

namespace niclab::test {
namespace {

constexpr u16 kPcmr = 0x5041, kPpcnt = 0x5008;
constexpr usize kImage = 0x10;

class Damage : public testing::Test {
  protected:
    static CommandInput access(u16 id, RegisterOp op, usize bytes) {
        CommandInput in(Opcode::access_register, kImage + bytes, static_cast<u16>(op));
        in.set(AccessRegisterIn::register_id, id);
        in.raw[kImage + 1] = 1; // the port
        return in;
    }
    CommandResult run(const CommandInput &in) { return card_.driver.run(in, in.raw.size()); }
    CommandResult set_checks(u32 word) {
        CommandInput in = access(kPcmr, RegisterOp::write, 0x0c);
        store_be32(in.raw.data() + kImage + 8, word);
        return run(in);
    }
    u32 checks() { return load_be32(run(access(kPcmr, RegisterOp::read, 0x0c)).out.data() + kImage + 8); }
    u64 counted(u8 group, usize offset) {
        CommandInput in = access(kPpcnt, RegisterOp::read, 0x100);
        in.raw[kImage + 3] = group;
        return load_be64(run(in).out.data() + kImage + 8 + offset);
    }
    usize arrivals(const Bytes &bytes) {
        buffer_ = card_.post_buffer(rq_);
        card_.host.frame_in(bytes);
        return card_.drain(cq_).size();
    }

    Card card_;
    Queue cq_ = card_.create_cq(6), rq_ = card_.create_rq(5, 4, cq_.number);
    u32 table_ = card_.catch_all(card_.create_tir(rq_.number));
    u64 buffer_ = 0;
};

TEST_F(Damage, IsDroppedAndCountedWhileThePortChecks) {
    EXPECT_EQ(checks(), 2u) << "fcs_chk";
    cx_core_damage_frames(card_.host.core(), 2);
    EXPECT_EQ(arrivals(Bytes(60, 1)), 0u);
    EXPECT_EQ(cx_core_damaged_frames(card_.host.core()), 1u);
    EXPECT_EQ(arrivals(Bytes(60, 1)), 0u);
    EXPECT_EQ(arrivals(Bytes(60, 1)), 1u) << "two were to be damaged";
    EXPECT_EQ(card_.host.counter("rx_drop_fcs"), 2u);
    EXPECT_EQ(counted(0x00, 0x10), 2u) << "frame check sequence errors";
    EXPECT_EQ(counted(0x00, 0x08), 1u) << "good frames";
    EXPECT_EQ(counted(0x01, 0x18), 2u) << "RFC 2863: errors";
    EXPECT_EQ(counted(0x02, 0x28), 2u) << "RFC 2819: CRC or alignment";
    EXPECT_EQ(counted(0x03, 0x08), 2u) << "RFC 3635: FCS errors";
}

TEST_F(Damage, PassesWithItsWrongChecksumWhenThePortDoesNotLook) {
    ASSERT_TRUE(set_checks(0).ok());
    EXPECT_EQ(checks(), 0u);
    CommandInput fcs = card_.modify_rq_input(rq_, QueueState::ready, QueueState::ready);
    fcs.set(ModifyQueueIn::modify_bitmask, ModifyQueueIn::kRqScatterFcs);
    ASSERT_TRUE(card_.driver.run(fcs.set(RqContext::scatter_fcs, 1, ModifyQueueIn::context)).ok());
    const Bytes bytes(60, 1);
    EXPECT_EQ(arrivals(bytes), 1u);
    Bytes good = card_.host.memory.bytes(buffer_, 64);
    cx_core_damage_frames(card_.host.core(), 1);
    EXPECT_EQ(arrivals(bytes), 1u);
    Bytes bad = card_.host.memory.bytes(buffer_, 64);
    EXPECT_EQ(Bytes(bad.begin(), bad.begin() + 60), bytes);
    EXPECT_NE(bad, good);
    EXPECT_EQ(counted(0x00, 0x10), 0u);
    ASSERT_TRUE(set_checks(2).ok());
    cx_core_damage_frames(card_.host.core(), 1);
    EXPECT_EQ(arrivals(bytes), 0u);
}

TEST_F(Damage, DoesNotTouchFramesThatDoNotReachThePort) {
    cx_core_damage_frames(card_.host.core(), 1);
    card_.set_port(PortState::down);
    EXPECT_EQ(arrivals(Bytes(60, 1)), 0u);
    EXPECT_EQ(card_.host.counter("rx_drop_port_down"), 1u);
    card_.set_port(PortState::up);
    EXPECT_EQ(arrivals(Bytes(60, 1)), 0u);
    EXPECT_EQ(card_.host.counter("rx_drop_fcs"), 1u);
}

TEST_F(Damage, OnlyTheCheckOfTheFcsCanBeSet) {
    for (u32 other : {1u << 31, 1u << 30, 1u << 29, 1u << 13})
        EXPECT_EQ(set_checks(other | 2).status(), Status::bad_parameter) << other;
    EXPECT_EQ(load_be32(run(access(kPcmr, RegisterOp::read, 0x0c)).out.data() + kImage + 4), 2u) << "fcs_cap";
    CommandInput elsewhere = access(kPcmr, RegisterOp::read, 0x0c);
    elsewhere.raw[kImage + 1] = 2;
    EXPECT_EQ(run(elsewhere).status(), Status::bad_parameter);
    EXPECT_EQ(checks(), 2u);
}

} // namespace
} // namespace niclab::test
