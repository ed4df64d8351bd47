// SPDX-License-Identifier: GPL-2.0-or-later
// Rules about the packet that a tunnel carries.
#include "support/card.h"

namespace niclab::test {
namespace {

constexpr usize kInner = 0x80; // of the match block

class InnerMatch : public testing::Test {
  protected:
    InnerMatch() {
        table_ = card_.create_table(1);
        card_.set_root(table_);
    }
    static Bytes in_gre(const Bytes &inside, u16 type) {
        Bytes gre = Bytes{0, 0, static_cast<u8>(type >> 8), static_cast<u8>(type)} +
                    Bytes(inside.begin() + 14, inside.end());
        return ethernet(0x0800) + Ipv4{.protocol = 47}.header(gre.size()) + gre;
    }
    static Bytes block(usize at, const Bytes &bytes) {
        Bytes raw = zeros(kInner + MatchL2L4::bytes);
        std::copy(bytes.begin(), bytes.end(), raw.begin() + static_cast<long>(kInner + at));
        return raw;
    }
    CommandInput group_input(const Bytes &mask, u32 enabled = CreateFlowGroupIn::kInner) {
        return card_.group_input(table_, 0, 0, mask).set(CreateFlowGroupIn::match_criteria_enable, enabled);
    }
    // One rule with this mask and value.
    void only(const Bytes &mask, const Bytes &value) {
        u32 group = card_.driver.must(group_input(mask)).number();
        card_.set_entry(table_, group, 0, value, {{Destination::tir, tirn_}});
    }
    bool arrives(const Bytes &bytes) {
        card_.post_buffer(rq_);
        card_.host.frame_in(bytes);
        return !card_.drain(cq_).empty();
    }

    Card card_;
    Queue cq_ = card_.create_cq(6), rq_ = card_.create_rq(5, 4, cq_.number);
    u32 tirn_ = card_.create_tir(rq_.number), table_ = 0;
    const Bytes tcp4_ = frame(Ipv4{}, Tcp{.sport = 1, .dport = 80}, pattern(9)),
                udp6_ = frame(Ipv6{}, Udp{.sport = 1, .dport = 80}, pattern(9));
};

// Version in bits 12..9 and protocol in bits 31..24 of the word at 0x10, as drivers ask.
TEST_F(InnerMatch, VersionAndProtocolAreThoseInside) {
    only(block(0x10, {0xff, 0, 0x1e, 0}), block(0x10, {6, 0, 4 << 1, 0}));
    EXPECT_TRUE(arrives(in_gre(tcp4_, 0x0800)));
    EXPECT_FALSE(arrives(in_gre(udp6_, 0x86dd)));
    EXPECT_FALSE(arrives(tcp4_)) << "no tunnel";
}

TEST_F(InnerMatch, AddressesAndPortsAreThoseInside) {
    const Bytes inside = frame(Ipv4{.source = {1, 2, 3, 4}}, Udp{.sport = 7, .dport = 9}, pattern(9));
    Bytes mask = block(0x2c, Bytes(4, 0xff)), value = block(0x2c, {1, 2, 3, 4});
    std::fill_n(mask.begin() + kInner + 0x1c, 4, 0xff); // UDP ports
    value[kInner + 0x1d] = 7;
    value[kInner + 0x1f] = 9;
    only(mask, value);
    EXPECT_TRUE(arrives(in_gre(inside, 0x0800)));
    EXPECT_FALSE(arrives(inside));
    EXPECT_FALSE(
        arrives(in_gre(frame(Ipv4{.source = {1, 2, 3, 5}}, Udp{.sport = 7, .dport = 9}, {}), 0x0800)));
    EXPECT_FALSE(
        arrives(in_gre(frame(Ipv4{.source = {1, 2, 3, 4}}, Tcp{.sport = 7, .dport = 9}, {}), 0x0800)));
}

TEST_F(InnerMatch, TheEthertypeIsTheOneThatTheTunnelNames) {
    only(block(0x06, {0xff, 0xff}), block(0x06, {0x86, 0xdd}));
    EXPECT_TRUE(arrives(in_gre(udp6_, 0x86dd)));
    EXPECT_FALSE(arrives(in_gre(tcp4_, 0x0800)));
    EXPECT_FALSE(arrives(udp6_));
}

TEST_F(InnerMatch, RefusesWhatIsNotLookedAtInside) {
    struct {
        usize at;
        u8 bits;
    } const kPlaces[] = {{0x00, 1}, {0x04, 1},    {0x08, 1},    {0x0c, 1},
                         {0x0e, 1}, {0x12, 0x80}, {0x12, 0x40}, {0x1b, 1}};
    for (auto [at, bits] : kPlaces)
        EXPECT_EQ(card_.driver.run(group_input(block(at, {bits}))).status(), Status::bad_parameter) << at;
    // What is not enabled does not count.
    EXPECT_EQ(card_.driver.run(group_input(block(0x00, {1}), CreateFlowGroupIn::kOuter)).status(),
              Status::ok);
}

} // namespace
} // namespace niclab::test
