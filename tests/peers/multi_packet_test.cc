// SPDX-License-Identifier: GPL-2.0-or-later
// Multi-packet send, as the stock driver uses it: for short packets of the stack, and for those that an XDP
// program sends back.
#include <algorithm>

#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class MultiPacketSend : public Scenario {
  protected:
    std::unique_ptr<Afterwards> with_private_flag(Side side, const char *flag, const char *state,
                                                  const char *usual) {
        need(guest().ethtool(side, {"--set-priv-flags", interface(side), flag, state}));
        return std::make_unique<Afterwards>([this, side, flag, usual] {
            return guest().ethtool(side, {"--set-priv-flags", interface(side), flag, usual});
        });
    }

    /// Side b sends back what it receives, without its first `cut` bytes; `how` is "redirect" or nothing.
    std::unique_ptr<Afterwards> reflecting(std::size_t cut, const char *how) {
        const std::string ready = "/run/reflect";
        need(vm().run({"rm", "-f", ready}, 10s));
        std::vector<std::string> command = {"/niclab/reflect", interface(Side::b), ready,
                                            std::to_string(cut)};
        if (how) command.emplace_back(how);
        int handle = need(guest().start(Side::b, command));
        auto end = std::make_unique<Afterwards>([this, handle]() -> Status {
            NICLAB_TRY(vm().run({"kill", std::to_string(handle)}, 10s));
            NICLAB_TRY(vm().wait(handle, "the XDP program to go", 20s));
            return guest().wait_link(Side::b);
        });
        CommandResult seen = need(vm().run({"/niclab/wire", "await", ready, "--for-ms", "20000"}, 30s));
        EXPECT_TRUE(seen.ok()) << seen.err;
        need(guest().wait_link(Side::b));
        return end;
    }

    void expect_reflection(std::size_t cut, const char *how = nullptr) {
        auto program = reflecting(cut, how);
        std::vector<std::string> wanted;
        auto seen = capture(Side::a, "src=02:00:00:77:00:01", 5, [&] {
            for (std::size_t size : {60u, 61u, 255u, 1000u, 1500u}) {
                Bytes frame =
                    ethernet(kBroadcast, kLocalExperimental, pattern(size - 14, static_cast<unsigned>(size)));
                wanted.push_back(hex(frame));
                frame.insert(frame.begin(), cut, 0xff); // starts like a broadcast, so it arrives
                need(guest().send_frame(Side::a, hex(frame)));
            }
        });
        std::vector<std::string> came;
        for (const CapturedFrame &frame : seen)
            came.push_back(hex(whole(frame)));
        EXPECT_EQ(came, wanted);
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
    expect_reflection(0);
    expect_reflection(14);
    EXPECT_GT(statistic(Side::b, "rx_xdp_tx_mpwqe"), before);
}

TEST_F(MultiPacketSend, FramesThatAnXdpProgramRedirectsArriveWhole) {
    std::uint64_t before = statistic(Side::b, "tx_xdp_xmit");
    expect_reflection(14, "redirect");
    EXPECT_EQ(statistic(Side::b, "tx_xdp_xmit"), before + 5);
}

TEST_F(MultiPacketSend, XdpFramesArriveWholeWithoutItToo) {
    auto off = with_private_flag(Side::b, "xdp_tx_mpwqe", "off", "on");
    std::uint64_t before = statistic(Side::b, "rx_xdp_tx_mpwqe");
    expect_reflection(0);
    EXPECT_EQ(statistic(Side::b, "rx_xdp_tx_mpwqe"), before);
}

} // namespace
} // namespace niclab::scenarios
