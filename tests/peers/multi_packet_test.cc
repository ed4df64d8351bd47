// SPDX-License-Identifier: GPL-2.0-or-later
// Multi-packet send, as the stock driver uses it: for short packets of the stack, and for those that an XDP
// program sends back.
#include "peers/reflection.h"

namespace niclab::scenarios {
namespace {

class MultiPacketSend : public Reflection {
  protected:
    std::unique_ptr<Afterwards> with_private_flag(Side side, const char *flag, const char *state,
                                                  const char *usual) {
        need(guest().ethtool(side, {"--set-priv-flags", interface(side), flag, state}));
        return std::make_unique<Afterwards>([this, side, flag, usual] {
            return guest().ethtool(side, {"--set-priv-flags", interface(side), flag, usual});
        });
    }
};

TEST_F(MultiPacketSend, ManySmallPacketsOfTheStackShareOneElement) {
    auto linear = with_features(Side::a, {"sg", "off"}); // the stack cuts, and hands over a batch
    std::uint64_t packets = statistic(Side::a, "tx_mpwqe_pkts"), blocks = statistic(Side::a, "tx_mpwqe_blks");
    expect_transfer(Side::a);
    std::uint64_t new_packets = statistic(Side::a, "tx_mpwqe_pkts") - packets,
                  new_blocks = statistic(Side::a, "tx_mpwqe_blks") - blocks;
    EXPECT_GT(new_packets, 1000u);
    EXPECT_LT(2 * new_blocks, new_packets);
}

TEST_F(MultiPacketSend, SwitchedOffEveryPacketHasItsOwn) {
    auto off = with_private_flag(Side::a, "skb_tx_mpwqe", "off", "on");
    std::uint64_t packets = statistic(Side::a, "tx_mpwqe_pkts");
    expect_ping();
    EXPECT_EQ(statistic(Side::a, "tx_mpwqe_pkts"), packets);
}

TEST_F(MultiPacketSend, FramesThatAnXdpProgramSendsBackArriveWhole) {
    std::uint64_t before = statistic(Side::b, "rx_xdp_tx_mpwqe");
    expect_reflection(0, reflector(0));
    expect_reflection(14, reflector(14));
    EXPECT_GT(statistic(Side::b, "rx_xdp_tx_mpwqe"), before);
}

TEST_F(MultiPacketSend, FramesThatAnXdpProgramRedirectsArriveWhole) {
    std::uint64_t before = statistic(Side::b, "tx_xdp_xmit");
    expect_reflection(14, reflector(14, "redirect"));
    EXPECT_EQ(statistic(Side::b, "tx_xdp_xmit"), before + 5);
}

TEST_F(MultiPacketSend, XdpFramesArriveWholeWithoutItToo) {
    auto off = with_private_flag(Side::b, "xdp_tx_mpwqe", "off", "on");
    std::uint64_t before = statistic(Side::b, "rx_xdp_tx_mpwqe");
    expect_reflection(0, reflector(0));
    EXPECT_EQ(statistic(Side::b, "rx_xdp_tx_mpwqe"), before);
}

} // namespace
} // namespace niclab::scenarios
