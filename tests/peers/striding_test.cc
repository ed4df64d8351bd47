// SPDX-License-Identifier: GPL-2.0-or-later
// Striding receive queues, which the stock driver chooses by itself when the card offers them.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Striding : public Scenario {
  protected:
    Status set(bool on) {
        for (Side side : kBothSides) {
            NICLAB_TRY(guest().ethtool(
                side, {"--set-priv-flags", interface(side), "rx_striding_rq", on ? "on" : "off"}));
            NICLAB_TRY(guest().wait_link(side));
        }
        return {};
    }
    bool is_on(Side side) {
        return run(side, "ethtool --show-priv-flags $IF | grep rx_striding_rq").find(": on") !=
               std::string::npos;
    }
};

TEST_F(Striding, IsTheStockDriversChoiceAndFillsItsKeysByUmr) {
    std::uint64_t umrs = card_counter(Side::b, "umr_wqes"), wqes = card_counter(Side::b, "receive_wqes");
    std::uint64_t frames = card_counter(Side::b, "rx_frames");
    EXPECT_TRUE(is_on(Side::b));
    expect_transfer(Side::a, {.bytes = 16 << 20});
    std::uint64_t used = card_counter(Side::b, "receive_wqes") - wqes;
    EXPECT_GT(used, 0u);
    EXPECT_LT(used, (card_counter(Side::b, "rx_frames") - frames) / 64) << "128 frames share a WQE";
    EXPECT_GT(card_counter(Side::b, "umr_wqes"), umrs);
    EXPECT_EQ(statistic(Side::b, "rx_wqe_err"), 0u);
    EXPECT_EQ(statistic(Side::b, "rx_buff_alloc_err"), 0u);
}

TEST_F(Striding, LongFramesLeaveStridesOverThatComeBackAsFillers) {
    std::uint64_t fillers = card_counter(Side::b, "rx_fillers"),
                  seen = statistic(Side::b, "rx_mpwqe_filler_cqes");
    {
        Afterwards back([this]() -> Status {
            for (Side side : kBothSides)
                NICLAB_TRY(guest().set_mtu(side, 1500));
            return {};
        });
        for (Side side : kBothSides)
            need(guest().set_mtu(side, 9000));
        expect_transfer(Side::a, {.bytes = 16 << 20});
        std::uint64_t now = card_counter(Side::b, "rx_fillers") - fillers;
        EXPECT_GT(now, 0u);
        EXPECT_EQ(statistic(Side::b, "rx_mpwqe_filler_cqes") - seen, now);
    }
    expect_ping();
}

TEST_F(Striding, PlainQueuesCarryTheSameWhenItIsOff) {
    {
        Afterwards back([this] { return set(true); });
        need(set(false));
        EXPECT_FALSE(is_on(Side::b));
        std::uint64_t umrs = card_counter(Side::b, "umr_wqes");
        expect_ping();
        for (Side from : kBothSides)
            expect_transfer(from, {.bytes = 8 << 20});
        EXPECT_EQ(card_counter(Side::b, "umr_wqes"), umrs);
    }
    expect_ping();
}

} // namespace
} // namespace niclab::scenarios
