// SPDX-License-Identifier: GPL-2.0-or-later
// Speeds and error correction: PTYS, PPLM, PDDR.
#include "support/registers.h"

namespace niclab::test {
namespace {

// Bits of the two languages, slowest speed first: 1, 10, 25, 40, 50, 100 Gbit/s over copper.
constexpr unsigned kMbps[] = {1000, 10000, 25000, 40000, 50000, 100000};
constexpr u32 kLegacy[] = {1u << 1, 1u << 12, 1u << 27, 1u << 6, 1u << 30, 1u << 20};
constexpr u32 kExtended[] = {1u << 1, 1u << 4, 1u << 6, 1u << 5, 1u << 7, 1u << 9};

u32 sum(const u32 (&bits)[6], usize count) {
    u32 all = 0;
    for (usize i = 0; i < count; ++i)
        all |= bits[i];
    return all;
}

class LinkTest : public PortTest, public testing::WithParamInterface<usize> {
  protected:
    static cx_config with_speed(unsigned mbps) {
        cx_config config = default_config();
        config.speed_mbps = mbps;
        return config;
    }
    LinkTest() : LinkTest(100000) {}
    explicit LinkTest(unsigned mbps) : PortTest(with_speed(mbps)) {}

    // What a driver does after a change.
    void toggle() {
        set_up(false);
        set_up(true);
    }
    static CommandInput pplm(u16 op, u32 admin = 0) {
        CommandInput input = access(kPplm, op, 0x50).set(Pplm::local_port, 1, kImage);
        store_be32(input.raw.data() + kImage + 0x14, admin);
        return input;
    }
    u32 active_fec() { return must(pplm(kRead)).get(Pplm::fec_mode_active, kImage); }
    u32 trouble() {
        return must(access(kPddr, kRead, 0x100)
                        .set(Pddr::local_port, 1, kImage)
                        .set(Pddr::page_select, 1, kImage))
            .get(Pddr::status_opcode, kImage);
    }
};

class SpeedTest : public LinkTest {
  protected:
    SpeedTest() : LinkTest(kMbps[GetParam()]) {}
};

TEST_P(SpeedTest, OffersEverySpeedUpToTheConfiguredOneAndComesUpWithThat) {
    CommandResult result = must(ptys(kRead));
    u32 legacy = sum(kLegacy, GetParam() + 1), extended = sum(kExtended, GetParam() + 1);
    EXPECT_EQ(result.get(Ptys::eth_proto_capability, kImage), legacy);
    EXPECT_EQ(result.get(Ptys::ext_eth_proto_capability, kImage), extended);
    EXPECT_EQ(result.get(Ptys::ext_eth_proto_admin, kImage), extended);
    EXPECT_EQ(result.get(Ptys::eth_proto_admin, kImage), 0u) << "one language at a time";
    EXPECT_EQ(result.get(Ptys::eth_proto_oper, kImage), 0u) << "down";
    EXPECT_EQ(result.get(Ptys::ext_eth_proto_oper, kImage), 0u);
    EXPECT_EQ(result.get(Ptys::data_rate_oper, kImage), 0u);
    set_up(true);
    result = must(ptys(kRead));
    EXPECT_EQ(result.get(Ptys::eth_proto_oper, kImage), kLegacy[GetParam()]);
    EXPECT_EQ(result.get(Ptys::ext_eth_proto_oper, kImage), kExtended[GetParam()]);
    EXPECT_EQ(result.get(Ptys::data_rate_oper, kImage), kMbps[GetParam()] / 100);
    EXPECT_EQ(result.get(Ptys::an_status, kImage), 1u) << "negotiation complete";
    EXPECT_EQ(result.get(Ptys::eth_proto_lp_advertise, kImage), extended);
    EXPECT_EQ(result.get(Ptys::connector_type, kImage), 7u) << "direct attach";
}
INSTANTIATE_TEST_SUITE_P(Each, SpeedTest, testing::Range(usize{0}, std::size(kMbps)));

TEST_P(LinkTest, RunsAtASpeedAskedForInEitherLanguageOnceTheLinkComesUpAgain) {
    usize speed = GetParam();
    set_up(true);
    for (bool extended : {false, true})
        for (bool forced : {false, true}) {
            SCOPED_TRACE(testing::Message() << extended << forced);
            must(extended ? ptys(kWrite, kExtended[speed], 0, forced)
                          : ptys(kWrite, 0, kLegacy[speed], forced));
            toggle();
            CommandResult result = must(ptys(kRead));
            EXPECT_EQ(result.get(Ptys::ext_eth_proto_admin, kImage), extended ? kExtended[speed] : 0);
            EXPECT_EQ(result.get(Ptys::eth_proto_admin, kImage), extended ? 0 : kLegacy[speed]);
            EXPECT_EQ(result.get(Ptys::ext_eth_proto_oper, kImage), kExtended[speed]);
            EXPECT_EQ(result.get(Ptys::eth_proto_oper, kImage), kLegacy[speed]);
            EXPECT_EQ(result.get(Ptys::data_rate_oper, kImage), kMbps[speed] / 100);
            EXPECT_EQ(result.get(Ptys::an_disable_admin, kImage), forced);
            EXPECT_EQ(result.get(Ptys::an_status, kImage), forced ? 0u : 1u);
        }
}
INSTANTIATE_TEST_SUITE_P(Each, LinkTest, testing::Range(usize{0}, std::size(kMbps)));

class OneLinkTest : public LinkTest {};

TEST_F(OneLinkTest, KeepsItsSpeedUntilItComesUpAgain) {
    set_up(true);
    must(ptys(kWrite, kExtended[1]));
    EXPECT_EQ(must(ptys(kRead)).get(Ptys::data_rate_oper, kImage), 1000u);
    toggle();
    EXPECT_EQ(must(ptys(kRead)).get(Ptys::data_rate_oper, kImage), 100u);
}

TEST_F(OneLinkTest, TakesTheFastestOfSeveralModes) {
    must(ptys(kWrite, kExtended[1] | kExtended[3] | kExtended[2]));
    set_up(true);
    EXPECT_EQ(must(ptys(kRead)).get(Ptys::data_rate_oper, kImage), 400u);
}

TEST_F(OneLinkTest, RefusesModesItDoesNotHaveAndKeepsTheOldOnes) {
    u32 before = must(ptys(kRead)).get(Ptys::ext_eth_proto_admin, kImage);
    EXPECT_EQ(run(ptys(kWrite)).status(), Status::bad_parameter) << "no mode at all";
    EXPECT_EQ(run(ptys(kWrite, kExtended[5] | 1u << 12)).status(), Status::bad_parameter) << "200 Gbit/s";
    EXPECT_EQ(run(ptys(kWrite, 0, kLegacy[5] | 1u << 13)).status(), Status::bad_parameter) << "fibre";
    EXPECT_EQ(run(ptys(kWrite, kExtended[5], kLegacy[5])).status(), Status::bad_parameter)
        << "both languages";
    EXPECT_EQ(run(ptys(kWrite, kExtended[5]).set(Ptys::proto_mask, 1, kImage)).status(),
              Status::bad_parameter);
    EXPECT_EQ(run(ptys(kRead).set(Ptys::proto_mask, 1, kImage)).status(), Status::bad_parameter)
        << "InfiniBand";
    EXPECT_EQ(must(ptys(kRead)).get(Ptys::ext_eth_proto_admin, kImage), before);
}

TEST_F(OneLinkTest, ResetBringsEveryModeBack) {
    must(ptys(kWrite, kExtended[1], 0, true));
    must(pplm(kWrite, 0x1000));
    cx_core_reset(host.core());
    driver.register_queue();
    driver.bring_up();
    set_up(true);
    CommandResult result = must(ptys(kRead));
    EXPECT_EQ(result.get(Ptys::data_rate_oper, kImage), 1000u);
    EXPECT_EQ(result.get(Ptys::an_disable_admin, kImage), 0u);
    EXPECT_EQ(active_fec(), 4u);
}

// ---- error correction; 1 none, 2 Firecode, 4 Reed-Solomon
TEST_F(OneLinkTest, OffersTheKindsOfErrorCorrectionThatEachSpeedHas) {
    // 100G none and RS, 50G and 25G all three, 10G and 40G none and Firecode.
    EXPECT_EQ(load_be32(must(pplm(kRead)).out.data() + kImage + 0x10), 0x0000'5773u);
    EXPECT_EQ(active_fec(), 1u) << "the link is down";
}

TEST_F(OneLinkTest, ErrorCorrectionFollowsSpeedAndPolicy) {
    struct Case {
        usize speed;
        u32 admin, active;
    };
    for (Case c : {Case{5, 0, 4}, Case{5, 0x1000, 1}, Case{5, 0x4000, 4}, Case{2, 0, 4}, Case{2, 0x20, 2},
                   Case{2, 0x10, 1}, Case{4, 0x300, 2}, Case{3, 0, 1}, Case{1, 0x2, 2}, Case{0, 0x2, 1}}) {
        must(ptys(kWrite, kExtended[c.speed]));
        must(pplm(kWrite, c.admin));
        toggle();
        EXPECT_EQ(active_fec(), c.active) << kMbps[c.speed] << " " << std::hex << c.admin;
        EXPECT_EQ(load_be32(must(pplm(kRead)).out.data() + kImage + 0x14), c.admin);
    }
}

TEST_F(OneLinkTest, RefusesErrorCorrectionThatASpeedDoesNotHave) {
    for (u32 admin : {0x2000u, 0x8000u, 0x0004u, 0x0080u, 0x0800u, 0x0001'0000u})
        EXPECT_EQ(run(pplm(kWrite, admin)).status(), Status::bad_parameter) << std::hex << admin;
    EXPECT_EQ(run(pplm(kWrite, 0x2010)).status(), Status::bad_parameter);
    EXPECT_EQ(load_be32(must(pplm(kRead)).out.data() + kImage + 0x14), 0u) << "all or nothing";
    EXPECT_EQ(run(pplm(kRead).set(Pplm::local_port, 2, kImage)).status(), Status::bad_parameter);
}

// ---- why is it down?
TEST_F(OneLinkTest, TellsWhyItIsDown) {
    EXPECT_EQ(trouble(), 1u) << "closed by command";
    set_up(true);
    EXPECT_EQ(trouble(), 0u);
    cx_core_set_cable(host.core(), false);
    EXPECT_EQ(trouble(), 2u) << "no partner while negotiating";
    must(ptys(kWrite, kExtended[1], 0, true));
    EXPECT_EQ(trouble(), 36u) << "no partner at a forced speed";
    cx_core_set_module(host.core(), false);
    EXPECT_EQ(trouble(), 1024u) << "no cable";
    EXPECT_EQ(run(access(kPddr, kRead, 0x100).set(Pddr::local_port, 1, kImage)).status(),
              Status::bad_parameter)
        << "another page";
}

} // namespace
} // namespace niclab::test
