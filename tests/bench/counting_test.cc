// SPDX-License-Identifier: GPL-2.0-or-later
// Counting runs: two of them execute the same instructions, and the counts are those of the work that was
// done.
#include <gtest/gtest.h>

#include "niclab/bench/measure.h"
#include "niclab/bench/metrics.h"

namespace niclab::bench {
namespace {

using Values = std::map<std::string, double>;
using Results = std::map<std::string, Measured>;

std::vector<Planned> small_work() {
    return {
        {*find_scenario("tx-60"), 256}, {*find_scenario("rx-drop-60"), 256}, {*find_scenario("rr-1"), 64}};
}

Results run(const Setting &setting) {
    auto folder = RunFolder::create("counting");
    if (!folder.ok()) {
        ADD_FAILURE() << folder.why();
        return {};
    }
    auto results = counting_run(setting, small_work(), *folder);
    if (!results.ok()) {
        ADD_FAILURE() << results.why() << "; see " << folder->path();
        return {};
    }
    return *results;
}

/// Per frame or round, what cannot be otherwise whatever the driver does.
void expect_plausible(const Results &results, const Setting &setting) {
    for (const auto &[name, measured] : results) {
        SCOPED_TRACE(name);
        ASSERT_EQ(measured.why_not, "");
        Values values = values_of(measured.cost, *setting.driver);
        EXPECT_GT(values["driver_instructions"], 50);
        EXPECT_GT(values["instructions"], values["driver_instructions"]);
        EXPECT_GT(values["dma_bytes"], 60);
        EXPECT_GT(values["napi_polls"], 0);
        EXPECT_GT(values["interrupts"], 0);
        EXPECT_GT(values["slab_allocations"] + values["page_allocations"], 0);
    }
    EXPECT_EQ(results.at("tx-60").cost.card.at("tx_frames"), 1);
    EXPECT_EQ(results.at("tx-60").cost.card.at("dma_payload_bytes_read"), 60);
    // rx_frames come in the baseline too. The stock driver's queues are striding ones, 128 frames to a WQE.
    double wqes = std::string(setting.driver->name) == "mlx5_core" ? 1.0 / 128 : 1;
    EXPECT_EQ(results.at("rx-drop-60").cost.card.at("receive_wqes"), wqes);
    EXPECT_EQ(results.at("rx-drop-60").cost.card.at("dma_payload_bytes_written"), 60);
    EXPECT_EQ(results.at("rr-1").cost.card.at("tx_frames"), 1);
    EXPECT_EQ(results.at("rr-1").cost.card.at("rx_frames"), 1);
}

TEST(Counting, TheStockDriverRepeatsExactly) {
    Setting setting{*find_driver("mlx5_core"), *find_iommu("caching")};
    Results first = run(setting), second = run(setting);
    ASSERT_FALSE(first.empty());
    expect_plausible(first, setting);
    // One map and one unmap, each with its flush: what caching mode is for.
    EXPECT_NEAR(values_of(first["tx-60"].cost, *setting.driver)["iotlb_invalidations"], 2, 0.1);
    for (const auto &[name, measured] : first) {
        const auto &again = second[name].cost.functions;
        ASSERT_EQ(measured.cost.functions.size(), again.size()) << name;
        for (std::size_t i = 0; i < again.size(); ++i) {
            EXPECT_EQ(measured.cost.functions[i].name, again[i].name) << name;
            EXPECT_EQ(measured.cost.functions[i].instructions, again[i].instructions)
                << name << " " << again[i].name;
        }
    }
}

TEST(Counting, OurDriverIsCountedToo) {
    Setting setting{*find_driver("niclab"), *find_iommu("none")};
    Results results = run(setting);
    ASSERT_FALSE(results.empty());
    expect_plausible(results, setting);
    EXPECT_EQ(values_of(results["tx-60"].cost, *setting.driver)["iotlb_invalidations"], 0);
}

} // namespace
} // namespace niclab::bench
