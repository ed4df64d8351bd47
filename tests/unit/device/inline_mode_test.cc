// SPDX-License-Identifier: GPL-2.0-or-later
// Cards that want the headers of a frame inside the WQE.
#include <gtest/gtest.h>

#include "spec/caps.h"
#include "support/send_test.h"

namespace niclab::test {
namespace {

cx_config wanting(unsigned headers) {
    cx_config config = default_config();
    config.inline_headers = headers;
    return config;
}

struct Wants {
    explicit Wants(unsigned headers) : card(true, wanting(headers)), mode(headers), cq(card.create_cq(8)) {}
    CommandResult create(u32 queue_mode, Queue &sq) {
        CommandInput in = card.sq_input(sq, 4, cq.number);
        CommandResult made =
            card.driver.run(in.set(SqContext::min_wqe_inline_mode, queue_mode, CreateQueueIn::context));
        if (made.ok()) {
            sq.number = made.number();
            EXPECT_TRUE(card.modify_sq(sq, QueueState::reset, QueueState::ready).ok());
        }
        return made;
    }
    // Whether `frame` leaves when its first `headers` bytes are inline.
    bool leaves(const Bytes &frame, usize headers) {
        Queue sq;
        EXPECT_TRUE(create(mode, sq).ok());
        SendWqe wqe;
        wqe.inline_header = Bytes(frame.begin(), frame.begin() + static_cast<long>(headers));
        Bytes rest(frame.begin() + static_cast<long>(headers), frame.end());
        if (!rest.empty()) wqe.pointer(card.lkey, card.buffer(rest), static_cast<u32>(rest.size()));
        card.host.frames.clear();
        card.send(sq, wqe);
        Completion done = card.poll(cq).value();
        EXPECT_TRUE(card.destroy(Opcode::destroy_sq, sq.number).ok());
        if (done.opcode() == CqeOpcode::requester) {
            EXPECT_EQ(card.host.frames, std::vector<Bytes>{frame});
            return true;
        }
        EXPECT_EQ(done.syndrome(), CqeSyndrome::local_qp_operation);
        EXPECT_TRUE(card.host.frames.empty());
        return false;
    }
    u32 ethernet_cap(Field<EthernetCaps> field, u16 which) {
        u16 op_mod = static_cast<u16>(static_cast<u16>(CapType::ethernet) << 1 | which);
        return card.driver.must({Opcode::query_hca_cap, 0x10, op_mod}, QueryHcaCapOut::bytes)
            .get(field, QueryHcaCapOut::capability);
    }

    Card card;
    unsigned mode;
    Queue cq;
};

TEST(InlineMode, FewerHeadersInlineThanTheModeNamesAreAnError) {
    struct {
        const char *what;
        Bytes frame;
        usize ethernet, ip, transport; // least bytes in each mode
    } const kCases[] = {
        {"TCP", frame(Ipv4{}, Tcp{}, pattern(60)), 14, 34, 54},
        {"TCP with options", frame(Ipv4{.options = Bytes(4, 1)}, Tcp{.options = Bytes(12, 1)}, pattern(60)),
         14, 38, 70},
        {"tagged UDP over IPv6", frame(Ipv6{}, Udp{}, pattern(60), vlan_tag(0x8100, 5)), 18, 58, 66},
        {"not IP", ethernet(0x88b5) + pattern(60), 14, 14, 14},
    };
    for (const auto &c : kCases) {
        usize least[] = {0, c.ethernet, c.ip, c.transport};
        for (unsigned mode = 0; mode < 4; ++mode) {
            Wants wants(mode);
            EXPECT_TRUE(wants.leaves(c.frame, least[mode])) << c.what << " in mode " << mode;
            EXPECT_TRUE(wants.leaves(c.frame, c.frame.size())) << c.what << " in mode " << mode;
            if (mode == 0) continue;
            EXPECT_FALSE(wants.leaves(c.frame, least[mode] - 1)) << c.what << " in mode " << mode;
        }
    }
}

TEST(InlineMode, CapabilityAndVportContextTellIt) {
    struct {
        u32 rule, multi_packet;
    } const kTold[] = {{2, 1}, {0, 0}, {1, 0}, {1, 0}};
    for (unsigned mode = 0; mode < 4; ++mode) {
        Wants wants(mode);
        for (u16 which : {QueryHcaCapIn::kCurrent, QueryHcaCapIn::kMaximum}) {
            EXPECT_EQ(wants.ethernet_cap(EthernetCaps::wqe_inline_mode, which), kTold[mode].rule);
            EXPECT_EQ(wants.ethernet_cap(EthernetCaps::enhanced_multi_pkt_send_wqe, which),
                      kTold[mode].multi_packet);
        }
        CommandResult vport = wants.card.driver.must(
            {Opcode::query_nic_vport_context, QueryNicVportContextIn::bytes}, QueryNicVportContextOut::bytes);
        EXPECT_EQ(vport.get(NicVportContext::min_wqe_inline_mode, QueryNicVportContextOut::context), mode);
    }
}

TEST(InlineMode, AChangeCountsFromTheNextDriverOn) {
    Wants wants(0);
    auto told = [&] { return wants.ethernet_cap(EthernetCaps::wqe_inline_mode, QueryHcaCapIn::kCurrent); };
    char error[128] = "";
    EXPECT_FALSE(cx_core_set_inline_headers(wants.card.host.core(), 4, error, sizeof error));
    EXPECT_STREQ(error, "inline-headers is 4, it must be from 0 to 3");
    EXPECT_TRUE(cx_core_set_inline_headers(wants.card.host.core(), 3, error, sizeof error));
    EXPECT_EQ(told(), 2u);
    EXPECT_TRUE(wants.leaves(frame(Ipv4{}, Tcp{}, pattern(60)), 0));
    wants.card.driver.register_queue(); // a driver that finds the card as another left it
    wants.card.driver.bring_up();
    EXPECT_EQ(told(), 1u);
    wants.card.driver.must({Opcode::teardown_hca, 0x10});
    wants.card.driver.must({Opcode::disable_hca, 0x10});
    EXPECT_TRUE(
        cx_core_set_inline_headers(wants.card.host.core(), 0, error, sizeof error)); // between two drivers
    wants.card.driver.bring_up();
    EXPECT_EQ(told(), 2u);
}

TEST(InlineMode, QueueMayAskForMoreThanTheVportAndNotForLess) {
    for (unsigned mode : {2u, 3u}) {
        Wants wants(mode);
        for (u32 asked = 0; asked < 8; ++asked) {
            Queue sq;
            bool allowed = asked >= mode && asked <= 3;
            EXPECT_EQ(wants.create(asked, sq).status(), allowed ? Status::ok : Status::bad_parameter)
                << asked;
        }
    }
}

TEST(InlineMode, NoMultiPacketSendAndNoInsertedTagWhereHeadersAreWanted) {
    for (unsigned mode : {1u, 2u, 3u}) {
        Wants wants(mode);
        Bytes bytes = frame(Ipv4{}, Tcp{}, pattern(60));
        SendWqe many{.opcode = WqeOpcode::multi_packet_send}, tagged{.insert = 1u << 31 | 5};
        many.inlined(bytes);
        tagged.inlined(bytes);
        for (const SendWqe &wqe : {many, tagged}) {
            Queue sq;
            ASSERT_TRUE(wants.create(mode, sq).ok());
            wants.card.send(sq, wqe);
            EXPECT_EQ(wants.card.poll(wants.cq).value().syndrome(), CqeSyndrome::local_qp_operation);
        }
        EXPECT_TRUE(wants.card.host.frames.empty());
    }
}

} // namespace
} // namespace niclab::test
