// SPDX-License-Identifier: GPL-2.0-or-later
// Checksums and segmentation of packets inside VXLAN, GENEVE and GRE, and what the receive completion says of
// them.
#include <gtest/gtest.h>

#include "spec/tunnel.h"
#include "support/send_test.h"

namespace niclab::test {
namespace {

constexpr u16 kVxlanPort = 4789, kGenevePort = 6081;
const Bytes kVxlanHeader = be32(0x08000000) + be32(0x00123400);
const Bytes kGeneveHeader =
    Bytes{0x02, 0, 0x65, 0x58} + be32(0x00123400) + be32(0x01020301) + be32(0xdeadbeef);

// `inner` behind a UDP header without checksum, as tunnels send it.
template <class Ip>
Bytes in_udp(Ip ip, u16 port, const Bytes &header, const Bytes &inner) {
    ip.protocol = 17;
    Udp udp{.sport = 50000, .dport = port};
    usize bytes = header.size() + inner.size();
    return ethernet(std::is_same_v<Ip, Ipv4> ? 0x0800 : 0x86dd) + ip.header(8 + bytes) +
           udp.header(bytes, 0) + header + inner;
}
template <class Ip>
Bytes in_gre(Ip ip, const Bytes &header, const Bytes &inner) {
    ip.protocol = 47;
    return ethernet(std::is_same_v<Ip, Ipv4> ? 0x0800 : 0x86dd) + ip.header(header.size() + inner.size()) +
           header + inner;
}
Bytes without_ethernet(const Bytes &frame) { return Bytes(frame.begin() + 14, frame.end()); }

// A tunnel: how it wraps an inner frame, and what the software parser is told about the result.
struct Wrapping {
    const char *name;
    std::function<Bytes(u16 id, const Bytes &inner)> wrap; // `id` of an outer IPv4 header
    usize inner_l3;                                        // where the inner IP header starts
    u32 parser_offsets = 0;
    u8 parser_flags = 0;
};

std::vector<Wrapping> wrappings() {
    Bytes plain_gre = be32(0x0000'0800), all_gre = be32(0x3000'6558) + be32(77) + be32(5);
    return {
        {"VXLAN over IPv4",
         [](u16 id, const Bytes &in) { return in_udp(Ipv4{.id = id}, kVxlanPort, kVxlanHeader, in); },
         14 + 20 + 8 + 8 + 14},
        {"VXLAN over IPv6", [](u16, const Bytes &in) { return in_udp(Ipv6{}, kVxlanPort, kVxlanHeader, in); },
         14 + 40 + 8 + 8 + 14},
        {"GENEVE, found by looking",
         [](u16 id, const Bytes &in) { return in_udp(Ipv4{.id = id}, kGenevePort, kGeneveHeader, in); },
         14 + 20 + 8 + 16 + 14},
        {"GENEVE, told", // outer L4 at 34, L3 at 14, inner L4 at 92, L3 at 72: in words
         [](u16 id, const Bytes &in) { return in_udp(Ipv4{.id = id}, kGenevePort, kGeneveHeader, in); },
         14 + 20 + 8 + 16 + 14, 0x11072e24, 0x20},
        {"unknown port over IPv6, told", // outer L4 at 54, L3 at 14, inner L4 at 104, L3 at 84
         [](u16, const Bytes &in) { return in_udp(Ipv6{}, 9999, kVxlanHeader, in); }, 14 + 40 + 8 + 8 + 14,
         0x1b07342a, 0x30},
        {"IPv4 in GRE",
         [=](u16 id, const Bytes &in) { return in_gre(Ipv4{.id = id}, plain_gre, without_ethernet(in)); },
         14 + 20 + 4},
        {"Ethernet in GRE with key and sequence number",
         [=](u16 id, const Bytes &in) { return in_gre(Ipv4{.id = id}, all_gre, in); }, 14 + 20 + 12 + 14},
    };
}

class Tunnel : public SendTest {
  protected:
    Tunnel() {
        Queue sq;
        CommandInput in = card_.sq_input(sq, 4, cq_.number);
        sq.number = card_.driver.must(in.set(SqContext::allow_swp, 1, CreateQueueIn::context)).number();
        EXPECT_TRUE(card_.modify_sq(sq, QueueState::reset, QueueState::ready).ok());
        sq_ = sq;
    }
    Status port_command(Opcode opcode, u16 port) {
        return card_.driver
            .run(CommandInput(opcode, VxlanPortIn::bytes).set(VxlanPortIn::vxlan_udp_port, port), 0x10)
            .status();
    }
    SendWqe told(const Wrapping &w, const Bytes &bytes) {
        SendWqe wqe = send_of(bytes);
        wqe.checksums = 0x70; // outer L3, both inner
        wqe.parser_offsets = w.parser_offsets;
        wqe.parser_flags = w.parser_flags;
        return wqe;
    }
};

TEST_F(Tunnel, InnerChecksumsAskedForAreRight) {
    for (const Wrapping &w : wrappings()) {
        Bytes right = w.wrap(7, frame(Ipv4{}, Tcp{}, pattern(77))), given = right;
        usize ip = w.inner_l3, tcp = ip + 20;
        given[ip + 10] ^= 0xff;
        given[tcp + 16] ^= 0xff;
        EXPECT_EQ(wire(told(w, given)), std::vector<Bytes>{right}) << w.name;
        SendWqe none = told(w, given);
        none.checksums = 0x40;
        EXPECT_EQ(wire(none), std::vector<Bytes>{given}) << w.name << ": nothing asked for";
    }
}

TEST_F(Tunnel, OuterIpChecksumIsFilledInAndOuterUdpLeftAlone) {
    for (u16 checksum : {0, 0x1234}) {
        Bytes right = in_udp(Ipv4{}, kVxlanPort, kVxlanHeader, frame(Ipv4{}, Udp{}, pattern(30)));
        right[40] = static_cast<u8>(checksum >> 8);
        right[41] = static_cast<u8>(checksum);
        Bytes given = right;
        given[24] ^= 0xff;
        SendWqe wqe = send_of(given);
        wqe.checksums = 0x70;
        EXPECT_EQ(wire(wqe), std::vector<Bytes>{right});
    }
}

TEST_F(Tunnel, SegmentsCarryRightLengthsNumbersAndChecksumsOnBothLevels) {
    Bytes payload = pattern(2500);
    for (const Wrapping &w : wrappings()) {
        std::vector<Bytes> expected;
        for (u32 k = 0; k < 3; ++k) {
            Bytes part(payload.begin() + 1000 * k, payload.begin() + std::min(1000 * k + 1000, 2500u));
            Tcp tcp{.sequence = 0x01020304 + 1000 * k, .flags = static_cast<u8>(k == 2 ? 0x18 : 0x10)};
            Ipv4 ip{.id = static_cast<u16>(0x1234 + k)};
            expected.push_back(w.wrap(static_cast<u16>(7 + k), frame(ip, tcp, part)));
        }
        Bytes whole = w.wrap(7, frame(Ipv4{}, Tcp{.flags = 0x18}, payload));
        SendWqe wqe = told(w, whole);
        wqe.opcode = WqeOpcode::lso;
        wqe.mss = 1000;
        EXPECT_EQ(wire(wqe), expected) << w.name;
        usize header = w.inner_l3 + 40;
        SendWqe split{.opcode = WqeOpcode::lso,
                      .checksums = 0x70,
                      .parser_flags = w.parser_flags,
                      .parser_offsets = w.parser_offsets,
                      .mss = 1000,
                      .inline_header = Bytes(whole.begin(), whole.begin() + static_cast<long>(header))};
        split.pointer(card_.lkey, card_.buffer(payload), 2500);
        EXPECT_EQ(wire(split), expected) << w.name << ", header in the WQE";
    }
}

// A sender that wants an outer checksum writes one that is right for each piece: the same for all, because a
// piece with right inner checksums adds the same whatever it carries.
TEST_F(Tunnel, OuterUdpChecksumOfEqualPiecesStaysRight) {
    Ipv4 outer{.protocol = 17};
    Udp udp{.sport = 50000, .dport = kVxlanPort};
    Bytes payload = pattern(2000), inner_headers = frame(Ipv4{}, Tcp{}, Bytes{});
    auto wrap = [&](u16 id, const Bytes &inner) {
        Ipv4 own = outer;
        own.id = id;
        Bytes segment = udp.segment(own, kVxlanHeader + inner);
        return ethernet(0x0800) + own.header(segment.size()) + segment;
    };
    std::vector<Bytes> expected;
    for (u32 k = 0; k < 2; ++k)
        expected.push_back(
            wrap(static_cast<u16>(9 + k),
                 frame(Ipv4{.id = static_cast<u16>(0x1234 + k)}, Tcp{.sequence = 0x01020304 + 1000 * k},
                       Bytes(payload.begin() + 1000 * k, payload.begin() + 1000 * k + 1000))));
    SendWqe wqe = send_of(expected[0] + Bytes(payload.begin() + 1000, payload.end()));
    wqe.opcode = WqeOpcode::lso;
    wqe.checksums = 0x70;
    wqe.mss = 1000;
    EXPECT_EQ(wire(wqe), expected);
}

TEST_F(Tunnel, OffsetsCountWithoutTheTagThatTheCardInserts) {
    const Wrapping w = wrappings()[3];
    Bytes right = w.wrap(7, frame(Ipv4{}, Tcp{}, pattern(77))), given = right;
    given[w.inner_l3 + 20 + 16] ^= 0xff;
    SendWqe wqe = told(w, given);
    wqe.insert = 1u << 31 | 5;
    Bytes tag = vlan_tag(0x8100, 5);
    right.insert(right.begin() + 12, tag.begin(), tag.end());
    EXPECT_EQ(wire(wqe), std::vector<Bytes>{right});
}

TEST_F(Tunnel, ParserFieldsNeedAQueueThatAllowsThem) {
    sq_ = card_.create_sq(4, cq_.number);
    SendWqe wqe = send_of(frame(Ipv4{}, Tcp{}, pattern(10)));
    wqe.parser_flags = 0x20;
    EXPECT_EQ(failure(wqe), CqeSyndrome::local_qp_operation);
    wqe.parser_flags = 0;
    wqe.parser_offsets = 1;
    EXPECT_EQ(failure(wqe), CqeSyndrome::local_qp_operation);
}

TEST_F(Tunnel, LargeSendOfAnInnerPacketThatIsNotThereFails) {
    SendWqe wqe = send_of(frame(Ipv4{}, Tcp{}, pattern(2000)));
    wqe.opcode = WqeOpcode::lso;
    wqe.checksums = 0x70;
    wqe.mss = 1000;
    EXPECT_EQ(failure(wqe), CqeSyndrome::local_qp_operation);
    // ... and one that is told to lie on top of the outer packet.
    for (u32 offsets : {0x11071107u, 0x11072e07u, 0x2e241107u, 0x2e242e24u}) {
        const Wrapping w = wrappings()[3];
        SendWqe on_top = told(w, w.wrap(7, frame(Ipv4{}, Tcp{}, pattern(2000))));
        on_top.opcode = WqeOpcode::lso;
        on_top.mss = 100;
        on_top.parser_offsets = offsets;
        EXPECT_EQ(failure(on_top), CqeSyndrome::local_qp_operation) << std::hex << offsets;
    }
}

TEST_F(Tunnel, AnyOffsetsAndCutsStayInsideTheFrame) {
    const Wrapping w = wrappings()[3];
    Bytes whole = w.wrap(7, frame(Ipv4{}, Tcp{}, pattern(60)));
    u32 random = 1;
    for (int i = 0; i < 3000; ++i) {
        random = random * 1664525 + 1013904223;
        Bytes cut(whole.begin(), whole.begin() + 14 + random % (whole.size() - 13));
        SendWqe wqe = told(w, cut);
        wqe.opcode = i % 2 ? WqeOpcode::lso : WqeOpcode::send;
        wqe.checksums = 0xf0;
        wqe.mss = static_cast<u16>(1 + random % 70);
        if (i % 3) wqe.parser_offsets = i % 3 == 1 ? random : random & 0x3f3f3f3f;
        wqe.parser_flags = static_cast<u8>(random >> 8);
        card_.host.frames.clear();
        card_.send(sq_, wqe);
        std::vector<Completion> done = card_.drain(cq_);
        ASSERT_EQ(done.size(), 1u);
        if (done[0].opcode() == CqeOpcode::requester_error) recover();
    }
}

// ---- Receive
// ---------------------------------------------------------------------------------------------------------------
class TunnelReceive : public Tunnel {
  protected:
    Completion receive(const Bytes &frame) {
        card_.post_buffer(rq_);
        card_.host.frame_in(frame);
        return card_.poll(receive_cq_).value();
    }
    Queue receive_cq_ = card_.create_cq(6), rq_ = card_.create_rq(3, 4, receive_cq_.number);
    u32 table_ = card_.catch_all(card_.create_tir(rq_.number));
};

TEST_F(TunnelReceive, CompletionTellsOfTheInnerPacketAndVouchesForBoth) {
    for (const Wrapping &w : wrappings()) {
        if (w.parser_offsets) continue;
        Bytes good = w.wrap(7, frame(Ipv4{}, Tcp{.flags = 0x02}, pattern(77)));
        Completion done = receive(good);
        EXPECT_EQ(done.get(Cqe::tunneled), 1u) << w.name;
        EXPECT_EQ(done.get(Cqe::outer_l3_ipv6), load_be16(good.data() + 12) == 0x86dd) << w.name;
        EXPECT_EQ(done.get(Cqe::l3_hdr_type), 2u) << w.name;
        EXPECT_EQ(done.get(Cqe::l4_hdr_type), 1u) << w.name;
        EXPECT_EQ(done.get(Cqe::l3_ok), 1u) << w.name;
        EXPECT_EQ(done.get(Cqe::l4_ok), 1u) << w.name;
        Bytes datagram = without_ethernet(good);
        EXPECT_EQ(done.get(Cqe::check_sum), slow_sum(datagram)) << w.name << ": the sum is the outer one";

        Bytes bad = good;
        bad.back() ^= 1;
        EXPECT_EQ(receive(bad).get(Cqe::l4_ok), 0u) << w.name;
        bad = good;
        bad[w.inner_l3 + 8] ^= 1; // inner TTL
        EXPECT_EQ(receive(bad).get(Cqe::l3_ok), 0u) << w.name;
    }
}

TEST_F(TunnelReceive, PortThatWasNotToldIsNoTunnel) {
    Bytes packet = in_udp(Ipv4{}, 8472, kVxlanHeader, frame(Ipv4{}, Tcp{}, pattern(20)));
    EXPECT_EQ(receive(packet).get(Cqe::tunneled), 0u);
    EXPECT_EQ(port_command(Opcode::add_vxlan_udp_dport, 8472), Status::ok);
    EXPECT_EQ(receive(packet).get(Cqe::tunneled), 1u);
    EXPECT_EQ(port_command(Opcode::delete_vxlan_udp_dport, 8472), Status::ok);
    EXPECT_EQ(receive(packet).get(Cqe::tunneled), 0u);
}

TEST_F(TunnelReceive, CutTunnelsAreReadNoFurtherThanTheyReach) {
    for (const Wrapping &w : wrappings()) {
        Bytes whole = w.wrap(7, frame(Ipv4{}, Tcp{}, pattern(20)));
        for (usize bytes = 14; bytes < whole.size(); ++bytes)
            EXPECT_EQ(receive(Bytes(whole.begin(), whole.begin() + static_cast<long>(bytes))).get(Cqe::l4_ok),
                      0u)
                << w.name << " " << bytes;
    }
}

TEST_F(TunnelReceive, TheDefaultPortIsKnownFromTheStartUntilItIsTakenAway) {
    Bytes packet = in_udp(Ipv4{}, kVxlanPort, kVxlanHeader, frame(Ipv4{}, Tcp{}, pattern(20)));
    EXPECT_EQ(receive(packet).get(Cqe::tunneled), 1u);
    EXPECT_EQ(port_command(Opcode::add_vxlan_udp_dport, kVxlanPort), Status::ok);
    EXPECT_EQ(port_command(Opcode::delete_vxlan_udp_dport, kVxlanPort), Status::ok);
    EXPECT_EQ(receive(packet).get(Cqe::tunneled), 0u);
    EXPECT_EQ(port_command(Opcode::delete_vxlan_udp_dport, kVxlanPort), Status::bad_resource);
    EXPECT_EQ(port_command(Opcode::add_vxlan_udp_dport, kVxlanPort), Status::ok);
    EXPECT_EQ(receive(packet).get(Cqe::tunneled), 1u);
}

TEST_F(TunnelReceive, PortTableIsBounded) {
    EXPECT_EQ(port_command(Opcode::delete_vxlan_udp_dport, 1), Status::bad_resource);
    for (u16 port = 1; port < 16; ++port)
        EXPECT_EQ(port_command(Opcode::add_vxlan_udp_dport, port), Status::ok);
    EXPECT_EQ(port_command(Opcode::add_vxlan_udp_dport, 1), Status::bad_parameter) << "twice";
    EXPECT_EQ(port_command(Opcode::add_vxlan_udp_dport, 16), Status::limits_exceeded);
    EXPECT_EQ(port_command(Opcode::delete_vxlan_udp_dport, 3), Status::ok);
    EXPECT_EQ(port_command(Opcode::add_vxlan_udp_dport, 16), Status::ok);
}

} // namespace
} // namespace niclab::test
