// SPDX-License-Identifier: GPL-2.0-or-later
// What the card tells of its work: the bytes that come with a trace, and what each access costs on the link.
#include "support/send_test.h"

namespace niclab::test {
namespace {

class TraceTest : public SendTest {
  protected:
    std::vector<FakeHost::Trace> traced(cx_trace_event event) const {
        std::vector<FakeHost::Trace> found;
        for (const FakeHost::Trace &trace : card_.host.traces)
            if (trace.event == event) found.push_back(trace);
        return found;
    }
    u64 grown(const std::string &name, const std::function<void()> &work) const {
        u64 before = card_.host.counter(name);
        work();
        return card_.host.counter(name) - before;
    }
};

TEST_F(TraceTest, AWqeItsFrameAndItsCompletionComeWithTheirBytes) {
    Bytes frame = ethernet(0x88b5) + pattern(46);
    SendWqe wqe = send_of(frame);
    Bytes expected = wqe.bytes(static_cast<u16>(sq_.producer), sq_.number);
    card_.host.traces.clear();
    card_.send(sq_, wqe);
    ASSERT_EQ(traced(CX_TRACE_WQE).size(), 1u);
    EXPECT_EQ(traced(CX_TRACE_WQE)[0].bytes, expected);
    ASSERT_EQ(traced(CX_TRACE_FRAME_OUT).size(), 1u);
    EXPECT_EQ(traced(CX_TRACE_FRAME_OUT)[0].bytes, frame);
    auto completion = card_.poll(cq_);
    ASSERT_TRUE(completion);
    ASSERT_EQ(traced(CX_TRACE_COMPLETION).size(), 1u);
    EXPECT_EQ(traced(CX_TRACE_COMPLETION)[0].bytes, completion->raw);
}

TEST_F(TraceTest, ACommandComesWithInputAndOutput) {
    card_.host.traces.clear();
    CommandInput input(Opcode::query_vport_state, 0x10);
    CommandResult result = card_.driver.run(input, QueryVportStateOut::bytes);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(traced(CX_TRACE_COMMAND)[0].bytes, input.raw);
    EXPECT_EQ(traced(CX_TRACE_COMMAND_DONE)[0].bytes, result.out);
}

TEST_F(TraceTest, AFrameFromTheWireIsToldAsItCame) {
    card_.host.traces.clear();
    Bytes frame = ethernet(0x88b5) + pattern(46);
    card_.host.frame_in(frame); // no flow table: dropped
    ASSERT_EQ(traced(CX_TRACE_WIRE).size(), 1u);
    EXPECT_EQ(traced(CX_TRACE_WIRE)[0].bytes, frame);
    ASSERT_EQ(traced(CX_TRACE_FRAME_IN).size(), 1u);
    EXPECT_STREQ(cx_core_counter_name(traced(CX_TRACE_FRAME_IN)[0].c), "rx_drop_no_root");
}

TEST_F(TraceTest, EveryAccessIsToldWithItsPurpose) {
    SendWqe wqe = send_of(ethernet(0x88b5) + pattern(46));
    card_.host.traces.clear();
    card_.host.accesses.clear();
    card_.send(sq_, wqe);
    auto told = traced(CX_TRACE_DMA);
    auto done = card_.host.accesses;
    ASSERT_EQ(done.size(), told.size() + 1);
    done[3].bytes += done[4].bytes; // the host stores the completion in two steps
    std::vector<std::string> purposes;
    for (usize i = 0; i < told.size(); ++i) {
        EXPECT_EQ(told[i].a, done[i].iova);
        EXPECT_EQ(told[i].b, done[i].bytes);
        EXPECT_EQ(told[i].c & 1, done[i].write);
        purposes.emplace_back(cx_core_dma_purpose(static_cast<unsigned>(told[i].c >> 1)));
    }
    EXPECT_EQ(purposes, (std::vector<std::string>{"record", "wqe", "payload", "cqe"}));
    EXPECT_STREQ(cx_core_dma_purpose(99), "?");
}

// Headers: 24 bytes a request, 20 a completion. A frame of 60 bytes: 4 bytes of record, 64 of WQE, 60 of
// payload are read, 64 of CQE are written, 8 of doorbell.
TEST_F(TraceTest, WhatASendCostsOnTheLink) {
    SendWqe wqe = send_of(ethernet(0x88b5) + pattern(46));
    card_.post(sq_, wqe);
    const FakeHost &host = card_.host;
    u64 record = host.counter("dma_record_link_bytes"), fetch = host.counter("dma_wqe_link_bytes"),
        payload = host.counter("dma_payload_link_bytes"), cqe = host.counter("dma_cqe_link_bytes"),
        bells = host.counter("mmio_link_bytes"), writes = host.counter("mmio_writes");
    card_.ring(sq_);
    EXPECT_EQ(host.counter("dma_record_link_bytes") - record, 24 + 20 + 4u);
    EXPECT_EQ(host.counter("dma_wqe_link_bytes") - fetch, 24 + 20 + 64u);
    EXPECT_EQ(host.counter("dma_payload_link_bytes") - payload, 24 + 20 + 60u);
    EXPECT_EQ(host.counter("dma_cqe_link_bytes") - cqe, 24 + 64u);
    EXPECT_EQ(host.counter("mmio_link_bytes") - bells, 24 + 8u);
    EXPECT_EQ(host.counter("mmio_writes") - writes, 1u);
}

// 1514 bytes: 3 read requests of at most 512, 6 completions of at most 256.
TEST_F(TraceTest, LongPayloadTakesSeveralPackets) {
    SendWqe wqe = send_of(ethernet(0x88b5) + pattern(1500));
    EXPECT_EQ(grown("dma_payload_link_bytes", [&] { card_.send(sq_, wqe); }), 3 * 24 + 6 * 20 + 1514u);
}

TEST_F(TraceTest, ReadsOfRegistersAndInterruptsAreCounted) {
    EXPECT_EQ(grown("mmio_link_bytes", [&] { card_.host.read32(0); }), 24 + 20 + 4u);
    EXPECT_EQ(grown("mmio_reads", [&] { card_.host.read32(0); }), 1u);
    card_.arm(cq_, 0);
    SendWqe wqe = send_of(ethernet(0x88b5) + pattern(46));
    EXPECT_EQ(grown("interrupt_link_bytes", [&] { card_.send(sq_, wqe); }), 24 + 4u);
    EXPECT_EQ(grown("interrupts", [] {}), 0u);
}

} // namespace
} // namespace niclab::test
