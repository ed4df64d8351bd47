// SPDX-License-Identifier: GPL-2.0-or-later
// The matrix's file: cells, what is pruned and excused, and what is wrong in it.
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/matrix/machine.h"
#include "niclab/matrix/plan.h"
#include "niclab/paths.h"

namespace niclab::matrix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char *kToday = "2026-06-15";

constexpr const char *kAxes = R"(axes:
  suite: [unit, scenarios]
  kernel: [6.1, 6.12]
  driver: [mlx5_core, niclab]
  card: connectx
  iommu: [intel, none]
  mode: [strict, lazy]
)";
constexpr const char *kCost = "cost: [{minutes: 2}]\n";

Result<Plan> plan(const std::string &more, const std::string &axes = kAxes) {
    return plan_of(axes + more, "night.yaml", kToday);
}

std::vector<std::string> names(const Plan &plan) {
    std::vector<std::string> result;
    for (const PlannedCell &each : plan.cells)
        result.push_back(each.cell.name());
    return result;
}

TEST(MatrixPlan, ASuiteIsRunOnceForWhatMakesNoDifferenceToIt) {
    auto read = plan(kCost);
    ASSERT_TRUE(read.ok()) << read.why();
    // unit once; scenarios for two kernels, two drivers, and strict, lazy or no vIOMMU, which has no mode.
    EXPECT_THAT(read->cells, SizeIs(1 + 2 * 2 * 3));
    EXPECT_EQ(read->cells[0].cell.name(), "unit");
    EXPECT_EQ(read->cells[1].cell.name(), "scenarios/6.1/mlx5_core/connectx/intel/strict");
    EXPECT_EQ(read->cells[3].cell.name(), "scenarios/6.1/mlx5_core/connectx/none");
    EXPECT_EQ(read->minutes(), 26);
    EXPECT_THAT(read->pruned, IsEmpty());
}

TEST(MatrixPlan, WhatNothingCanRunIsPrunedWithAReason) {
    auto read = plan(
        kCost, R"(axes: {suite: [scenarios, bench], kernel: 6.1, driver: [niclab, igb], card: [connectx, igb],
  iommu: intel, mode: [strict, pt]}
)");
    ASSERT_TRUE(read.ok()) << read.why();
    EXPECT_THAT(names(*read),
                ElementsAre("scenarios/6.1/niclab/connectx/intel/strict",
                            "scenarios/6.1/niclab/connectx/intel/pt",
                            "bench/6.1/niclab/connectx/intel/strict", "bench/6.1/igb/igb/intel/strict"));
    for (const PrunedCell &each : read->pruned)
        EXPECT_FALSE(each.reason.empty()) << each.name;
    EXPECT_EQ(read->pruned.size() + read->cells.size(), 2u * 2 * 2 * 2);
}

TEST(MatrixPlan, PruneRulesTakeWhatTheyNameAndKeepTheReason) {
    auto read = plan(std::string(kCost) +
                     "prune:\n- when: {kernel: 6.12, mode: [lazy, strict]}\n  reason: no time\n");
    ASSERT_TRUE(read.ok()) << read.why();
    EXPECT_THAT(read->cells,
                SizeIs(13 - 4)); // two drivers in two modes; without a vIOMMU there is no mode to match
    EXPECT_THAT(read->pruned, SizeIs(4));
    EXPECT_EQ(read->pruned[0].reason, "no time");
}

TEST(MatrixPlan, TheFirstCostThatTakesACellHolds) {
    auto read = plan("cost:\n- when: {suite: unit}\n  minutes: 0.5\n- when: {driver: niclab}\n  minutes: "
                     "6\n- minutes: 14\n");
    ASSERT_TRUE(read.ok()) << read.why();
    EXPECT_EQ(read->cells[0].minutes, 0.5);
    EXPECT_EQ(read->cells[1].minutes, 14);
    EXPECT_EQ(read->cells[4].cell.name(), "scenarios/6.1/niclab/connectx/intel/strict");
    EXPECT_EQ(read->cells[4].minutes, 6);
}

TEST(MatrixPlan, AQuarantineExcusesATestWhereItSaysAndUntilItsDay) {
    auto read = plan(std::string(kCost) + "quarantine:\n- {test: \"Queues.*\", when: {driver: niclab}, "
                                          "reason: slow host, until: 2026-06-15}\n");
    ASSERT_TRUE(read.ok()) << read.why();
    Cell ours = *cell_named("scenarios/6.1/niclab/connectx/none"),
         stock = *cell_named("scenarios/6.1/mlx5_core/connectx/none");
    ASSERT_NE(quarantined(*read, ours, "Queues.Few"), nullptr);
    EXPECT_EQ(quarantined(*read, ours, "Queues.Few")->reason, "slow host");
    EXPECT_EQ(quarantined(*read, ours, "Link.Few"), nullptr);
    EXPECT_EQ(quarantined(*read, stock, "Queues.Few"), nullptr);
}

struct Wrong {
    const char *more;
    const char *says; ///< behind the file's name
};

TEST(MatrixPlan, ComplaintsNameTheLine) {
    // The axes have seven lines, so that what follows begins in line 8.
    const Wrong wrongs[] = {
        {"cost: [{minutes: 2}]\nfrobs: 1\n", "9: 'frobs'"},
        {"cost: [{minutes: 2}\n", "9: "}, // the list has no end
        {"cost: [{minutes: fast}]\n", "8: minutes must be a number"},
        {"cost: [{minutes: 0}]\n", "8: minutes must be a number"},
        {"cost: [{minutes: .nan}]\n", "8: minutes must be a number"},
        {"cost:\n- {when: {suite: unit}, minutes: 2}\n",
         "9: no cost says how long scenarios/6.1/mlx5_core/connectx/intel/strict takes"},
        {"cost: [{minutes: 2}]\nprune:\n- {when: {wheel: 1}, reason: x}\n", "10: there is no axis 'wheel'"},
        {"cost: [{minutes: 2}]\nprune:\n- {when: {kernel: 5.10}, reason: x}\n", "10: '5.10' is no kernel"},
        {"cost: [{minutes: 2}]\nprune:\n- {when: {mode: pt}, reason: x}\n", "10: this rule prunes no cell"},
        {"cost: [{minutes: 2}]\nprune:\n- {when: {suite: unit}}\n", "10: a prune rule needs 'reason'"},
        {"cost: [{minutes: 2}]\nprune:\n- {when: {suite: unit}, reason: ''}\n", "10: the reason must be"},
        {"cost: [{minutes: 2}]\nprune:\n- {when: {suite: [unit, scenarios]}, reason: x}\n",
         "2: no cell is left"},
        {"cost: [{minutes: 2}]\nquarantine:\n- {test: A.B, until: 2026-12-31}\n",
         "10: a quarantine needs 'reason'"},
        {"cost: [{minutes: 2}]\nquarantine:\n- {test: A.B, reason: x}\n", "10: a quarantine needs 'until'"},
        {"cost: [{minutes: 2}]\nquarantine:\n- {test: A.B, reason: x, until: 2026-06-14}\n",
         "10: the quarantine of A.B ended"},
        {"cost: [{minutes: 2}]\nquarantine:\n- {test: A.B, reason: x, until: 2026-02-30}\n",
         "10: '2026-02-30' is not a day"},
        {"cost: [{minutes: 2}]\nquarantine:\n- {test: A.B, reason: x, until: soon}\n",
         "10: 'soon' is not a day"},
        {"cost: [{minutes: 2}]\nhosts: [lab2]\n", "9: 'lab2' is not a libvirt URI"},
        {"cost: [{minutes: 2}]\nhosts: {a: b}\n", "9: hosts must be a list"},
        {"cost: [{minutes: 2}]\nlimit: -1\n", "9: limit must be a number"},
        {"cost: [{minutes: 2}]\ncost: [{minutes: 2}]\n", "9: 'cost' stands twice"},
    };
    for (const Wrong &wrong : wrongs) {
        auto read = plan(wrong.more);
        ASSERT_FALSE(read.ok()) << wrong.more;
        EXPECT_THAT(read.why(), StartsWith(std::string("night.yaml:") + wrong.says)) << wrong.more;
    }
    EXPECT_THAT(plan(kCost, "axes: {suite: unit}\n").why(), HasSubstr("the axis kernel is missing"));
    EXPECT_THAT(plan("", "").why(), StartsWith("night.yaml:1: a matrix must have entries"));
    EXPECT_THAT(plan("", "- a\n- b\n").why(), StartsWith("night.yaml:1: a matrix must have entries"));
}

TEST(MatrixPlan, HostsShareTheCostEvenlyAndEachCellOnce) {
    std::string hosts = "hosts: [\"qemu:///embed\", \"qemu+ssh://root@lab2/system\", \"test:///default\"]\n";
    auto read = plan(kCost + hosts);
    ASSERT_TRUE(read.ok()) << read.why();
    size_t together = 0;
    for (const std::string &host : read->hosts) {
        Plan share = *plan(kCost + hosts);
        ASSERT_TRUE(keep_host(share, host).ok());
        EXPECT_GE(share.cells.size(), 4u) << host;
        EXPECT_LE(share.cells.size(), 5u) << host;
        together += share.cells.size();
    }
    EXPECT_EQ(together, read->cells.size());
    EXPECT_THAT(keep_host(*read, "lab9").why(), HasSubstr("choose one of qemu:///embed, "));
    Plan without = *plan(kCost);
    EXPECT_THAT(keep_host(without, "lab9").why(), HasSubstr("names no hosts"));
}

TEST(MatrixPlan, OnlyTakesAPartOfANameOrAPattern) {
    auto read = plan(kCost);
    Plan part = *read, whole = *read;
    ASSERT_TRUE(keep_only(part, "6.12/niclab").ok());
    EXPECT_THAT(names(part), ElementsAre("scenarios/6.12/niclab/connectx/intel/strict",
                                         "scenarios/6.12/niclab/connectx/intel/lazy",
                                         "scenarios/6.12/niclab/connectx/none"));
    ASSERT_TRUE(keep_only(whole, "*/none").ok());
    EXPECT_THAT(whole.cells, SizeIs(4));
    EXPECT_THAT(keep_only(part, "frob").why(), HasSubstr("no cell is called like 'frob'"));
}

TEST(MatrixPlan, TheNightOfThisRepositoryCanBeRead) {
    auto read = read_plan(source_root() / "tests/nightly.yaml", today());
    ASSERT_TRUE(read.ok()) << read.why();
    EXPECT_GT(read->cells.size(), 10u);
}

TEST(MatrixCell, NamesLeadBackToCells) {
    auto read = plan(kCost);
    for (const PlannedCell &each : read->cells) {
        auto cell = cell_named(each.cell.name());
        ASSERT_TRUE(cell.ok()) << cell.why();
        EXPECT_EQ(*cell, each.cell);
    }
    for (const char *name : {"", "frob", "unit/6.1", "scenarios", "scenarios/6.1/niclab/connectx/none/strict",
                             "scenarios/6.1/niclab/connectx/intel", "scenarios/6.1/niclab/igb/none",
                             "bench/6.1/niclab/connectx/intel/pt", "scenarios/6.1//connectx/none", "unit/"})
        EXPECT_FALSE(cell_named(name).ok()) << name;
}

TEST(MatrixCell, ARecipeSaysWhatIsBuiltAndOnWhichMachineItRuns) {
    Recipe recipe = recipe_of(*cell_named("scenarios/6.12/niclab/connectx/intel/lazy"));
    EXPECT_EQ(recipe.target, "niclab_6_12");
    EXPECT_EQ(recipe.programs, "tests/e2e/niclab_6_12");
    EXPECT_THAT(recipe.environment,
                ElementsAre(std::pair("NICLAB_IOMMU", "intel"), std::pair("NICLAB_IOMMU_MODE", "lazy")));
    EXPECT_EQ(recipe_of(*cell_named("scenarios/6.1/mlx5_core/connectx/none")).programs,
              "tests/peers/mlx5_core_6_1");
    EXPECT_THAT(recipe_of(*cell_named("bench/6.1/niclab/connectx/intel/caching")).arguments,
                ElementsAre("bench", "--kernel", "6.1", "--driver", "niclab", "--iommu", "caching"));
    EXPECT_EQ(recipe_of(*cell_named("unit")).programs, "tests/unit");
}

TEST(MatrixMachine, WordsBecomeTheVIommuOfAMachine) {
    VmSpec spec = two_connectx_ports("6.1");
    ASSERT_TRUE(set_iommu(spec, "intel", "caching").ok());
    EXPECT_TRUE(spec.iommu && spec.caching_mode);
    EXPECT_EQ(spec.iommu_mode, IommuMode::strict);
    ASSERT_TRUE(set_iommu(spec, "intel", "pt").ok());
    EXPECT_EQ(spec.iommu_mode, IommuMode::passthrough);
    EXPECT_FALSE(spec.caching_mode);
    ASSERT_TRUE(set_iommu(spec, "none", "").ok());
    EXPECT_FALSE(spec.iommu);
    EXPECT_THAT(set_iommu(spec, "none", "lazy").why(), HasSubstr("has none"));
    EXPECT_THAT(set_iommu(spec, "frob", "").why(), HasSubstr("choose one of intel, none"));
    EXPECT_THAT(set_iommu(spec, "intel", "frob").why(), HasSubstr("choose one of strict, lazy"));
}

TEST(MatrixMachine, TheEnvironmentChangesOnlyWhatItNames) {
    VmSpec spec = two_connectx_ports("6.1");
    unsetenv(kIommuVariable);
    setenv(kIommuModeVariable, "lazy", 1);
    ASSERT_TRUE(set_iommu_from_environment(spec).ok());
    EXPECT_EQ(spec.iommu_mode, IommuMode::strict);
    setenv(kIommuVariable, "intel", 1);
    ASSERT_TRUE(set_iommu_from_environment(spec).ok());
    EXPECT_EQ(spec.iommu_mode, IommuMode::lazy);
    setenv(kIommuVariable, "frob", 1);
    EXPECT_FALSE(set_iommu_from_environment(spec).ok());
    unsetenv(kIommuVariable);
    unsetenv(kIommuModeVariable);
}

} // namespace
} // namespace niclab::matrix
