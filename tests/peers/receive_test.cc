// SPDX-License-Identifier: GPL-2.0-or-later
// What the stock driver switches and counts on the receive side.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Receive : public Scenario {};

/// IEEE 802.3 as it is written: bit by bit, lowest first.
Bytes fcs_of(const Bytes &frame) {
    std::uint32_t crc = 0xffffffff;
    for (auto byte : frame)
        for (unsigned bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ ((crc ^ static_cast<std::uint32_t>(byte) >> bit) & 1 ? 0xedb88320 : 0);
    crc = ~crc;
    Bytes bytes;
    for (unsigned i = 0; i < 4; ++i)
        bytes.push_back(static_cast<Bytes::value_type>(crc >> 8 * i));
    return bytes;
}

TEST_F(Receive, FcsIsHandedUpWhenAskedFor) {
    auto with_fcs = with_features(Side::b, {"rx-fcs", "on"});
    need(guest().wait_link(Side::b));
    Bytes frame = ethernet(mac(Side::b), kLocalExperimental, pattern(101, 1));
    Bytes wanted = frame;
    for (auto byte : fcs_of(frame))
        wanted.push_back(byte);
    std::vector<std::string> came;
    for (const CapturedFrame &seen :
         capture(Side::b, "src=02:00:00:77:00:01", 1, [&] { need(guest().send_frame(Side::a, hex(frame))); }))
        came.push_back(hex(whole(seen)));
    EXPECT_EQ(came, std::vector<std::string>{hex(wanted)});
    expect_transfer(Side::a);
}

TEST_F(Receive, DamagedFramesAreDroppedUnlessAllAreWanted) {
    auto silence = quiet();
    auto damage = [this](unsigned frames) {
        return vm().qmp(
            "qom-set",
            {{"path", "/machine/peripheral/nic1"}, {"property", "damaged-frames"}, {"value", frames}});
    };
    Bytes frame = ethernet(mac(Side::b), kLocalExperimental, pattern(86, 1));
    std::uint64_t before = statistic(Side::b, "rx_crc_errors_phy");
    need(damage(2));
    expect_arrivals(Side::a, {frame, frame, frame}, {frame});
    EXPECT_EQ(statistic(Side::b, "rx_crc_errors_phy"), before + 2);
    auto all = with_features(Side::b, {"rx-all", "on"});
    need(damage(2));
    expect_arrivals(Side::a, {frame, frame, frame}, {frame, frame, frame});
    EXPECT_EQ(statistic(Side::b, "rx_crc_errors_phy"), before + 2);
}

TEST_F(Receive, FramesThatNoTableTakesAreCountedAsMissedBySteering) {
    auto silence = quiet();
    std::uint64_t before = statistic(Side::b, "rx_steer_missed_packets");
    Bytes foreign = ethernet({0x02, 0, 0, 0x77, 0, 0x99}, kLocalExperimental, pattern(86, 1));
    expect_arrivals(Side::a, {foreign, foreign, foreign}, {});
    EXPECT_EQ(statistic(Side::b, "rx_steer_missed_packets"), before + 3);
    EXPECT_EQ(statistic(Side::b, "rx_oversize_pkts_buffer"), 0u);
}

TEST_F(Receive, LargeReceiveMergesSegmentsAndKeepsEveryByte) {
    std::uint64_t frames = card_counter(Side::b, "rx_merged_frames"),
                  segments = card_counter(Side::b, "rx_merged_segments");
    std::uint64_t packets = statistic(Side::b, "rx_lro_packets");
    {
        auto merging = with_features(Side::b, {"lro", "on"});
        need(guest().wait_link(Side::b));
        for (bool ipv6 : {false, true})
            expect_transfer(Side::a, {.bytes = 8 << 20, .ipv6 = ipv6});
        expect_transfer(Side::b);
        std::uint64_t merged = card_counter(Side::b, "rx_merged_frames") - frames;
        EXPECT_GT(merged, 0u);
        EXPECT_EQ(statistic(Side::b, "rx_lro_packets") - packets, merged);
        EXPECT_GT(card_counter(Side::b, "rx_merged_segments") - segments, 4 * merged);
    }
    expect_ping();
}

// The reporter closes and opens all queues, and shows each one's state as the card tells it. What a port's
// reporters belong to has another name in each kernel.
TEST_F(Receive, ReportersRecoverTheQueuesOnRequest) {
    CommandResult all = need(vm().run({"devlink", "-j", "health", "show"}, 20s));
    auto json = nlohmann::json::parse(all.out, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(json.is_object() && json.contains("health")) << all.out;
    unsigned found = 0;
    for (const auto &[owner, list] : json["health"].items())
        for (const auto &reporter : list) {
            if (reporter.value("reporter", "") != "rx") continue;
            ++found;
            auto ask = [&, port = owner](const char *what) {
                return need(vm().run({"devlink", "health", what, port, "reporter", "rx"}, 20s));
            };
            CommandResult shown = ask("diagnose"), recovered = ask("recover");
            EXPECT_NE(shown.out.find("HW state: 1"), std::string::npos) << shown.out << shown.err;
            EXPECT_EQ(recovered.exit_code, 0) << recovered.err;
        }
    EXPECT_EQ(found, 2u) << all.out;
    for (Side side : kBothSides)
        need(guest().wait_link(side));
    expect_ping();
    expect_transfer(Side::a);
}

} // namespace
} // namespace niclab::scenarios
