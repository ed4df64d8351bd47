// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "support/send_test.h"

namespace niclab::test {
namespace {

class SqTest : public SendTest {};

const SendWqe kNop{.opcode = WqeOpcode::nop};

// ---- Frames
// ---------------------------------------------------------------------------------------------------------------
TEST_F(SqTest, SendJoinsItsSegmentsInOrder) {
    Bytes whole = ethernet(0x88b5) + pattern(100);
    SendWqe wqe;
    for (usize at = 0; at < whole.size(); at += 38) {
        Bytes part(whole.begin() + static_cast<long>(at),
                   whole.begin() + static_cast<long>(std::min(at + 38, whole.size())));
        wqe.pointer(card_.lkey, card_.buffer(part), static_cast<u32>(part.size()));
    }
    EXPECT_EQ(wire(wqe), std::vector<Bytes>{whole});
    EXPECT_EQ(card_.drain(cq_).size(), 1u);
}

TEST_F(SqTest, InlineHeaderOfEverySizeGoesBeforeTheData) {
    Bytes whole = ethernet(0x88b5) + pattern(200);
    for (usize n = 0; n <= 150; ++n) {
        SendWqe wqe;
        wqe.inline_header = Bytes(whole.begin(), whole.begin() + static_cast<long>(n));
        Bytes rest(whole.begin() + static_cast<long>(n), whole.end());
        wqe.pointer(card_.lkey, card_.buffer(rest), static_cast<u32>(rest.size()));
        EXPECT_EQ(wire(wqe), std::vector<Bytes>{whole}) << n << " bytes inline";
    }
}

TEST_F(SqTest, InlineDataSegmentsOfEverySizeAreTaken) {
    for (usize n = 60; n <= 130; ++n) {
        Bytes whole = ethernet(0x88b5) + pattern(n);
        SendWqe wqe;
        wqe.inlined(Bytes(whole.begin(), whole.begin() + 20)).inlined(Bytes(whole.begin() + 20, whole.end()));
        EXPECT_EQ(wire(wqe), std::vector<Bytes>{whole});
    }
}

TEST_F(SqTest, ShortFramesArePaddedWithZerosToSixtyBytes) {
    for (usize n : {14, 42, 59, 60, 61}) {
        wire(send_of(ethernet(0x88b5) + pattern(186))); // leaves other bytes behind in the card
        Bytes whole = ethernet(0x88b5) + pattern(n - 14);
        Bytes expected = whole;
        expected.resize(std::max<usize>(n, 60));
        EXPECT_EQ(wire(send_of(whole)), std::vector<Bytes>{expected});
    }
}

TEST_F(SqTest, VlanTagIsInsertedBehindTheAddresses) {
    Bytes payload = pattern(80);
    SendWqe wqe = send_of(ethernet(0x88b5) + payload);
    wqe.insert = 1u << 31 | 0x6123;
    EXPECT_EQ(wire(wqe), std::vector<Bytes>{ethernet(0x88b5, vlan_tag(0x8100, 0x6123)) + payload});
    wqe = send_of(ethernet(0x88b5) + payload);
    wqe.insert = 1u << 31 | 1u << 16 | 0x0fff;
    EXPECT_EQ(wire(wqe), std::vector<Bytes>{ethernet(0x88b5, vlan_tag(0x88a8, 0x0fff)) + payload});
}

TEST_F(SqTest, FrameLongerThanThePortMtuIsLostAndCountedButCompletes) {
    Bytes longest =
        ethernet(0x88b5) + pattern(1504); // 1500, a VLAN tag's worth more, and 4 bytes FCS make 1522
    EXPECT_EQ(wire(send_of(longest)).size(), 1u);
    EXPECT_EQ(wire(send_of(longest + Bytes{1})).size(), 0u);
    EXPECT_EQ(card_.host.counter("tx_drop_oversize"), 1u);
    EXPECT_EQ(card_.drain(cq_).size(), 2u);
    card_.set_mtu(9022);
    EXPECT_EQ(wire(send_of(longest + Bytes{1})).size(), 1u);
}

TEST_F(SqTest, NothingLeavesAPortThatIsDown) {
    card_.set_port(PortState::down);
    EXPECT_EQ(wire(send_of(ethernet(0x88b5) + pattern(100))).size(), 0u);
    EXPECT_EQ(card_.host.counter("tx_drop_port_down"), 1u);
    EXPECT_EQ(card_.drain(cq_).size(), 1u);
}

// ---- Checksum offload
// -----------------------------------------------------------------------------------------------------
struct Offload {
    u8 flags;
    bool l3, l4;
};
constexpr Offload kOffloads[] = {
    {0x00, false, false}, {0x40, true, false}, {0x80, false, true}, {0xc0, true, true}};

// Sets both checksum fields to `fill` and returns what the frame should look like when only the asked ones
// are right.
Bytes spoil(Bytes frame, usize ip_at, usize l4_checksum_at, bool l3, bool l4) {
    if (l3) frame[ip_at + 10] = frame[ip_at + 11] = 0xa5;
    if (l4) frame[l4_checksum_at] = frame[l4_checksum_at + 1] = 0x5a;
    return frame;
}

TEST_F(SqTest, ChecksumsAskedForAreRightAndOthersUntouched) {
    struct {
        const char *what;
        Bytes right;
        usize ip_at, l4_at;
        bool ipv4;
    } const kCases[] = {
        {"IPv4 TCP", frame(Ipv4{}, Tcp{}, pattern(77)), 14, 14 + 20 + 16, true},
        {"IPv4 UDP", frame(Ipv4{}, Udp{}, pattern(76)), 14, 14 + 20 + 6, true},
        {"IPv4 options", frame(Ipv4{.options = {1, 1, 1, 0}}, Tcp{}, pattern(50)), 14, 14 + 24 + 16, true},
        {"tagged IPv4", frame(Ipv4{}, Tcp{}, pattern(50), vlan_tag(0x8100, 5)), 18, 18 + 20 + 16, true},
        {"two tags", frame(Ipv4{}, Udp{}, pattern(50), vlan_tag(0x88a8, 5) + vlan_tag(0x8100, 6)), 22,
         22 + 20 + 6, true},
        {"IPv6 TCP", frame(Ipv6{}, Tcp{}, pattern(77)), 14, 14 + 40 + 16, false},
        {"IPv6 UDP", frame(Ipv6{}, Udp{}, pattern(77)), 14, 14 + 40 + 6, false},
        {"IPv6 hop-by-hop",
         frame(Ipv6{.extensions = Bytes{6, 0, 1, 4, 0, 0, 0, 0}, .first_header = 0}, Tcp{}, pattern(77)), 14,
         14 + 48 + 16, false},
    };
    for (const auto &c : kCases)
        for (const Offload &o : kOffloads) {
            Bytes given = spoil(c.right, c.ip_at, c.l4_at, c.ipv4, true);
            Bytes expected = spoil(c.right, c.ip_at, c.l4_at, c.ipv4 && !o.l3, !o.l4);
            SendWqe wqe = send_of(given);
            wqe.checksums = o.flags;
            EXPECT_EQ(wire(wqe), std::vector<Bytes>{expected}) << c.what << " flags " << int{o.flags};
        }
}

TEST_F(SqTest, L4ChecksumOfFragmentsStaysUntouched) {
    for (u16 fragment : {0x2000, 0x0010, 0x2010}) {
        Bytes whole = frame(Ipv4{.fragment = fragment}, Udp{}, pattern(80));
        Bytes given = spoil(whole, 14, 40, false, true);
        SendWqe wqe = send_of(given);
        wqe.checksums = 0xc0;
        EXPECT_EQ(wire(wqe), std::vector<Bytes>{given}) << fragment;
    }
    Ipv6 ip{.extensions = Bytes{17, 0, 0, 1, 0, 0, 0, 9}, .first_header = 44}; // more fragments
    Bytes given = spoil(frame(ip, Udp{}, pattern(80)), 14, 14 + 48 + 6, false, true);
    SendWqe wqe = send_of(given);
    wqe.checksums = 0xc0;
    EXPECT_EQ(wire(wqe), std::vector<Bytes>{given});
}

TEST_F(SqTest, UdpChecksumThatComesToZeroIsSentAsAllOnes) {
    Ipv4 ip{.protocol = 17};
    Udp udp;
    Bytes payload = pattern(40);
    payload[0] = payload[1] = 0;
    u16 sum = slow_sum(ip.pseudo(48) + udp.header(40, 0) + payload); // make the whole sum 0xffff
    payload[0] = static_cast<u8>((0xffff - sum) >> 8);
    payload[1] = static_cast<u8>(0xffff - sum);
    Bytes given = ethernet(0x0800) + ip.header(48) + udp.header(40, 0) + payload;
    SendWqe wqe = send_of(given);
    wqe.checksums = 0x80;
    Bytes out = wire(wqe).at(0);
    EXPECT_EQ(load_be16(out.data() + 40), 0xffff);
}

TEST_F(SqTest, PaddingIsNotPartOfTheChecksum) {
    Bytes right = frame(Ipv4{}, Udp{}, Bytes{1}); // 43 bytes
    SendWqe wqe = send_of(spoil(right, 14, 40, true, true));
    wqe.checksums = 0xc0;
    right.resize(60);
    EXPECT_EQ(wire(wqe), std::vector<Bytes>{right});
}

// Field case: a parser that trusts a cut header reads beyond the frame.
TEST_F(SqTest, FramesCutAnywhereWithOffloadAskedForNeverLeaveTheGuestsBytes) {
    std::vector<Bytes> all = frames_with_long_headers(pattern(8));
    all.push_back(
        frame(Ipv6{.extensions = Bytes{6, 255, 1, 4, 0, 0, 0, 0}, .first_header = 0}, Tcp{}, pattern(8)));
    for (const Bytes &whole : all)
        for (usize cut = 1; cut <= whole.size(); ++cut)
            for (WqeOpcode opcode : {WqeOpcode::send, WqeOpcode::lso}) {
                u64 address = card_.buffer(Bytes(whole.begin(), whole.begin() + static_cast<long>(cut)));
                usize split = cut / 2;
                SendWqe wqe{.opcode = opcode, .checksums = 0xc0, .mss = 4};
                wqe.pointer(card_.lkey, address, static_cast<u32>(split))
                    .pointer(card_.lkey, address + split, static_cast<u32>(cut - split));
                std::vector<Bytes> out = wire(wqe);
                std::vector<Completion> done = card_.drain(cq_);
                ASSERT_EQ(done.size(), 1u);
                if (done[0].opcode() == CqeOpcode::requester_error) {
                    EXPECT_TRUE(out.empty());
                    recover();
                } else if (opcode == WqeOpcode::send) {
                    ASSERT_EQ(out.size(), 1u);
                    EXPECT_EQ(out[0].size(), std::max<usize>(cut, 60));
                }
            }
}

TEST_F(SqTest, WhereAFrameIsSplitOverTwoSegmentsMakesNoDifference) {
    for (const Bytes &whole : frames_with_long_headers(pattern(40)))
        for (WqeOpcode opcode : {WqeOpcode::send, WqeOpcode::lso}) {
            u64 address = card_.buffer(whole);
            u32 bytes = static_cast<u32>(whole.size());
            auto sent = [&](u32 split) {
                SendWqe wqe{.opcode = opcode, .checksums = 0xc0, .mss = 16};
                if (split) wqe.pointer(card_.lkey, address, split);
                std::vector<Bytes> out = wire(wqe.pointer(card_.lkey, address + split, bytes - split));
                if (card_.drain(cq_).at(0).opcode() == CqeOpcode::requester_error) recover();
                return out;
            };
            std::vector<Bytes> in_one_piece = sent(0);
            for (u32 split = 1; split < bytes; ++split)
                ASSERT_EQ(sent(split), in_one_piece) << split;
        }
}

// ---- Large send
// -----------------------------------------------------------------------------------------------------------
TEST_F(SqTest, LargeSendTakesItsHeaderFromTheWqeOrFromMemory) {
    Bytes payload = pattern(3000);
    Bytes whole = frame(Ipv4{}, Tcp{}, payload);
    Bytes header(whole.begin(), whole.begin() + 54);
    SendWqe told{.opcode = WqeOpcode::lso, .checksums = 0xc0, .mss = 1400, .inline_header = header};
    told.pointer(card_.lkey, card_.buffer(payload), 3000);
    std::vector<Bytes> a = wire(told);
    SendWqe plain = send_of(whole);
    plain.opcode = WqeOpcode::lso;
    plain.mss = 1400;
    EXPECT_EQ(wire(plain), a);
    ASSERT_EQ(a.size(), 3u);
    EXPECT_EQ(a[0].size(), 54u + 1400);
    EXPECT_EQ(a[2].size(), 54u + 200);
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 2u) << "one completion for each WQE, not for each frame";
}

TEST_F(SqTest, LargeSendWithAnInsertedTagSegmentsBehindIt) {
    SendWqe wqe = send_of(frame(Ipv4{}, Tcp{}, pattern(2000)));
    wqe.opcode = WqeOpcode::lso;
    wqe.mss = 1000;
    wqe.insert = 1u << 31 | 7;
    std::vector<Bytes> out = wire(wqe);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].size(), 58u + 1000);
    EXPECT_EQ(load_be32(out[1].data() + 12), 0x81000007u);
    EXPECT_EQ(load_be16(out[1].data() + 16), 0x0800);
}

TEST_F(SqTest, LargeSendOfAQuarterMegabyteWorks) {
    card_.set_mtu(9022);
    Bytes payload = pattern((256u << 10) - 54);
    SendWqe wqe = send_of(frame(Ipv6{}, Tcp{}, Bytes(0)) + payload);
    wqe.opcode = WqeOpcode::lso;
    wqe.mss = 8900;
    std::vector<Bytes> out = wire(wqe);
    Bytes joined;
    for (const Bytes &one : out)
        joined.insert(joined.end(), one.begin() + 74, one.end());
    EXPECT_EQ(joined, payload);
}

// ---- Hostile WQEs
// ---------------------------------------------------------------------------------------------------------
TEST_F(SqTest, ErrorsCarryTheManualsSyndromes) {
    u64 good = card_.buffer(ethernet(0x88b5) + pattern(100));
    u64 gone = 0x7000'0000;
    u32 other_pd = card_.driver.alloc(Opcode::alloc_pd);
    std::swap(other_pd, card_.pd);
    u32 foreign = card_.create_mkey().number() << 8 | Card::kKeyByte;
    std::swap(other_pd, card_.pd);
    u32 write_only =
        card_.create_mkey(AccessMode::physical, true, 0, 0, /*read=*/false).number() << 8 | Card::kKeyByte;
    u32 window = card_.create_mkey(AccessMode::physical, false, good, 50).number() << 8 | Card::kKeyByte;
    auto pointer = [&](u32 lkey, u64 address, u32 bytes) { return SendWqe{}.pointer(lkey, address, bytes); };
    auto with_ds = [&](int ds) {
        SendWqe wqe = pointer(card_.lkey, good, 100);
        wqe.ds = ds;
        return wqe;
    };
    SendWqe wide_inline = pointer(card_.lkey, good, 100);
    wide_inline.insert = 0x03ff0000; // 1023 bytes of inline header in a WQE of three units
    SendWqe wide_data;
    wide_data.data = be32(0x800003ff) + zeros(12);
    SendWqe trailer = pointer(card_.lkey, good, 100);
    trailer.insert = 1u << 30;
    SendWqe no_mss = pointer(card_.lkey, good, 100);
    no_mss.opcode = WqeOpcode::lso;

    struct {
        const char *what;
        SendWqe wqe;
        CqeSyndrome syndrome;
    } const kCases[] = {
        {"no units at all", with_ds(0), CqeSyndrome::local_qp_operation},
        {"only a control segment", with_ds(1), CqeSyndrome::local_qp_operation},
        {"longer than what was posted", with_ds(63), CqeSyndrome::local_qp_operation},
        {"no data", with_ds(2), CqeSyndrome::local_length},
        {"UMR on a queue that is not for it", {.opcode = WqeOpcode::umr}, CqeSyndrome::local_qp_operation},
        {"unknown opcode", {.opcode = static_cast<WqeOpcode>(0xff)}, CqeSyndrome::local_qp_operation},
        {"inline header beyond the WQE", wide_inline, CqeSyndrome::local_qp_operation},
        {"inline data beyond the WQE", wide_data, CqeSyndrome::local_qp_operation},
        {"IPsec trailer", trailer, CqeSyndrome::local_qp_operation},
        {"LSO without segment size, not IP", no_mss, CqeSyndrome::local_qp_operation},
        {"too short for Ethernet", pointer(card_.lkey, good, 13), CqeSyndrome::local_length},
        {"two gigabytes", pointer(card_.lkey, good, 0x7fffffff), CqeSyndrome::local_length},
        {"key 0", pointer(0, good, 100), CqeSyndrome::local_protection},
        {"terminator key", pointer(kTerminatorLkey, good, 100), CqeSyndrome::local_protection},
        {"wrong low byte", pointer(card_.lkey ^ 1, good, 100), CqeSyndrome::local_protection},
        {"unknown index", pointer(card_.lkey + 0x7f00, good, 100), CqeSyndrome::local_protection},
        {"another domain's key", pointer(foreign, good, 100), CqeSyndrome::local_protection},
        {"key without read access", pointer(write_only, good, 100), CqeSyndrome::local_protection},
        {"beyond the key's window", pointer(window, good, 51), CqeSyndrome::local_protection},
        {"before the key's window", pointer(window, good - 1, 20), CqeSyndrome::local_protection},
        {"address wraps around", pointer(card_.lkey, ~u64{0} - 10, 100), CqeSyndrome::local_protection},
        {"unmapped address", pointer(card_.lkey, gone, 100), CqeSyndrome::local_protection},
        {"address 0", pointer(card_.lkey, 0, 100), CqeSyndrome::local_protection},
    };
    for (const auto &c : kCases) {
        card_.host.frames.clear();
        EXPECT_EQ(failure(c.wqe), c.syndrome) << c.what;
        EXPECT_TRUE(card_.host.frames.empty()) << c.what;
    }
    EXPECT_EQ(failure(pointer(window, good, 50)), CqeSyndrome::none) << "the whole window is allowed";
}

TEST_F(SqTest, QueueWithoutTransportInterfaceSendsNothing) {
    Queue ico;
    card_.start_sq(ico,
                   card_.sq_input(ico, 4, cq_.number).set(SqContext::tis_lst_sz, 0, CreateQueueIn::context));
    card_.send(ico, kNop);
    EXPECT_EQ(card_.poll(cq_).value().opcode(), CqeOpcode::requester);
    card_.send(ico, send_of(ethernet(0x88b5) + pattern(100)));
    EXPECT_EQ(card_.poll(cq_).value().syndrome(), CqeSyndrome::local_qp_operation);
    EXPECT_TRUE(card_.host.frames.empty());
}

// ---- Ring and completions
// -------------------------------------------------------------------------------------------------
TEST_F(SqTest, OnlyWqesThatAskForItComplete) {
    SendWqe quiet = kNop;
    quiet.ce = 0;
    SendWqe on_error = kNop;
    on_error.ce = 1;
    card_.post(sq_, quiet);
    card_.post(sq_, on_error);
    card_.post(sq_, kNop);
    SendWqe with_event = kNop;
    with_event.ce = 3;
    card_.post(sq_, with_event);
    card_.ring(sq_);
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[0].counter(), 2u);
    EXPECT_EQ(done[1].counter(), 3u);
}

TEST_F(SqTest, CounterIsTheFirstBlockOfTheWqe) {
    Bytes payload = ethernet(0x88b5) + pattern(200);
    SendWqe wide;
    wide.inlined(payload); // 32 + 4 + 214 bytes: four blocks
    card_.post(sq_, kNop);
    card_.post(sq_, wide);
    card_.post(sq_, kNop);
    card_.ring(sq_);
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 3u);
    EXPECT_EQ(done[1].counter(), 1u);
    EXPECT_EQ(done[2].counter(), 5u);
}

TEST_F(SqTest, WqesWrapAroundTheRingAndTheCounterAround16Bits) {
    Bytes payload = ethernet(0x88b5) + pattern(150); // three blocks: every phase of the wrap in a ring of 16
    SendWqe wqe;
    wqe.inlined(payload);
    for (u32 i = 0; i < 65536 / 3 + 40; ++i) {
        card_.host.frames.clear();
        card_.host.traces.clear();
        card_.host.accesses.clear();
        u16 index = card_.post(sq_, wqe);
        card_.ring(sq_);
        ASSERT_EQ(card_.host.frames.size(), 1u) << "WQE " << i;
        ASSERT_EQ(card_.host.frames[0], payload) << "WQE " << i;
        ASSERT_EQ(card_.poll(cq_).value().counter(), index);
    }
}

TEST_F(SqTest, OneDoorbellCostsOneRecordReadAndOneFetch) {
    for (int i = 0; i < 10; ++i)
        card_.post(sq_, kNop);
    card_.host.accesses.clear();
    u64 wqe_reads = card_.host.counter("dma_wqe_reads"),
        record_reads = card_.host.counter("dma_record_reads");
    card_.ring(sq_);
    EXPECT_EQ(card_.host.counter("dma_wqe_reads") - wqe_reads, 1u);
    EXPECT_EQ(card_.host.counter("dma_record_reads") - record_reads, 1u);
    EXPECT_EQ(card_.drain(cq_).size(), 10u);
}

TEST_F(SqTest, LongRunsOfLongWqesAreFetchedInParts) {
    Queue cq = card_.create_cq(10), sq = card_.create_sq(10, cq.number);
    Bytes payload = ethernet(0x88b5) + pattern(380);
    SendWqe wqe;
    wqe.inlined(payload); // seven blocks: 256 fetched at once end inside a WQE
    for (int i = 0; i < 146; ++i)
        card_.post(sq, wqe);
    card_.ring(sq);
    EXPECT_EQ(card_.host.frames, std::vector<Bytes>(146, payload));
    EXPECT_EQ(card_.drain(cq).size(), 146u);
}

// Drivers that push a WQE write all of it to a doorbell register; its copy in the ring is what runs.
TEST_F(SqTest, WqePushedToAnyDoorbellRegisterRunsOnce) {
    Bytes payload = ethernet(0x88b5) + pattern(60);
    for (u64 window = uar::kSendDoorbell; window < uar::kBytes; window += 0x100) {
        SendWqe wqe = send_of(payload);
        Bytes raw = wqe.bytes(static_cast<u16>(card_.post(sq_, wqe)), sq_.number);
        raw.resize(64);
        card_.host.memory.put_be32(sq_.record + 4, static_cast<u16>(sq_.producer));
        card_.host.frames.clear();
        for (u64 at = 0; at < 64; at += 8)
            card_.host.write64(u64{card_.uar} * uar::kBytes + window + at, load_be64(raw.data() + at));
        EXPECT_EQ(card_.host.frames, std::vector<Bytes>{payload}) << std::hex << window;
        EXPECT_EQ(card_.drain(cq_).size(), 1u);
    }
    EXPECT_EQ(card_.host.counter("doorbells_invalid"), 0u);
}

TEST_F(SqTest, ProducerThatJumpsBeyondTheRingStopsTheQueueWithAnEvent) {
    card_.host.memory.put_be32(sq_.record + 4, 17); // a ring of 16
    card_.doorbell(sq_.number);
    EXPECT_EQ(card_.sq_state(sq_), QueueState::error);
    std::vector<Bytes> events = card_.events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0][1], 0x05);
    EXPECT_EQ(events[0][0x34], 2) << "a send queue";
    EXPECT_EQ(load_be32(events[0].data() + 0x38), sq_.number);
    EXPECT_TRUE(card_.drain(cq_).empty());
}

TEST_F(SqTest, FullRingIsExecuted) {
    for (int i = 0; i < 16; ++i)
        card_.post(sq_, kNop);
    card_.ring(sq_);
    EXPECT_EQ(card_.drain(cq_).size(), 16u);
}

TEST_F(SqTest, UnmappedRecordOrRingStopsTheQueueWithAnEvent) {
    card_.post(sq_, kNop);
    card_.host.memory.put_be32(sq_.record + 4, 1);
    card_.host.memory.unmap(sq_.ring, kPage);
    card_.doorbell(sq_.number);
    EXPECT_EQ(card_.sq_state(sq_), QueueState::error);
    EXPECT_EQ(card_.events_of(Event::wq_catastrophic), 1u);
    Queue other = card_.create_sq(4, cq_.number);
    card_.host.memory.unmap(other.record, kPage);
    card_.doorbell(other.number);
    EXPECT_EQ(card_.sq_state(other), QueueState::error);
    EXPECT_EQ(card_.events_of(Event::wq_catastrophic), 1u);
}

TEST_F(SqTest, WqesBehindAFailedOneAreFlushedEachAtItsStart) {
    SendWqe wide;
    wide.inlined(ethernet(0x88b5) + pattern(100)); // three blocks
    wide.ce = 0;
    card_.post(sq_, kNop);
    card_.post(sq_, {.opcode = WqeOpcode::umr});
    card_.post(sq_, wide);
    card_.post(sq_, kNop);
    card_.ring(sq_);
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 4u);
    EXPECT_EQ(done[0].opcode(), CqeOpcode::requester);
    EXPECT_EQ(done[1].syndrome(), CqeSyndrome::local_qp_operation);
    EXPECT_EQ(done[2].syndrome(), CqeSyndrome::flushed);
    EXPECT_EQ(done[2].counter(), 2u);
    EXPECT_EQ(done[3].syndrome(), CqeSyndrome::flushed);
    EXPECT_EQ(done[3].counter(), 5u);
    EXPECT_TRUE(card_.host.frames.empty());

    card_.send(sq_, kNop); // posted to a queue in error
    EXPECT_EQ(card_.poll(cq_).value().syndrome(), CqeSyndrome::flushed);
}

TEST_F(SqTest, WithoutTheFlushBitNothingIsFlushed) {
    Queue sq;
    card_.start_sq(
        sq, card_.sq_input(sq, 4, cq_.number).set(SqContext::flush_in_error_en, 0, CreateQueueIn::context));
    card_.post(sq, {.opcode = WqeOpcode::umr});
    card_.post(sq, kNop);
    card_.ring(sq);
    EXPECT_EQ(card_.drain(cq_).size(), 1u);
}

TEST_F(SqTest, RestartBeginsAtZeroAndWaitsForTheNextDoorbell) {
    for (int i = 0; i < 3; ++i)
        card_.send(sq_, kNop);
    card_.send(sq_, {.opcode = WqeOpcode::umr});
    card_.drain(cq_);
    usize before = card_.host.accesses.size();
    recover(); // the record still says 4
    for (usize i = before; i < card_.host.accesses.size(); ++i)
        EXPECT_NE(card_.host.accesses[i].iova, sq_.record + 4) << "the record was looked at";
    EXPECT_TRUE(card_.drain(cq_).empty());
    card_.send(sq_, kNop);
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].counter(), 0u);
}

TEST_F(SqTest, DoorbellOfAQueueInResetOrOfNoQueueIsAGuestError) {
    Queue sq;
    sq.number = card_.driver.must(card_.sq_input(sq, 4, cq_.number)).number();
    card_.send(sq, kNop);
    card_.doorbell(0x123456);
    EXPECT_EQ(card_.host.guest_errors.size(), 2u);
    EXPECT_TRUE(card_.drain(cq_).empty());
}

// ---- Commands
// -------------------------------------------------------------------------------------------------------------
TEST_F(SqTest, StatesMoveAsTheTableSaysAndNoOtherWay) {
    expect_state_moves(
        [&] {
            Queue queue;
            queue.number = card_.driver.must(card_.sq_input(queue, 4, cq_.number)).number();
            return queue;
        },
        [&](const Queue &queue, QueueState from, QueueState to) { return card_.modify_sq(queue, from, to); },
        [&](const Queue &queue) { return card_.sq_state(queue); });
}

TEST_F(SqTest, MoveFromAStateThatTheQueueIsNotInIsRefused) {
    EXPECT_EQ(card_.modify_sq(sq_, QueueState::reset, QueueState::ready).status(),
              Status::bad_resource_state);
    EXPECT_EQ(card_.modify_sq(sq_, QueueState::ready, static_cast<QueueState>(2)).status(),
              Status::bad_resource_state);
    EXPECT_EQ(card_.sq_state(sq_), QueueState::ready);
}

TEST_F(SqTest, MoveToErrorFlushesWhatIsPosted) {
    card_.post(sq_, kNop);
    card_.post(sq_, kNop);
    card_.host.memory.put_be32(sq_.record + 4, 2);
    ASSERT_TRUE(card_.modify_sq(sq_, QueueState::ready, QueueState::error).ok());
    std::vector<Completion> done = card_.drain(cq_);
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[1].syndrome(), CqeSyndrome::flushed);
}

TEST_F(SqTest, CreationRefusesWhatItCannotDo) {
    auto make = [&] {
        Queue queue;
        return card_.sq_input(queue, 4, cq_.number);
    };
    expect_refusals<SqContext>(
        card_, CreateQueueIn::context, make,
        {
            {"reserved key", SqContext::rlky, 1, Status::bad_parameter},
            {"unenhanced multi-packet", SqContext::allow_multi_pkt_send_wqe, 1, Status::bad_parameter},
            {"real time stamps", SqContext::ts_format, 2, Status::bad_parameter},
            {"two TISes", SqContext::tis_lst_sz, 2, Status::bad_parameter},
            {"born ready", SqContext::state, 1, Status::bad_parameter},
            {"no such TIS", SqContext::tis_num_0, 999, Status::bad_resource},
            {"no such CQ", SqContext::cqn, 999, Status::bad_resource},
        });
    expect_refusals<WqContext>(
        card_, CreateQueueIn::wq, make,
        {
            {"linked list", WqContext::wq_type, 0, Status::bad_parameter},
            {"other stride", WqContext::log_wq_stride, 7, Status::bad_parameter},
            {"larger than the counter", WqContext::log_wq_sz, 16, Status::bad_parameter},
            {"more blocks than pages", WqContext::log_wq_sz, 7, Status::bad_parameter},
            {"offset in the page", WqContext::page_offset, 1, Status::bad_parameter},
            {"no such PD", WqContext::pd, 999, Status::bad_resource},
            {"no such UAR", WqContext::uar_page, 1, Status::bad_resource},
        });
}

TEST_F(SqTest, NothingTouchesTheRingAfterDestroy) {
    card_.post(sq_, kNop);
    card_.host.memory.put_be32(sq_.record + 4, 1);
    ASSERT_TRUE(card_.destroy(Opcode::destroy_sq, sq_.number).ok());
    card_.host.memory.unmap(sq_.ring, kPage);
    card_.host.memory.unmap(sq_.record, kPage);
    card_.doorbell(sq_.number);
    EXPECT_EQ(card_.host.counter("dma_faults"), 0u);
    EXPECT_EQ(card_.destroy(Opcode::destroy_sq, sq_.number).status(), Status::bad_resource);
}

TEST_F(SqTest, QueueHoldsWhatItRefersTo) {
    EXPECT_EQ(card_.destroy(Opcode::dealloc_pd, card_.pd).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::destroy_tis, card_.tisn).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::destroy_cq, cq_.number).status(), Status::bad_resource_state);
    ASSERT_TRUE(card_.destroy(Opcode::destroy_sq, sq_.number).ok());
    EXPECT_EQ(card_.destroy(Opcode::destroy_tis, card_.tisn).status(), Status::ok);
    EXPECT_EQ(card_.destroy(Opcode::destroy_cq, cq_.number).status(), Status::ok);
}

TEST_F(SqTest, CountersSeeEveryFrame) {
    wire(send_of(ethernet(0x88b5) + pattern(100)));
    wire(send_of(ethernet(0x88b5) + pattern(10)));
    EXPECT_EQ(card_.host.counter("tx_frames"), 2u);
    EXPECT_EQ(card_.host.counter("tx_bytes"), 114u + 60u);
    EXPECT_EQ(card_.host.counter("send_wqes"), 2u);
}

} // namespace
} // namespace niclab::test
