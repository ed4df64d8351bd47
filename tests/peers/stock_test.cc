// SPDX-License-Identifier: GPL-2.0-or-later
// The stock mlx5_core of Debian's kernels on our card: what only it can do or say.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {

const Subject &subject() {
    static const Subject stock{.driver = "mlx5_core",
                               .kernel = NICLAB_TEST_KERNEL,
                               .module = "mlx5_core",
                               .names = {.queue_packets = "rx{}_packets",
                                         .vport = "{}_vport_{}_{}",
                                         .port_packets = "{}_packets_phy",
                                         .out_of_buffer = "rx_out_of_buffer"}};
    return stock;
}

namespace {

class StockDriver : public Scenario {};

TEST_F(StockDriver, HealthReportersCountedNoError) {
    CommandResult shown = need(vm().run({"devlink", "-j", "health", "show"}, 20s));
    ASSERT_EQ(shown.exit_code, 0) << shown.err;
    auto all = nlohmann::json::parse(shown.out, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(all.is_object() && all.contains("health")) << shown.out;
    for (Side side : kBothSides) {
        std::string device = "pci/" + need(guest().pci_address(side));
        unsigned reporters = 0;
        for (const auto &[owner, list] : all["health"].items())
            for (const auto &reporter : owner.starts_with(device) ? list : nlohmann::json::array()) {
                ++reporters;
                EXPECT_EQ(reporter.value("state", ""), "healthy") << reporter;
                EXPECT_EQ(reporter.value("error", 1), 0) << reporter;
            }
        EXPECT_GT(reporters, 0u) << device;
    }
}

TEST_F(StockDriver, AnIndirectionTableOfOneQueueSendsEveryFlowThere) {
    auto silence = quiet();
    Afterwards back([this] { return guest().ethtool(Side::b, {"-X", interface(Side::b), "default"}); });
    need(guest().ethtool(Side::b, {"-X", interface(Side::b), "start", "2", "equal", "1"}));
    std::uint64_t before = statistic(Side::b, "rx2_packets"), all = statistic(Side::b, "rx_packets");
    Bytes frame = udp(mac(Side::b), Family::ipv4, 1000, 2000, pattern(32, 1));
    need(guest().send_frame(Side::a, hex(frame),
                            {.count = 64, .vary_offset = static_cast<unsigned>(l4_offset(frame))}));
    need(vm().until("the packets to be counted", 20s,
                    [&]() -> Result<bool> { return statistic(Side::b, "rx_packets") >= all + 64; }));
    EXPECT_EQ(statistic(Side::b, "rx2_packets"), before + 64);
}

} // namespace
} // namespace niclab::scenarios
