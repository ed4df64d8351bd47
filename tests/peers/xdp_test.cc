// SPDX-License-Identifier: GPL-2.0-or-later
// XDP programs at the stock driver's receive queues, and AF_XDP sockets whose memory the card writes and
// reads itself. What such programs send is looked at in multi_packet_test.cc as well.
#include "peers/reflection.h"

namespace niclab::scenarios {
namespace {

class Xdp : public Reflection {
  protected:
    void send(unsigned frames) {
        for (unsigned i = 0; i < frames; ++i)
            need(guest().send_frame(Side::a, hex(ethernet(kBroadcast, kLocalExperimental, pattern(60, i)))));
    }
    Command zero_copy() { return {"/niclab/zero_copy", interface(Side::b), "0", kReady}; }
};

TEST_F(Xdp, DroppedFramesReachTheDriverAndNobodyElse) {
    constexpr unsigned kFrames = 20;
    auto silence = quiet();
    auto dropping = running(reflector(0, "drop"));
    std::uint64_t card = card_counter(Side::b, "rx_frames"), dropped = statistic(Side::b, "rx_xdp_drop"),
                  answered = statistic(Side::b, "rx_xdp_tx_xmit");
    send(kFrames);
    need(vm().until("the frames to be dropped", 20s, [&]() -> Result<bool> {
        return statistic(Side::b, "rx_xdp_drop") >= dropped + kFrames;
    }));
    EXPECT_EQ(card_counter(Side::b, "rx_frames"), card + kFrames);
    EXPECT_EQ(statistic(Side::b, "rx_xdp_drop"), dropped + kFrames);
    EXPECT_EQ(statistic(Side::b, "rx_xdp_tx_xmit"), answered);
}

TEST_F(Xdp, TheCardReadsAndWritesTheMemoryOfASocket) {
    std::uint64_t received = statistic(Side::b, "rx_xsk_xdp_redirect"),
                  sent = statistic(Side::b, "tx_xsk_xmit");
    expect_reflection(0, zero_copy());
    EXPECT_GE(statistic(Side::b, "rx_xsk_xdp_redirect"), received + 5);
    EXPECT_GE(statistic(Side::b, "tx_xsk_xmit"), sent + 5);
}

TEST_F(Xdp, ZeroCopyWorksWithCyclicQueuesToo) {
    need(guest().ethtool(Side::b, {"--set-priv-flags", interface(Side::b), "rx_striding_rq", "off"}));
    Afterwards striding([this] {
        return guest().ethtool(Side::b, {"--set-priv-flags", interface(Side::b), "rx_striding_rq", "on"});
    });
    expect_reflection(0, zero_copy());
}

} // namespace
} // namespace niclab::scenarios
