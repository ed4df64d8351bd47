// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "support/card.h"

namespace niclab::test {
namespace {

class ReceiveTest : public testing::Test {
  protected:
    Completion receive(const Bytes &frame) {
        buffer_ = card_.post_buffer(rq_);
        card_.host.frame_in(frame);
        return card_.poll(cq_).value();
    }
    Bytes delivered(const Completion &done) {
        return card_.host.memory.bytes(buffer_, done.get(Cqe::byte_cnt));
    }
    void modify(u64 bitmask, Field<RqContext> field, u32 value) {
        CommandInput in = card_.modify_rq_input(rq_, QueueState::ready, QueueState::ready);
        in.set(ModifyQueueIn::modify_bitmask, bitmask).set(field, value, ModifyQueueIn::context);
        ASSERT_TRUE(card_.driver.run(in).ok());
    }
    void set_vsd(bool vsd) { modify(ModifyQueueIn::kRqVsd, RqContext::vsd, vsd); }
    // What drivers that take the sum for the whole packet rely on.
    void expect_sum_of_all(const Bytes &frame, const char *what) {
        Completion done = receive(frame);
        Bytes got = delivered(done);
        EXPECT_EQ(done.get(Cqe::check_sum), slow_sum(Bytes(got.begin() + 14, got.end())))
            << what << ", " << got.size() << " bytes";
    }

    Card card_;
    Queue cq_ = card_.create_cq(6), rq_ = card_.create_rq(3, 4, cq_.number);
    u32 table_ = card_.catch_all(card_.create_tir(rq_.number));
    u64 buffer_ = 0;
};

// ---- The port
// -------------------------------------------------------------------------------------------------------------
TEST_F(ReceiveTest, PortThatIsDownDropsEverything) {
    card_.post_buffer(rq_);
    card_.set_port(PortState::down);
    card_.host.frame_in(frame(Ipv4{}, Tcp{}, pattern(10)));
    EXPECT_EQ(card_.host.counter("rx_drop_port_down"), 1u);
    EXPECT_FALSE(card_.poll(cq_));
    card_.set_port(PortState::up);
    card_.host.frame_in(frame(Ipv4{}, Tcp{}, pattern(10)));
    EXPECT_TRUE(card_.poll(cq_));
}

TEST_F(ReceiveTest, FramesBetweenAnEthernetHeaderAndTheMtuPass) {
    for (usize bytes : {14, 42, 60, 1514, 1518})
        EXPECT_EQ(receive(ethernet(0x88b5) + pattern(bytes - 14)).get(Cqe::byte_cnt), bytes);
    for (usize bytes : {0, 1, 13, 1519, 9000, 20000}) {
        Bytes frame = ethernet(0x88b5) + pattern(20000);
        frame.resize(bytes);
        card_.host.frame_in(frame);
    }
    EXPECT_FALSE(card_.poll(cq_));
    EXPECT_EQ(card_.host.counter("rx_drop_runt"), 3u);
    EXPECT_EQ(card_.host.counter("rx_drop_oversize"), 3u);
}

TEST_F(ReceiveTest, WithoutARootEverythingIsDropped) {
    card_.driver.must(CommandInput(Opcode::set_flow_table_root, SetFlowTableRootIn::bytes, /*disconnect*/ 1)
                          .set(FlowTableIn::table_id, table_));
    card_.post_buffer(rq_);
    card_.host.frame_in(ethernet(0x88b5) + pattern(50));
    EXPECT_EQ(card_.host.counter("rx_drop_no_root"), 1u);
    EXPECT_FALSE(card_.poll(cq_));
}

// ---- What the completion tells
// ---------------------------------------------------------------------------------------------
TEST_F(ReceiveTest, HeaderTypesAndVerdictsOfGoodPackets) {
    Tcp ack{.flags = 0x10}, syn{.flags = 0x02};
    struct {
        const char *what;
        Bytes frame;
        u32 l3, l4, l3_ok, l4_ok, options;
    } const kCases[] = {
        {"not IP", ethernet(0x0806) + pattern(50), 0, 0, 0, 0, 0},
        {"IPv4 TCP SYN", frame(Ipv4{}, syn, {}), 2, 1, 1, 1, 0},
        {"IPv4 TCP pure ACK", frame(Ipv4{}, ack, {}), 2, 3, 1, 1, 0},
        {"IPv4 TCP ACK with data", frame(Ipv4{}, ack, pattern(33)), 2, 4, 1, 1, 0},
        {"IPv4 UDP", frame(Ipv4{}, Udp{}, pattern(33)), 2, 2, 1, 1, 0},
        {"IPv4 options", frame(Ipv4{.options = Bytes(4, 1)}, Udp{}, pattern(33)), 2, 2, 1, 1, 1},
        {"IPv6 TCP", frame(Ipv6{}, ack, pattern(33)), 1, 4, 1, 1, 0},
        {"IPv6 UDP", frame(Ipv6{}, Udp{}, pattern(34)), 1, 2, 1, 1, 0},
        {"IPv6 extensions",
         frame(Ipv6{.extensions = Bytes{17, 0, 1, 4, 0, 0, 0, 0}, .first_header = 60}, Udp{}, pattern(34)), 1,
         2, 1, 1, 1},
    };
    for (const auto &c : kCases) {
        Completion done = receive(c.frame);
        EXPECT_EQ(done.get(Cqe::l2_ok), 1u) << c.what;
        EXPECT_EQ(done.get(Cqe::l3_hdr_type), c.l3) << c.what;
        EXPECT_EQ(done.get(Cqe::l4_hdr_type), c.l4) << c.what;
        EXPECT_EQ(done.get(Cqe::l3_ok), c.l3_ok) << c.what;
        EXPECT_EQ(done.get(Cqe::l4_ok), c.l4_ok) << c.what;
        EXPECT_EQ(done.get(Cqe::ip_ext_opts), c.options) << c.what;
        EXPECT_EQ(done.get(Cqe::ip_frag), 0u) << c.what;
        EXPECT_EQ(done.get(Cqe::vlan_stripped), 0u) << c.what;
    }
}

TEST_F(ReceiveTest, OneWrongBitSpoilsTheVerdictOfItsLayer) {
    Bytes good = frame(Ipv4{}, Tcp{}, pattern(41));
    for (usize at = 14; at < good.size(); ++at) {
        Bytes bad = good;
        bad[at] ^= 0x04;
        Completion done = receive(bad);
        EXPECT_FALSE(done.get(Cqe::l3_ok) && done.get(Cqe::l4_ok)) << "byte " << at;
        EXPECT_EQ(done.get(Cqe::l3_ok), at >= 34 ? 1u : 0u) << "byte " << at;
    }
}

TEST_F(ReceiveTest, UdpWithoutChecksumIsGoodInIpv4Only) {
    Bytes four = frame(Ipv4{}, Udp{}, pattern(20)), six = frame(Ipv6{}, Udp{}, pattern(20));
    four[14 + 20 + 6] = four[14 + 20 + 7] = 0;
    six[14 + 40 + 6] = six[14 + 40 + 7] = 0;
    EXPECT_EQ(receive(four).get(Cqe::l4_ok), 1u);
    EXPECT_EQ(receive(six).get(Cqe::l4_ok), 0u);
}

TEST_F(ReceiveTest, FragmentsAreMarkedAndHaveNoLayerFour) {
    Bytes whole = frame(Ipv4{.fragment = 0x2000}, Udp{}, pattern(64));
    Completion done = receive(whole);
    EXPECT_EQ(done.get(Cqe::ip_frag), 1u);
    EXPECT_EQ(done.get(Cqe::l3_ok), 1u);
    EXPECT_EQ(done.get(Cqe::l4_ok), 0u);
    EXPECT_EQ(done.get(Cqe::l4_hdr_type), 0u);
    EXPECT_EQ(done.get(Cqe::check_sum), slow_sum(Bytes(whole.begin() + 14, whole.end())));
}

TEST_F(ReceiveTest, ChecksumCoversEverythingBehindTheEthernetHeader) {
    struct {
        const char *what;
        Bytes frame;
        usize ip_at;
    } const kCases[] = {
        {"TCP, odd length", frame(Ipv4{}, Tcp{}, pattern(77)), 14},
        {"UDP", frame(Ipv4{}, Udp{}, pattern(400)), 14},
        {"options", frame(Ipv4{.options = Bytes(8, 1)}, Tcp{}, pattern(77)), 14},
        {"IPv6", frame(Ipv6{}, Tcp{}, pattern(99)), 14},
        {"IPv6 extensions",
         frame(Ipv6{.extensions = Bytes{6, 0, 1, 4, 0, 0, 9, 9}, .first_header = 60}, Tcp{}, pattern(99)),
         14},
        {"two tags", frame(Ipv4{}, Tcp{}, pattern(77), vlan_tag(0x88a8, 3) + vlan_tag(0x8100, 4)), 22},
        {"three tags",
         frame(Ipv4{}, Tcp{}, pattern(77), vlan_tag(0x88a8, 3) + vlan_tag(0x8100, 4) + vlan_tag(0x8100, 5)),
         26},
    };
    for (bool vsd : {false, true}) {
        set_vsd(vsd);
        for (const auto &c : kCases)
            for (const Bytes &padding : {Bytes{}, Bytes{0xde, 0xad, 0xbe}})
                expect_sum_of_all(c.frame + padding, c.what);
    }
    EXPECT_EQ(receive(ethernet(0x88b5) + pattern(100)).get(Cqe::check_sum), 0u) << "not IP";
}

// Worked by hand. IP header without checksum: 4500+001c+0001+0000+4011+0a00+0001+0a00+0002 = 9931, so the
// checksum is 66ce and the whole header sums to ffff. UDP: 0001+0002+0008+0000 = 000b. Together 1000a, with
// the carry 000b.
TEST_F(ReceiveTest, ChecksumOfAnExampleWorkedByHand) {
    Bytes packet{0x45, 0, 0,  0x1c, 0, 1, 0, 0, 0x40, 0x11, 0x66, 0xce, 10, 0,
                 0,    1, 10, 0,    0, 2, 0, 1, 0,    2,    0,    8,    0,  0};
    Completion done = receive(ethernet(0x0800) + packet);
    EXPECT_EQ(done.get(Cqe::l3_ok), 1u);
    EXPECT_EQ(done.get(Cqe::check_sum), 0x000bu);
    EXPECT_EQ(done.raw[0x14], 0x00);
    EXPECT_EQ(done.raw[0x15], 0x0b);
}

TEST_F(ReceiveTest, CongestionMarkIsReported) {
    EXPECT_EQ(receive(frame(Ipv4{.tos = 0x03}, Tcp{}, {})).get(Cqe::ecn_ce), 1u);
    EXPECT_EQ(receive(frame(Ipv4{.tos = 0x02}, Tcp{}, {})).get(Cqe::ecn_ce), 0u);
    EXPECT_EQ(receive(frame(Ipv6{.traffic_class = 0xb3}, Tcp{}, {})).get(Cqe::ecn_ce), 1u);
}

// ---- VLAN
// -----------------------------------------------------------------------------------------------------------------
TEST_F(ReceiveTest, OuterCvlanTagIsStripped) {
    Bytes payload = pattern(77);
    Completion done = receive(frame(Ipv4{}, Tcp{}, payload, vlan_tag(0x8100, 0xa123)));
    EXPECT_EQ(done.get(Cqe::vlan_stripped), 1u);
    EXPECT_EQ(done.get(Cqe::vlan_info), 0xa123u);
    Bytes untagged = frame(Ipv4{}, Tcp{}, payload);
    EXPECT_EQ(delivered(done), untagged);
    EXPECT_EQ(done.get(Cqe::check_sum), slow_sum(Bytes(untagged.begin() + 14, untagged.end())));
    EXPECT_EQ(done.get(Cqe::l4_ok), 1u);
}

TEST_F(ReceiveTest, OnlyTheOuterTagIsStripped) {
    Completion done = receive(frame(Ipv4{}, Tcp{}, pattern(20), vlan_tag(0x8100, 1) + vlan_tag(0x8100, 2)));
    EXPECT_EQ(done.get(Cqe::vlan_info), 1u);
    EXPECT_EQ(delivered(done), frame(Ipv4{}, Tcp{}, pattern(20), vlan_tag(0x8100, 2)));
}

TEST_F(ReceiveTest, SvlanTagStaysInTheFrame) {
    Bytes tagged = frame(Ipv4{}, Tcp{}, pattern(20), vlan_tag(0x88a8, 1));
    Completion done = receive(tagged);
    EXPECT_EQ(done.get(Cqe::vlan_stripped), 0u);
    EXPECT_EQ(done.get(Cqe::vlan_info), 0u);
    EXPECT_EQ(delivered(done), tagged);
}

TEST_F(ReceiveTest, StrippingCanBeSwitchedOffAndOnAgain) {
    Bytes tagged = frame(Ipv4{}, Tcp{}, pattern(20), vlan_tag(0x8100, 1));
    set_vsd(true);
    Completion done = receive(tagged);
    EXPECT_EQ(done.get(Cqe::vlan_stripped), 0u);
    EXPECT_EQ(delivered(done), tagged);
    set_vsd(false);
    EXPECT_EQ(receive(tagged).get(Cqe::vlan_stripped), 1u);
}

// ---- FCS
// ------------------------------------------------------------------------------------------------------------------
// IEEE 802.3 as it is written: bit by bit, lowest first.
Bytes slow_fcs(const Bytes &frame) {
    u32 crc = 0xffffffff;
    for (u8 byte : frame)
        for (unsigned bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ ((crc ^ byte >> bit) & 1 ? 0xedb88320 : 0);
    crc = ~crc;
    return {static_cast<u8>(crc), static_cast<u8>(crc >> 8), static_cast<u8>(crc >> 16),
            static_cast<u8>(crc >> 24)};
}

TEST_F(ReceiveTest, FcsFollowsTheFrameWhenTheQueueWantsIt) {
    ASSERT_EQ(slow_fcs({'1', '2', '3', '4', '5', '6', '7', '8', '9'}), (Bytes{0x26, 0x39, 0xf4, 0xcb}));
    modify(ModifyQueueIn::kRqScatterFcs, RqContext::scatter_fcs, 1);
    for (usize payload : {0, 1, 46, 1460}) {
        Bytes whole = frame(Ipv4{}, Tcp{}, pattern(payload));
        Completion done = receive(whole);
        EXPECT_EQ(done.get(Cqe::byte_cnt), whole.size() + 4);
        EXPECT_EQ(delivered(done), whole + slow_fcs(whole));
        expect_sum_of_all(whole, "with FCS");
    }
    Bytes whole = ethernet(0x88b5) + pattern(60);
    EXPECT_EQ(delivered(receive(whole)), whole + slow_fcs(whole));
    modify(ModifyQueueIn::kRqScatterFcs, RqContext::scatter_fcs, 0);
    EXPECT_EQ(delivered(receive(whole)), whole);
}

TEST_F(ReceiveTest, FcsIsThatOfTheWireAlsoWhenTheTagIsStripped) {
    modify(ModifyQueueIn::kRqScatterFcs, RqContext::scatter_fcs, 1);
    Bytes tagged = frame(Ipv4{}, Tcp{}, pattern(21), vlan_tag(0x8100, 5));
    EXPECT_EQ(delivered(receive(tagged)), frame(Ipv4{}, Tcp{}, pattern(21)) + slow_fcs(tagged));
    expect_sum_of_all(tagged, "stripped, with FCS");
}

// ---- Frames cut anywhere
// ---------------------------------------------------------------------------------------------------
TEST_F(ReceiveTest, FramesCutAnywhereArriveUnchanged) {
    std::vector<Bytes> all = frames_with_long_headers(pattern(8));
    for (const Bytes &whole : all)
        for (usize cut = 14; cut <= whole.size(); ++cut) {
            // On the heap at its exact size, so that the sanitizer sees one byte too far.
            Bytes part(whole.begin(), whole.begin() + static_cast<long>(cut));
            Completion done = receive(part);
            EXPECT_EQ(delivered(done), part);
            EXPECT_EQ(done.get(Cqe::l4_ok), cut == whole.size() ? 1u : 0u) << cut;
        }
}

// ---- Several receivers
// -----------------------------------------------------------------------------------------------------
TEST_F(ReceiveTest, CountersSeeEveryFrameOnce) {
    receive(frame(Ipv4{}, Tcp{}, pattern(46)));
    EXPECT_EQ(card_.host.counter("rx_frames"), 1u);
    EXPECT_EQ(card_.host.counter("rx_bytes"), 100u);
    EXPECT_EQ(card_.host.counter("receive_wqes"), 1u);
}

TEST_F(ReceiveTest, PayloadThenEntryThenEventThenInterrupt) {
    card_.arm(cq_, 0);
    buffer_ = card_.post_buffer(rq_);
    u64 payload = 0, entry = 0, event = 0, interrupt = 0, step = 0;
    card_.host.on_access = [&](const FakeHost::Access &access) {
        if (!access.write) return;
        ++step;
        if (access.iova == buffer_) payload = step;
        if (access.iova >= cq_.ring && access.iova < cq_.ring + kPage) entry = step;
        if (access.iova >= card_.eq.ring && access.iova < card_.eq.ring + 4 * kPage) event = step;
    };
    card_.host.on_interrupt = [&](unsigned) { interrupt = ++step; };
    card_.host.frame_in(frame(Ipv4{}, Tcp{}, pattern(10)));
    card_.host.on_access = nullptr;
    card_.host.on_interrupt = nullptr;
    EXPECT_LT(0u, payload);
    EXPECT_LT(payload, entry);
    EXPECT_LT(entry, event);
    EXPECT_LT(event, interrupt);
}

} // namespace
} // namespace niclab::test
