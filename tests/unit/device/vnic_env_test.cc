// SPDX-License-Identifier: GPL-2.0-or-later
// QUERY_VNIC_ENV byte by byte: what was lost, by cause.
#include <gtest/gtest.h>

#include "support/card.h"

namespace niclab::test {
namespace {

TEST(VnicEnv, CountsLossesByCause) {
    Card card;
    Queue cq = card.create_cq(4), rq = card.create_rq(3, 6, cq.number);
    Bytes frame = ethernet(0x88b5) + pattern(86);
    card.host.frame_in(frame); // no flow table takes it
    card.catch_all(card.create_tir(rq.number));
    card.post_buffer(rq, 64);
    card.host.frame_in(frame); // longer than its buffer
    card.host.frame_in(frame);
    card.set_port(PortState::down);
    for (int i = 0; i < 3; ++i)
        card.host.frame_in(frame);
    card.set_port(PortState::up);
    Bytes out = card.driver.must({static_cast<Opcode>(0x76f), 0x10}, 0x210).out;
    auto word = [&](usize at) { return load_be32(out.data() + at); };
    EXPECT_EQ(word(0x24), 1u) << "steering";
    EXPECT_EQ(word(0x2c), 3u) << "received while the port was down";
    EXPECT_EQ(word(0x54), 2u) << "longer than the WQE";
    EXPECT_EQ(word(0x14), 0u) << "queues in error";
    for (usize at : {0x10, 0x18, 0x20, 0x28, 0x30, 0x34, 0x50})
        EXPECT_EQ(word(at), 0u) << at;
    Queue bad = card.create_rq(3, 6, cq.number);
    card.host.memory.put_be32(bad.record, 1000); // more than the ring holds
    card.catch_all(card.create_tir(bad.number));
    card.host.frame_in(frame);
    EXPECT_EQ(load_be32(card.driver.must({static_cast<Opcode>(0x76f), 0x10}, 0x210).out.data() + 0x14), 1u);
}

TEST(VnicEnv, KnowsOneVportOnly) {
    Card card;
    CommandInput in(static_cast<Opcode>(0x76f), 0x10);
    EXPECT_EQ(card.driver.run(in.set(QueryVportCounterIn::vport_number, 1), 0x210).status(),
              Status::bad_parameter);
    EXPECT_EQ(card.driver.run({static_cast<Opcode>(0x76f), 0x10, 1}, 0x210).status(), Status::bad_parameter);
}

} // namespace
} // namespace niclab::test
