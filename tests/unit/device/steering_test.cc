// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <numeric>

#include "support/card.h"

namespace niclab::test {
namespace {

// A match block, as mask or as value.
class Match {
  public:
    Match &set(Field<MatchL2L4> field, u32 value) {
        View<MatchL2L4>(raw_.data()).set(field, value);
        return *this;
    }
    Match &bytes(usize at, const Bytes &value) {
        std::copy(value.begin(), value.end(), raw_.begin() + static_cast<long>(at));
        return *this;
    }
    operator Bytes() const { return raw_; }

  private:
    Bytes raw_ = zeros(MatchL2L4::bytes);
};
using M = MatchL2L4;

class SteeringTest : public testing::Test {
  protected:
    struct Sink {
        Queue cq, rq;
        u32 tirn;
    };
    Sink make_sink() {
        Sink sink;
        sink.cq = card_.create_cq(5);
        sink.rq = card_.create_rq(5, 4, sink.cq.number);
        sink.tirn = card_.create_tir(sink.rq.number);
        return sink;
    }
    // How many copies of `frame` each sink gets.
    std::vector<usize> receive(const Bytes &frame) {
        for (Sink &sink : sinks_)
            card_.post_buffer(sink.rq);
        card_.host.frame_in(frame);
        std::vector<usize> got;
        for (Sink &sink : sinks_)
            got.push_back(card_.drain(sink.cq).size());
        return got;
    }
    // The sink that gets it, or -1.
    int where(const Bytes &frame) {
        std::vector<usize> got = receive(frame);
        EXPECT_LE(std::accumulate(got.begin(), got.end(), usize{0}), 1u);
        auto at = std::find(got.begin(), got.end(), 1u);
        return at == got.end() ? -1 : static_cast<int>(at - got.begin());
    }
    std::vector<Card::To> tir(usize sink) { return {{Destination::tir, sinks_[sink].tirn}}; }
    static std::vector<Card::To> table(u32 id) { return {{Destination::table, id}}; }
    Status status(const CommandInput &in) { return card_.driver.run(in).status(); }
    Status remove(u32 table, u32 index) {
        CommandInput in(Opcode::delete_flow_table_entry, DeleteFteIn::bytes);
        return status(in.set(FlowTableIn::table_id, table).set(DeleteFteIn::flow_index, index));
    }
    Status destroy_table(u32 table) {
        CommandInput in(Opcode::destroy_flow_table, CreateFlowTableIn::bytes);
        return status(in.set(FlowTableIn::table_id, table));
    }
    Status destroy_group(u32 table, u32 group) {
        CommandInput in(Opcode::destroy_flow_group, DestroyFlowGroupIn::bytes);
        return status(in.set(FlowTableIn::table_id, table).set(DestroyFlowGroupIn::group_id, group));
    }
    CommandInput miss_input(u32 table, u32 next) {
        CommandInput in(Opcode::modify_flow_table, ModifyFlowTableIn::bytes);
        return in.set(FlowTableIn::table_id, table)
            .set(ModifyFlowTableIn::select_miss, 1)
            .set(FlowTableContext::table_miss_action, next ? 1 : 0, ModifyFlowTableIn::context)
            .set(FlowTableContext::table_miss_id, next, ModifyFlowTableIn::context);
    }
    // One table whose first group has `mask`; entry 0 with `value` goes to sink 0, everything else to sink 1.
    void one_rule(const Bytes &mask, const Bytes &value) {
        u32 table = card_.create_table(1);
        card_.set_entry(table, card_.create_group(table, 0, 0, mask), 0, value, tir(0));
        card_.set_entry(table, card_.create_group(table, 1, 1), 1, {}, tir(1));
        card_.set_root(table);
    }

    Card card_;
    std::vector<Sink> sinks_ = {make_sink(), make_sink(), make_sink()};
    const Bytes plain_ = ethernet(0x88b5) + pattern(50);
    const Bytes ctagged_ = ethernet(0x88b5, vlan_tag(0x8100, 0x6005)) + pattern(50);
    const Bytes stagged_ = ethernet(0x88b5, vlan_tag(0x88a8, 0x6005)) + pattern(50);
};

// ---- Fields
// ---------------------------------------------------------------------------------------------------------------
TEST_F(SteeringTest, EachFieldMatchesItsOwnPlaceInTheFrame) {
    Ipv4 four{.tos = 0xb9, .ttl = 7};
    Ipv6 six{.traffic_class = 0xb9, .ttl = 7};
    Tcp tcp{.sport = 0x1122, .dport = 0x3344, .flags = 0x12};
    Udp udp{.sport = 0x1122, .dport = 0x3344};
    Bytes tcp4 = frame(four, tcp, pattern(9)), udp4 = frame(four, udp, pattern(9)),
          tcp6 = frame(six, tcp, pattern(9));
    Bytes fragment = frame(Ipv4{.fragment = 0x2000}, udp, pattern(9));
    Bytes vlan = frame(four, tcp, pattern(9), vlan_tag(0x8100, 0xb123));
    struct {
        const char *what;
        Match mask, value;
        std::vector<Bytes> yes, no;
    } const kCases[] = {
        {"source MAC",
         Match{}.bytes(M::smac, Bytes(6, 0xff)),
         Match{}.bytes(M::smac, {2, 0, 0, 0, 0, 1}),
         {plain_},
         {}},
        {"source MAC, last byte",
         Match{}.bytes(M::smac + 5, {0xff}),
         Match{}.bytes(M::smac + 5, {2}),
         {},
         {plain_}},
        {"destination MAC",
         Match{}.bytes(M::dmac, Bytes(6, 0xff)),
         Match{}.bytes(M::dmac, {0x52, 0x54, 0, 0x12, 0x34, 0x56}),
         {plain_},
         {}},
        {"multicast bit",
         Match{}.bytes(M::dmac, {1}),
         Match{}.bytes(M::dmac, {1}),
         {Bytes{1, 0, 0x5e} + Bytes(plain_.begin() + 3, plain_.end())},
         {plain_}},
        {"ethertype",
         Match{}.set(M::ethertype, 0xffff),
         Match{}.set(M::ethertype, 0x0800),
         {tcp4, vlan},
         {tcp6, plain_}},
        {"VLAN id", Match{}.set(M::first_vid, 0xfff), Match{}.set(M::first_vid, 0x123), {vlan}, {ctagged_}},
        {"VLAN priority", Match{}.set(M::first_prio, 7), Match{}.set(M::first_prio, 5), {vlan}, {ctagged_}},
        {"VLAN CFI", Match{}.set(M::first_cfi, 1), Match{}.set(M::first_cfi, 1), {vlan}, {ctagged_}},
        {"protocol",
         Match{}.set(M::ip_protocol, 0xff),
         Match{}.set(M::ip_protocol, 17),
         {udp4, fragment},
         {tcp4}},
        {"DSCP",
         Match{}.set(M::ip_dscp, 0x3f),
         Match{}.set(M::ip_dscp, 0x2e),
         {tcp4, tcp6},
         {fragment, plain_}},
        {"ECN", Match{}.set(M::ip_ecn, 3), Match{}.set(M::ip_ecn, 1), {tcp4, tcp6}, {fragment}},
        {"fragment", Match{}.set(M::frag, 1), Match{}.set(M::frag, 1), {fragment}, {udp4}},
        {"IP version 4", Match{}.set(M::ip_version, 15), Match{}.set(M::ip_version, 4), {tcp4}, {tcp6}},
        {"IP version 6", Match{}.set(M::ip_version, 15), Match{}.set(M::ip_version, 6), {tcp6}, {tcp4}},
        {"TCP flags", Match{}.set(M::tcp_flags, 0x02), Match{}.set(M::tcp_flags, 0x02), {tcp4}, {udp4}},
        {"TCP source port",
         Match{}.set(M::tcp_sport, 0xffff),
         Match{}.set(M::tcp_sport, 0x1122),
         {tcp4},
         {udp4}},
        {"TCP destination port",
         Match{}.set(M::tcp_dport, 0xffff),
         Match{}.set(M::tcp_dport, 0x3344),
         {tcp6},
         {udp4}},
        {"UDP source port",
         Match{}.set(M::udp_sport, 0xffff),
         Match{}.set(M::udp_sport, 0x1122),
         {udp4},
         {tcp4}},
        {"UDP destination port",
         Match{}.set(M::udp_dport, 0xffff),
         Match{}.set(M::udp_dport, 0x3344),
         {udp4},
         {fragment}},
        {"TTL",
         Match{}.set(M::ttl_hoplimit, 0xff),
         Match{}.set(M::ttl_hoplimit, 7),
         {tcp4, tcp6},
         {fragment}},
        {"IPv4 source",
         Match{}.bytes(M::src_ip + 12, Bytes(4, 0xff)),
         Match{}.bytes(M::src_ip + 12, {192, 0, 2, 1}),
         {tcp4},
         {tcp6}},
        {"IPv4 destination",
         Match{}.bytes(M::dst_ip + 12, Bytes(4, 0xff)),
         Match{}.bytes(M::dst_ip + 12, {198, 51, 100, 7}),
         {tcp4},
         {tcp6}},
        {"IPv6 source",
         Match{}.bytes(M::src_ip, Bytes(16, 0xff)),
         Match{}.bytes(M::src_ip, six.source),
         {tcp6},
         {tcp4}},
        {"IPv6 destination",
         Match{}.bytes(M::dst_ip, Bytes(16, 0xff)),
         Match{}.bytes(M::dst_ip, six.destination),
         {tcp6},
         {tcp4}},
    };
    sinks_.resize(2);
    for (const auto &c : kCases) {
        one_rule(c.mask, c.value);
        for (const Bytes &yes : c.yes)
            EXPECT_EQ(where(yes), 0) << c.what;
        for (const Bytes &no : c.no)
            EXPECT_EQ(where(no), 1) << c.what;
    }
}

TEST_F(SteeringTest, BitsOutsideTheMaskDoNotCount) {
    one_rule(Match{}.set(M::first_vid, 0x00f), Match{}.set(M::first_vid, 0xff5));
    EXPECT_EQ(where(ctagged_), 0);
}

// ---- VLAN rules
// -----------------------------------------------------------------------------------------------------------
TEST_F(SteeringTest, NoCvlanTagMeansUntagged) {
    one_rule(Match{}.set(M::cvlan_tag, 1), Match{});
    EXPECT_EQ(where(plain_), 0);
    EXPECT_EQ(where(ctagged_), 1);
    EXPECT_EQ(where(stagged_), 1) << "an S-VLAN tagged frame is not untagged";
}

TEST_F(SteeringTest, AnyCvlanAndAnySvlanAreDifferentRules) {
    one_rule(Match{}.set(M::cvlan_tag, 1), Match{}.set(M::cvlan_tag, 1));
    EXPECT_EQ(where(plain_), 1);
    EXPECT_EQ(where(ctagged_), 0);
    EXPECT_EQ(where(stagged_), 1);
    one_rule(Match{}.set(M::svlan_tag, 1), Match{}.set(M::svlan_tag, 1));
    EXPECT_EQ(where(plain_), 1);
    EXPECT_EQ(where(ctagged_), 1);
    EXPECT_EQ(where(stagged_), 0);
}

TEST_F(SteeringTest, VlanIdRuleWantsTheRightKindOfTag) {
    one_rule(Match{}.set(M::cvlan_tag, 1).set(M::first_vid, 0xfff),
             Match{}.set(M::cvlan_tag, 1).set(M::first_vid, 5));
    EXPECT_EQ(where(ctagged_), 0);
    EXPECT_EQ(where(stagged_), 1);
    EXPECT_EQ(where(ethernet(0x88b5, vlan_tag(0x8100, 6)) + pattern(50)), 1);
    EXPECT_EQ(where(ethernet(0x88b5, vlan_tag(0x88a8, 9) + vlan_tag(0x8100, 5)) + pattern(50)), 1)
        << "the outer tag counts";
}

// ---- Order, misses, chains
// ------------------------------------------------------------------------------------------------
TEST_F(SteeringTest, LowestFlowIndexWinsAcrossGroupsAndInside) {
    u32 table = card_.create_table(1);
    u32 late = card_.create_group(table, 8, 9); // made first, stands last
    u32 early = card_.create_group(table, 2, 5, Match{}.set(M::ethertype, 0xffff));
    card_.set_entry(table, late, 8, {}, tir(0));
    card_.set_root(table);
    EXPECT_EQ(where(plain_), 0);
    card_.set_entry(table, early, 4, Match{}.set(M::ethertype, 0x88b5), tir(1));
    EXPECT_EQ(where(plain_), 1);
    card_.set_entry(table, early, 3, Match{}.set(M::ethertype, 0x88b5), tir(2));
    EXPECT_EQ(where(plain_), 2);
    card_.set_entry(table, early, 5, Match{}.set(M::ethertype, 0x88b5), tir(0));
    EXPECT_EQ(where(plain_), 2) << "a later rule with a higher index changes nothing";
    EXPECT_EQ(remove(table, 5), Status::ok);
    EXPECT_EQ(remove(table, 3), Status::ok);
    EXPECT_EQ(where(plain_), 1);
    EXPECT_EQ(remove(table, 4), Status::ok);
    EXPECT_EQ(where(plain_), 0);
    EXPECT_EQ(remove(table, 8), Status::ok);
    EXPECT_EQ(where(plain_), -1);
    EXPECT_EQ(card_.host.counter("rx_drop_steering"), 1u);
}

TEST_F(SteeringTest, ManyEntriesOfOneGroupAreToldApart) {
    u32 table = card_.create_table(1, 13);
    u32 group = card_.create_group(table, 0, 4095, Match{}.set(M::first_vid, 0xfff).set(M::cvlan_tag, 1));
    for (u32 vid = 0; vid < 1000; ++vid)
        card_.set_entry(table, group, 1000 - vid, Match{}.set(M::first_vid, vid).set(M::cvlan_tag, 1),
                        tir(vid % 3));
    card_.set_root(table);
    for (u32 vid = 0; vid < 1000; vid += 37)
        EXPECT_EQ(where(ethernet(0x88b5, vlan_tag(0x8100, static_cast<u16>(vid))) + pattern(50)),
                  static_cast<int>(vid % 3))
            << vid;
    EXPECT_EQ(where(ethernet(0x88b5, vlan_tag(0x8100, 1000)) + pattern(50)), -1);
    EXPECT_EQ(where(plain_), -1);
}

TEST_F(SteeringTest, MissGoesToTheNextTableAndCanBeTurned) {
    u32 last = card_.create_table(9), other = card_.create_table(8), first = card_.create_table(2, 0, last);
    card_.set_entry(last, card_.create_group(last, 0, 0), 0, {}, tir(0));
    card_.set_entry(other, card_.create_group(other, 0, 0), 0, {}, tir(1));
    card_.set_root(first);
    EXPECT_EQ(where(plain_), 0);
    EXPECT_EQ(status(miss_input(first, other)), Status::ok);
    EXPECT_EQ(where(plain_), 1);
    EXPECT_EQ(status(miss_input(first, 0)), Status::ok);
    EXPECT_EQ(where(plain_), -1);
    EXPECT_EQ(status(miss_input(first, last)), Status::ok);
    EXPECT_EQ(where(plain_), 0);
}

TEST_F(SteeringTest, TablesChainThroughDestinationsWithTheirOwnMisses) {
    u32 anchor = card_.create_table(20), types = card_.create_table(10, 4, anchor),
        addresses = card_.create_table(5);
    card_.set_entry(anchor, card_.create_group(anchor, 0, 0), 0, {}, tir(2));
    card_.set_entry(types, card_.create_group(types, 0, 3, Match{}.set(M::ip_version, 15)), 0,
                    Match{}.set(M::ip_version, 4), tir(0));
    card_.set_entry(addresses, card_.create_group(addresses, 0, 3, Match{}.bytes(M::dmac, Bytes(6, 0xff))), 0,
                    Match{}.bytes(M::dmac, {0x52, 0x54, 0, 0x12, 0x34, 0x56}), table(types));
    card_.set_root(addresses);
    EXPECT_EQ(where(frame(Ipv4{}, Tcp{}, {})), 0);
    EXPECT_EQ(where(frame(Ipv6{}, Tcp{}, {})), 2) << "missed in the second table";
    Bytes foreign = frame(Ipv4{}, Tcp{}, {});
    foreign[5] ^= 1;
    EXPECT_EQ(where(foreign), -1) << "missed in the first, which drops";
}

TEST_F(SteeringTest, DropRuleDrops) {
    u32 table = card_.create_table(1);
    card_.set_entry(table, card_.create_group(table, 0, 0), 0, {}, {});
    card_.set_entry(table, card_.create_group(table, 1, 1), 1, {}, tir(0));
    card_.set_root(table);
    EXPECT_EQ(where(plain_), -1);
}

TEST_F(SteeringTest, SeveralDestinationsEachGetACopy) {
    u32 next = card_.create_table(5), table = card_.create_table(1);
    card_.set_entry(next, card_.create_group(next, 0, 0), 0, {}, tir(2));
    card_.set_entry(
        table, card_.create_group(table, 0, 0), 0, {},
        {{Destination::tir, sinks_[0].tirn}, {Destination::tir, sinks_[1].tirn}, {Destination::table, next}});
    card_.set_root(table);
    EXPECT_EQ(receive(plain_), (std::vector<usize>{1, 1, 1}));
}

// 16 copies at each of many levels would be more than a packet may cost; the walk ends and the card goes on.
TEST_F(SteeringTest, ReplicationThatExplodesIsBounded) {
    u32 next = card_.create_table(127);
    card_.set_entry(next, card_.create_group(next, 0, 0), 0, {}, tir(0));
    for (u32 level = 62; level > 40; --level) {
        u32 table = card_.create_table(level);
        card_.set_entry(table, card_.create_group(table, 0, 0), 0, {},
                        std::vector<Card::To>(16, {Destination::table, next}));
        next = table;
    }
    card_.set_root(next);
    EXPECT_LE(receive(plain_)[0], 64u);
    EXPECT_GT(card_.host.counter("rx_frames"), 0u);
}

TEST_F(SteeringTest, FlowTagOfTheRuleReachesTheCompletion) {
    u32 table = card_.create_table(1);
    CommandInput in = card_.entry_input(table, card_.create_group(table, 0, 0), 0, {}, tir(0));
    card_.driver.must(in.set(SetFteIn::flow_tag, 0x1234));
    card_.set_root(table);
    card_.post_buffer(sinks_[0].rq);
    card_.host.frame_in(plain_);
    EXPECT_EQ(card_.poll(sinks_[0].cq).value().get(Cqe::qpn), 0x1234u);
}

// ---- Changing rules
// -------------------------------------------------------------------------------------------------------
TEST_F(SteeringTest, SetReplacesAndModifyChangesOnlyWhatItNames) {
    u32 table = card_.create_table(1), group = card_.create_group(table, 0, 3);
    card_.set_entry(table, group, 0, {}, tir(0));
    card_.set_root(table);
    card_.set_entry(table, group, 0, {}, tir(1));
    EXPECT_EQ(where(plain_), 1);
    auto modify = [&](const std::vector<Card::To> &to, u32 mask) {
        CommandInput in = card_.entry_input(table, group, 0, {}, to, /*op_mod=*/1);
        return status(in.set(SetFteIn::modify_enable_mask, mask));
    };
    EXPECT_EQ(modify(tir(2), SetFteIn::kModifyDestinations), Status::ok);
    EXPECT_EQ(where(plain_), 2);
    EXPECT_EQ(modify(tir(0), SetFteIn::kModifyTag), Status::ok);
    EXPECT_EQ(where(plain_), 2) << "destinations were not named";
    EXPECT_EQ(modify({}, SetFteIn::kModifyAction), Status::ok); // forward becomes drop
    EXPECT_EQ(where(plain_), -1);
    EXPECT_EQ(modify({}, 0x10), Status::bad_parameter) << "no such part";
    EXPECT_EQ(remove(table, 0), Status::ok);
    EXPECT_EQ(modify(tir(0), SetFteIn::kModifyDestinations), Status::bad_index);
}

TEST_F(SteeringTest, RefusedRuleLeavesTheOldOneInPlace) {
    u32 table = card_.create_table(1), group = card_.create_group(table, 0, 3);
    card_.set_entry(table, group, 0, {}, tir(0));
    card_.set_root(table);
    EXPECT_EQ(status(card_.entry_input(table, group, 0, {}, {{Destination::tir, 999}})),
              Status::bad_resource);
    EXPECT_EQ(where(plain_), 0);
}

TEST_F(SteeringTest, EntriesRefuseWhatCannotWork) {
    u32 table = card_.create_table(10), group = card_.create_group(table, 4, 7),
        below = card_.create_table(10);
    auto input = [&](std::vector<Card::To> to) { return card_.entry_input(table, group, 4, {}, to); };
    EXPECT_EQ(status(card_.entry_input(table, group, 3, {}, tir(0))), Status::bad_index);
    EXPECT_EQ(status(card_.entry_input(table, group, 8, {}, tir(0))), Status::bad_index);
    EXPECT_EQ(status(card_.entry_input(below, group, 4, {}, tir(0))), Status::bad_resource)
        << "another table's group";
    EXPECT_EQ(status(card_.entry_input(table, group, 4, {}, tir(0), /*op_mod=*/2)), Status::bad_parameter);
    EXPECT_EQ(status(input({{Destination::table, below}})), Status::bad_parameter) << "same level";
    EXPECT_EQ(status(input({{Destination::table, table}})), Status::bad_parameter) << "itself";
    EXPECT_EQ(status(input({{Destination::table, 999}})), Status::bad_resource);
    EXPECT_EQ(status(input({{Destination::vport, 1}})), Status::bad_parameter);
    EXPECT_EQ(status(input(std::vector<Card::To>(17, {Destination::tir, sinks_[0].tirn}))),
              Status::bad_parameter);
    EXPECT_EQ(status(input(tir(0)).set(SetFteIn::destination_list_size, 9)), Status::bad_parameter)
        << "list cut";
    EXPECT_EQ(status(input(tir(0)).set(SetFteIn::flow_counter_list_size, 1)), Status::bad_parameter);
    for (u32 action : {0x0, 0x1, 0x2, 0x6, 0xc, 0x14, 0x44})
        EXPECT_EQ(status(input(tir(0)).set(SetFteIn::action, action)), Status::bad_parameter) << action;
    EXPECT_EQ(status(input({}).set(SetFteIn::action, flow_action::kForward)), Status::bad_parameter)
        << "forward to nowhere";
    EXPECT_EQ(status(input(tir(0)).set(SetFteIn::action, 0x5)), Status::ok) << "allow and forward";
    EXPECT_EQ(remove(table, 5), Status::bad_index);
}

TEST_F(SteeringTest, GroupsRefuseOverlapsAndWhatTheCardCannotMatch) {
    u32 table = card_.create_table(1, 4);
    card_.create_group(table, 4, 7);
    for (auto [first, last] : {std::pair{7u, 8u}, {0u, 4u}, {5u, 6u}, {0u, 15u}})
        EXPECT_EQ(status(card_.group_input(table, first, last, {})), Status::bad_parameter)
            << first << ".." << last;
    EXPECT_EQ(status(card_.group_input(table, 9, 8, {})), Status::bad_parameter);
    EXPECT_EQ(status(card_.group_input(table, 8, 16, {})), Status::bad_parameter) << "beyond the table";
    EXPECT_EQ(status(card_.group_input(table, 8, 0xffffffff, {})), Status::bad_parameter);
    EXPECT_EQ(status(card_.group_input(table, 0, 3, {})), Status::ok);
    EXPECT_EQ(status(card_.group_input(table, 8, 15, {})), Status::ok);
    u32 other = card_.create_table(2, 4);
    for (u32 bits : {2u, 6u, 8u, 9u})
        EXPECT_EQ(
            status(card_.group_input(other, 0, 1, {}).set(CreateFlowGroupIn::match_criteria_enable, bits)),
            Status::bad_parameter);
    Bytes reserved = zeros(64);
    reserved[0x18] = 1;
    EXPECT_EQ(status(card_.group_input(other, 0, 1, reserved)), Status::bad_parameter);
    EXPECT_EQ(status(card_.group_input(999, 0, 1, {})), Status::bad_resource);
}

TEST_F(SteeringTest, TablesRefuseWhatCannotWork) {
    u32 high = card_.create_table(9);
    EXPECT_EQ(status(card_.table_input(128, 0)), Status::bad_parameter) << "level";
    EXPECT_EQ(status(card_.table_input(127, 22)), Status::ok);
    EXPECT_EQ(status(card_.table_input(127, 23)), Status::bad_parameter) << "size";
    EXPECT_EQ(status(card_.table_input(9, 0, high)), Status::bad_parameter) << "miss to the same level";
    EXPECT_EQ(status(card_.table_input(9, 0, 999)), Status::bad_resource);
    EXPECT_EQ(status(card_.table_input(1, 0).set(FlowTableContext::table_miss_action, 2,
                                                 CreateFlowTableIn::context)),
              Status::bad_parameter);
    for (u32 type : {1, 2, 4, 5, 9})
        EXPECT_EQ(status(card_.table_input(1, 0).set(FlowTableIn::table_type, type)), Status::bad_parameter)
            << type;
    EXPECT_EQ(status(card_.table_input(1, 0).set(FlowTableIn::other_vport, 1)), Status::bad_parameter);
    EXPECT_EQ(status(miss_input(high, high)), Status::bad_parameter);
    EXPECT_EQ(status(miss_input(999, high)), Status::bad_resource);
}

// ---- Life time
// ------------------------------------------------------------------------------------------------------------
TEST_F(SteeringTest, NothingThatIsReferredToCanGo) {
    u32 last = card_.create_table(9), middle = card_.create_table(5, 4, last), first = card_.create_table(1);
    u32 group = card_.create_group(first, 0, 0);
    card_.set_entry(first, group, 0, {}, {{Destination::table, middle}, {Destination::tir, sinks_[0].tirn}});
    EXPECT_EQ(destroy_table(last), Status::bad_resource_state);
    EXPECT_EQ(destroy_table(middle), Status::bad_resource_state);
    EXPECT_EQ(destroy_table(first), Status::bad_resource_state) << "it has groups";
    EXPECT_EQ(destroy_group(first, group), Status::bad_resource_state) << "it has entries";
    EXPECT_EQ(card_.destroy(Opcode::destroy_tir, sinks_[0].tirn).status(), Status::bad_resource_state);
    EXPECT_EQ(remove(first, 0), Status::ok);
    EXPECT_EQ(destroy_group(middle, group), Status::bad_resource) << "another table's";
    EXPECT_EQ(destroy_group(first, group), Status::ok);
    EXPECT_EQ(card_.destroy(Opcode::destroy_tir, sinks_[0].tirn).status(), Status::ok);
    EXPECT_EQ(destroy_table(first), Status::ok);
    EXPECT_EQ(destroy_table(middle), Status::ok);
    EXPECT_EQ(destroy_table(last), Status::ok);
    EXPECT_EQ(destroy_table(last), Status::bad_resource);
}

TEST_F(SteeringTest, RootTableMayGoAndLeavesNoRoot) {
    u32 table = card_.create_table(1);
    card_.set_root(table);
    EXPECT_EQ(destroy_table(table), Status::ok);
    EXPECT_EQ(where(plain_), -1);
    EXPECT_EQ(card_.host.counter("rx_drop_no_root"), 1u);
}

TEST_F(SteeringTest, RootMovesBetweenTablesAndRefusesUnknownOnes) {
    u32 a = card_.catch_all(sinks_[0].tirn);
    card_.catch_all(sinks_[1].tirn);
    EXPECT_EQ(where(plain_), 1);
    card_.set_root(a);
    EXPECT_EQ(where(plain_), 0);
    CommandInput unknown(Opcode::set_flow_table_root, SetFlowTableRootIn::bytes);
    EXPECT_EQ(status(unknown.set(FlowTableIn::table_id, 999)), Status::bad_resource);
    EXPECT_EQ(where(plain_), 0);
}

TEST_F(SteeringTest, TableNumbersRunOutAndComeBack) {
    std::vector<u32> tables;
    for (;;) {
        CommandResult made = card_.driver.run(card_.table_input(1, 0));
        if (!made.ok()) {
            EXPECT_EQ(made.status(), Status::no_resources);
            break;
        }
        tables.push_back(made.number());
    }
    EXPECT_EQ(tables.size(), 256u);
    EXPECT_EQ(destroy_table(tables[7]), Status::ok);
    EXPECT_EQ(status(card_.table_input(1, 0)), Status::ok);
}

} // namespace
} // namespace niclab::test
