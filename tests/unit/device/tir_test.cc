// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <set>

#include "support/card.h"

namespace niclab::test {
namespace {

using namespace hash_field;

// The key and the addresses that Microsoft published to verify receive side scaling.
const Bytes kPublishedKey{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
                          0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
                          0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

class TirTest : public testing::Test {
  protected:
    struct Hash {
        HashFunction function = HashFunction::toeplitz;
        bool symmetric = false, ipv6 = false, udp = false, inner = false;
        u32 fields = kSrcIp | kDstIp | kSrcPort | kDstPort;
        Bytes key = kPublishedKey;
    };
    void SetUp() override {
        for (int i = 0; i < 8; ++i)
            rqs_.push_back(card_.create_rq(3, 4, cq_.number).number);
        rq_.number = rqs_[0];
        rqt_ = card_.create_rqt(rqs_);
    }
    CommandInput &put_hash(CommandInput &in, const Hash &hash) {
        std::copy(hash.key.begin(), hash.key.end(),
                  in.raw.begin() + CreateTirIn::context + TirContext::toeplitz_key);
        return in.set(TirContext::rx_hash_symmetric, hash.symmetric, CreateTirIn::context)
            .set(TirContext::rx_hash_fn, static_cast<u32>(hash.function), CreateTirIn::context)
            .set(hash.inner ? TirContext::inner_hash_l3_type : TirContext::hash_l3_type, hash.ipv6,
                 CreateTirIn::context)
            .set(hash.inner ? TirContext::inner_hash_l4_type : TirContext::hash_l4_type, hash.udp,
                 CreateTirIn::context)
            .set(hash.inner ? TirContext::inner_hash_fields : TirContext::hash_fields, hash.fields,
                 CreateTirIn::context);
    }
    CommandInput tir_input(const Hash &hash) {
        CommandInput in(Opcode::create_tir, CreateTirIn::bytes);
        in.set(TirContext::disp_type, static_cast<u32>(TirDispatch::indirect), CreateTirIn::context)
            .set(TirContext::indirect_table, rqt_, CreateTirIn::context)
            .set(TirContext::transport_domain, card_.td, CreateTirIn::context);
        return put_hash(in, hash);
    }
    u32 create(const Hash &hash) { return card_.driver.must(tir_input(hash)).number(); }
    CommandResult modify(u32 tirn, u64 mask, const Hash &hash) {
        CommandInput in(Opcode::modify_tir, ModifyTirIn::bytes);
        in.set(ModifyTirIn::number, tirn).set(ModifyTirIn::bitmask, mask);
        return card_.driver.run(put_hash(in, hash));
    }

    Card card_;
    Queue cq_ = card_.create_cq(6), rq_;
    std::vector<u32> rqs_;
    u32 rqt_ = 0;
};

// Receives through one TIR; the queue is found by the completion's user index.
class HashTest : public TirTest {
  protected:
    struct Result {
        u32 value, ip, l4, queue;
    };
    void SetUp() override {
        for (u32 i = 0; i < 8; ++i) {
            Queue rq;
            CommandInput in = card_.rq_input(rq, 3, 4, cq_.number);
            rq.number = card_.driver.must(in.set(RqContext::user_index, i, CreateQueueIn::context)).number();
            card_.modify_rq(rq, QueueState::reset, QueueState::ready);
            queues_.push_back(rq);
            rqs_.push_back(rq.number);
        }
        rqt_ = card_.create_rqt(rqs_);
    }
    Result receive(const Bytes &frame) {
        for (Queue &rq : queues_)
            card_.post_buffer(rq);
        card_.host.frame_in(frame);
        Completion done = card_.poll(cq_).value();
        for (Queue &rq : queues_) { // take the unused buffers back
            card_.modify_rq(rq, QueueState::ready, QueueState::reset);
            rq.producer = 0;
            card_.publish(rq);
            card_.modify_rq(rq, QueueState::reset, QueueState::ready);
        }
        return {done.get(Cqe::rss_hash_result), done.get(Cqe::rss_hash_ip), done.get(Cqe::rss_hash_l4),
                done.get(Cqe::user_index)};
    }
    void use(const Hash &hash) { card_.catch_all(create(hash)); }

    std::vector<Queue> queues_;
};

Bytes reversed(Ipv4 ip, Tcp tcp) {
    std::swap(ip.source, ip.destination);
    std::swap(tcp.sport, tcp.dport);
    return frame(ip, tcp, pattern(9));
}

TEST_F(HashTest, PublishedVectorsForIpv4) {
    struct {
        Bytes source, destination;
        u16 sport, dport;
        u32 with_ports, without;
    } const kVectors[] = {
        {{66, 9, 149, 187}, {161, 142, 100, 80}, 2794, 1766, 0x51ccc178, 0x323e8fc2},
        {{199, 92, 111, 2}, {65, 69, 140, 83}, 14230, 4739, 0xc626b0ea, 0xd718262a},
        {{24, 19, 198, 95}, {12, 22, 207, 184}, 12898, 38024, 0x5c2b394a, 0xd2d0a5de},
        {{38, 27, 205, 30}, {209, 142, 163, 6}, 48228, 2217, 0xafc7327f, 0x82989176},
        {{153, 39, 163, 191}, {202, 188, 127, 2}, 44251, 1303, 0x10e828a2, 0x5d1809c5},
    };
    for (const auto &v : kVectors) {
        Ipv4 ip{.source = v.source, .destination = v.destination};
        use({});
        Result tcp = receive(frame(ip, Tcp{.sport = v.sport, .dport = v.dport}, pattern(9)));
        EXPECT_EQ(tcp.value, v.with_ports);
        EXPECT_EQ(tcp.ip, 1u);
        EXPECT_EQ(tcp.l4, 1u);
        EXPECT_EQ(tcp.queue, v.with_ports % 8);
        use({.udp = true});
        Result udp = receive(frame(ip, Udp{.sport = v.sport, .dport = v.dport}, pattern(9)));
        EXPECT_EQ(udp.value, v.with_ports);
        EXPECT_EQ(udp.l4, 2u);
        use({.fields = kSrcIp | kDstIp});
        Result plain = receive(frame(ip, Tcp{.sport = v.sport, .dport = v.dport}, pattern(9)));
        EXPECT_EQ(plain.value, v.without);
        EXPECT_EQ(plain.l4, 0u);
    }
}

TEST_F(HashTest, PublishedVectorsForIpv6) {
    struct {
        Bytes source, destination;
        u16 sport, dport;
        u32 with_ports, without;
    } const kVectors[] = {
        {be32(0x3ffe2501) + be32(0x02001fff) + be32(0) + be32(7),
         be32(0x3ffe2501) + be32(0x02000003) + be32(0) + be32(1), 2794, 1766, 0x40207d3d, 0x2cc18cd5},
        {be32(0x3ffe0501) + be32(0x00080000) + be32(0x026097ff) + be32(0xfe40efab),
         be32(0xff020000) + be32(0) + be32(0) + be32(1), 14230, 4739, 0xdde51bbf, 0x0f0c461c},
        {be32(0x3ffe1900) + be32(0x45450003) + be32(0x0200f8ff) + be32(0xfe2167cf),
         be32(0xfe800000) + be32(0) + be32(0x0200f8ff) + be32(0xfe2167cf), 44251, 38024, 0x02d1feef,
         0x4b61e985},
    };
    for (const auto &v : kVectors) {
        Ipv6 ip{.source = v.source, .destination = v.destination};
        use({.ipv6 = true});
        Result tcp = receive(frame(ip, Tcp{.sport = v.sport, .dport = v.dport}, pattern(9)));
        EXPECT_EQ(tcp.value, v.with_ports);
        EXPECT_EQ(tcp.ip, 2u);
        EXPECT_EQ(tcp.queue, v.with_ports % 8);
        use({.ipv6 = true, .fields = kSrcIp | kDstIp});
        EXPECT_EQ(receive(frame(ip, Tcp{}, pattern(9))).value, v.without);
    }
}

TEST_F(HashTest, SymmetricHashIsTheSameInBothDirectionsAndStillTellsFlowsApart) {
    use({.symmetric = true});
    std::set<u32> seen;
    for (u16 port = 1000; port < 1050; ++port) {
        Ipv4 ip;
        Tcp tcp{.sport = port};
        Result there = receive(frame(ip, tcp, pattern(9)));
        Result back = receive(reversed(ip, tcp));
        EXPECT_EQ(there.value, back.value);
        EXPECT_EQ(there.queue, back.queue);
        seen.insert(there.value);
    }
    EXPECT_EQ(seen.size(), 50u);
    use({});
    EXPECT_NE(receive(frame(Ipv4{}, Tcp{}, pattern(9))).value, receive(reversed(Ipv4{}, Tcp{})).value);
}

TEST_F(HashTest, OnlySelectedFieldsCount) {
    use({.fields = kDstIp | kDstPort});
    u32 base = receive(frame(Ipv4{}, Tcp{}, pattern(9))).value;
    EXPECT_EQ(receive(frame(Ipv4{.source = {1, 2, 3, 4}}, Tcp{.sport = 7}, pattern(9))).value, base);
    EXPECT_NE(receive(frame(Ipv4{}, Tcp{.dport = 7}, pattern(9))).value, base);
    EXPECT_NE(receive(frame(Ipv4{.destination = {1, 2, 3, 4}}, Tcp{}, pattern(9))).value, base);
}

TEST_F(HashTest, FragmentsOfOneDatagramShareTheirHash) {
    use({.udp = true});
    Result first = receive(frame(Ipv4{.fragment = 0x2000}, Udp{}, pattern(64)));
    Result later = receive(frame(Ipv4{.fragment = 0x0009}, Udp{.sport = 9, .dport = 9}, pattern(64)));
    EXPECT_EQ(first.value, later.value);
    EXPECT_EQ(first.ip, 1u);
    EXPECT_EQ(first.l4, 0u);
}

TEST_F(HashTest, IpsecIndexCountsWhenSelected) {
    use({.fields = kSrcIp | kDstIp | kIpsecSpi});
    auto esp = [](u32 spi) {
        return ethernet(0x0800) + Ipv4{.protocol = 50}.header(40) + be32(spi) + pattern(36);
    };
    auto ah = [](u32 spi) {
        return ethernet(0x0800) + Ipv4{.protocol = 51}.header(40) + Bytes{6, 4, 0, 0} + be32(spi) +
               pattern(32);
    };
    Result one = receive(esp(1));
    EXPECT_EQ(one.l4, 3u);
    EXPECT_NE(one.value, receive(esp(2)).value);
    EXPECT_EQ(one.value, receive(ah(1)).value) << "the same index behind another header";
}

TEST_F(HashTest, FramesOfAnotherKindHaveNoHash) {
    use({});
    for (const Bytes &other : {ethernet(0x0806) + pattern(50), frame(Ipv6{}, Tcp{}, pattern(9))}) {
        Result result = receive(other);
        EXPECT_EQ(result.value, 0u);
        EXPECT_EQ(result.ip, 0u);
        EXPECT_EQ(result.l4, 0u);
        EXPECT_EQ(result.queue, 0u);
    }
    use({.function = HashFunction::none});
    EXPECT_EQ(receive(frame(Ipv4{}, Tcp{}, pattern(9))).ip, 0u);
}

TEST_F(HashTest, InvertedXorOfTheSelectedBytes) {
    use({.function = HashFunction::inverted_xor8});
    Ipv4 ip{.source = {1, 2, 4, 8}, .destination = {16, 32, 64, 128}};
    // 1^2^4^8^16^32^64^128 = ff; ports 0x0102 and 0x0408 add 1^2^4^8 = 0f; ~f0 = 0f
    EXPECT_EQ(receive(frame(ip, Tcp{.sport = 0x0102, .dport = 0x0408}, pattern(9))).value, 0x0fu);
}

TEST_F(HashTest, NewTableAndNewHashTakeEffect) {
    u32 tirn = create({});
    card_.catch_all(tirn);
    Bytes probe = frame(Ipv4{.source = {66, 9, 149, 187}, .destination = {161, 142, 100, 80}},
                        Tcp{.sport = 2794, .dport = 1766}, {});
    EXPECT_EQ(receive(probe).queue, 0u); // 0x51ccc178 % 8
    CommandInput in = card_.rqt_input(Opcode::modify_rqt, {rqs_[5]}, 0);
    card_.driver.must(in.set(ModifyRqtIn::number, rqt_).set(ModifyRqtIn::bitmask, ModifyRqtIn::kList));
    EXPECT_EQ(receive(probe).queue, 5u);
    ASSERT_TRUE(modify(tirn, ModifyTirIn::kHash, {.fields = kSrcIp | kDstIp}).ok());
    EXPECT_EQ(receive(probe).value, 0x323e8fc2u);
}

// In GRE, the packet of the first published vector.
TEST_F(HashTest, InnerFieldsHashWhatATunnelCarries) {
    Bytes inside = frame(Ipv4{.source = {66, 9, 149, 187}, .destination = {161, 142, 100, 80}},
                         Tcp{.sport = 2794, .dport = 1766}, {});
    Bytes gre = Bytes{0, 0, 0x08, 0x00} + Bytes(inside.begin() + 14, inside.end());
    Bytes tunnel = ethernet(0x0800) + Ipv4{.protocol = 47}.header(gre.size()) + gre;
    u32 tirn = create({.inner = true});
    card_.catch_all(tirn);
    EXPECT_EQ(receive(tunnel).value, 0x51ccc178u);
    EXPECT_EQ(receive(tunnel).l4, 1u);
    EXPECT_EQ(receive(inside).value, 0u) << "carries nothing";
    ASSERT_TRUE(modify(tirn, ModifyTirIn::kHash, {.inner = true, .fields = kSrcIp | kDstIp}).ok());
    EXPECT_EQ(receive(tunnel).value, 0x323e8fc2u);
    ASSERT_TRUE(modify(tirn, ModifyTirIn::kHash, {}).ok());
    EXPECT_EQ(receive(inside).value, 0x51ccc178u);
    EXPECT_NE(receive(tunnel).value, 0x51ccc178u);
}

TEST_F(TirTest, SelfLoopbackBitsAreKeptForQuery) {
    u32 tirn = create({});
    CommandInput in(Opcode::modify_tir, ModifyTirIn::bytes);
    in.set(ModifyTirIn::number, tirn).set(ModifyTirIn::bitmask, ModifyTirIn::kSelfLoopback);
    ASSERT_TRUE(card_.driver.run(in.set(TirContext::self_lb_block, 1, ModifyTirIn::context)).ok());
    CommandResult out = card_.driver.must(Card::number_input(Opcode::query_tir, tirn), QueryTirOut::bytes);
    EXPECT_EQ(out.get(TirContext::self_lb_block, QueryTirOut::context), 1u);
    EXPECT_EQ(out.get(TirContext::rx_hash_fn, QueryTirOut::context), 2u) << "what was not named stays";
}

TEST_F(TirTest, CreationAndChangeRefuseWhatTheCardCannotDo) {
    expect_refusals<TirContext>(
        card_, CreateTirIn::context, [&] { return tir_input({}); },
        {
            {"header split", TirContext::packet_merge_mask, 4, Status::bad_parameter},
            {"inside and outside", TirContext::inner_hash_fields, 1, Status::bad_parameter},
            {"unknown dispatch", TirContext::disp_type, 2, Status::bad_parameter},
            {"unknown hash", TirContext::rx_hash_fn, 3, Status::bad_parameter},
            {"unknown field", TirContext::hash_fields, 0x20, Status::bad_parameter},
            {"no such table", TirContext::indirect_table, 999, Status::bad_resource},
            {"no such domain", TirContext::transport_domain, 999, Status::bad_resource},
        });
    EXPECT_EQ(card_.driver.run(card_.direct_tir_input(999)).status(), Status::bad_resource) << "no such RQ";
    u32 tirn = create({});
    EXPECT_EQ(modify(tirn, 1u << 1, {}).status(), Status::bad_parameter);
    EXPECT_EQ(modify(tirn, ModifyTirIn::kHash, {.fields = 0x40}).status(), Status::bad_parameter);
    EXPECT_EQ(modify(999, ModifyTirIn::kHash, {}).status(), Status::bad_resource);
}

TEST_F(TirTest, IndirectionTablesRefuseBadListsAndKeepTheOldOne) {
    auto status = [&](CommandInput in) { return card_.driver.run(in).status(); };
    auto modify_input = [&](const std::vector<u32> &rqs) {
        CommandInput in = card_.rqt_input(Opcode::modify_rqt, rqs, 0);
        return in.set(ModifyRqtIn::number, rqt_).set(ModifyRqtIn::bitmask, ModifyRqtIn::kList);
    };
    EXPECT_EQ(status(card_.rqt_input(Opcode::create_rqt, {}, 8)), Status::bad_parameter) << "empty";
    EXPECT_EQ(status(card_.rqt_input(Opcode::create_rqt, {rqs_[0], 999}, 8)), Status::bad_resource);
    EXPECT_EQ(status(card_.rqt_input(Opcode::create_rqt, rqs_, 4)), Status::bad_parameter)
        << "more than the maximum";
    EXPECT_EQ(status(card_.rqt_input(Opcode::create_rqt, rqs_, 4096)), Status::bad_parameter)
        << "more than is offered";
    CommandInput cut = card_.rqt_input(Opcode::create_rqt, rqs_, 8);
    cut.raw.resize(cut.raw.size() - 4);
    EXPECT_EQ(status(cut), Status::bad_parameter) << "list cut";
    EXPECT_EQ(status(modify_input(std::vector<u32>(9, rqs_[0]))), Status::bad_parameter)
        << "beyond its maximum";
    EXPECT_EQ(status(modify_input({rqs_[1], 999})), Status::bad_resource);
    CommandResult out =
        card_.driver.must(Card::number_input(Opcode::query_rqt, rqt_), QueryRqtOut::bytes + 32);
    EXPECT_EQ(out.get(RqtContext::rqt_actual_size, QueryRqtOut::context), 8u);
    EXPECT_EQ(load_be32(out.out.data() + 0x110 + 4), rqs_[1]);
}

TEST_F(TirTest, LargestTableIsUsedToItsLastEntry) {
    std::vector<u32> rqs(2048, rqs_[0]);
    rqs.back() = rqs_[1];
    CommandInput in = card_.rqt_input(Opcode::create_rqt, rqs, 2048);
    u32 rqt = card_.driver.must(in).number();
    CommandResult out =
        card_.driver.must(Card::number_input(Opcode::query_rqt, rqt), QueryRqtOut::bytes + 4 * 2048);
    EXPECT_EQ(out.get(RqtContext::rqt_actual_size, QueryRqtOut::context), 2048u);
    EXPECT_EQ(load_be32(out.out.data() + 0x110 + 4 * 2047), rqs_[1]);
    EXPECT_EQ(card_.driver.run(card_.rqt_input(Opcode::create_rqt, rqs, 2049)).status(),
              Status::bad_parameter);
}

TEST_F(TirTest, EachLayerHoldsTheOneBelow) {
    u32 tirn = create({});
    EXPECT_EQ(card_.destroy(Opcode::destroy_rq, rqs_[3]).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::destroy_rqt, rqt_).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::dealloc_transport_domain, card_.td).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::destroy_tir, tirn).status(), Status::ok);
    CommandInput in = card_.rqt_input(Opcode::modify_rqt, {rqs_[0], rqs_[0]}, 0);
    card_.driver.must(in.set(ModifyRqtIn::number, rqt_).set(ModifyRqtIn::bitmask, ModifyRqtIn::kList));
    EXPECT_EQ(card_.destroy(Opcode::destroy_rq, rqs_[3]).status(), Status::ok) << "no list names it any more";
    EXPECT_EQ(card_.destroy(Opcode::destroy_rq, rqs_[0]).status(), Status::bad_resource_state);
    EXPECT_EQ(card_.destroy(Opcode::destroy_rqt, rqt_).status(), Status::ok);
    EXPECT_EQ(card_.destroy(Opcode::destroy_rq, rqs_[0]).status(), Status::ok);
}

} // namespace
} // namespace niclab::test
