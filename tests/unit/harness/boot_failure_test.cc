// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/boot_failure.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace niclab {
namespace {

using testing::HasSubstr;

constexpr const char *kStart = "[    0.000000] Linux version 6.1.0-57-amd64 (gcc-12) #1 SMP\r\n"
                               "[    0.500000] PCI: Using configuration type 1\r\n";

struct Case {
    const char *name;
    std::string console;
    bool alive;
    BootFailure kind;
    const char *shown;
};
void PrintTo(const Case &each, std::ostream *out) { *out << each.name; }

class BootFailures : public testing::TestWithParam<Case> {};

TEST_P(BootFailures, AreNamedAndShowTheLineThatTells) {
    BootVerdict verdict = judge_boot(GetParam().console, GetParam().alive);
    EXPECT_EQ(name(verdict.kind), name(GetParam().kind));
    EXPECT_THAT(verdict.sentence, HasSubstr(GetParam().shown));
}

const std::string kWithStart = kStart;
INSTANTIATE_TEST_SUITE_P(
    Each, BootFailures,
    testing::Values(
        Case{
            "root",
            kWithStart +
                "[    1.2] VFS: Cannot open root device \"\" or unknown-block(0,0): error -6\r\n"
                "[    1.3] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\r\n"
                "[    1.3] CPU: 0 PID: 1 Comm: swapper/0 Not tainted\r\n",
            false, BootFailure::no_root, "Unable to mount root fs"},
        Case{"none",
             kWithStart +
                 "[    1.3] Kernel panic - not syncing: No working init found.  Try passing init= option\r\n",
             false, BootFailure::no_init, "No working init found"},
        Case{"asked_for",
             kWithStart +
                 "[    1.3] Kernel panic - not syncing: Requested init /nowhere failed (error -2).\r\n",
             true, BootFailure::no_init, "Requested init /nowhere failed"},
        Case{"killed",
             kWithStart +
                 "[    1.3] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100\r\n",
             true, BootFailure::no_init, "Attempted to kill init!"},
        Case{"panic",
             kWithStart +
                 "[    1.3] Kernel panic - not syncing: Fatal exception in interrupt\r\n[    1.4] end\r\n",
             true, BootFailure::panic, "Fatal exception in interrupt"},
        Case{"restart", kWithStart, false, BootFailure::restart, "Using configuration type 1"},
        Case{"stuck", kWithStart, true, BootFailure::stuck, "Using configuration type 1"},
        Case{"silent_and_gone", "", false, BootFailure::silent, "not one line"},
        Case{"silent", "", true, BootFailure::silent, "not one line"}),
    [](const auto &each) { return std::string(each.param.name); });

TEST(BootVerdict, KeepsTheLastFiftyLines) {
    std::string console = kStart;
    for (int i = 1; i <= 60; ++i)
        console += "line " + std::to_string(i) + "\n";
    std::string kept = judge_boot(console, true).last_lines;
    EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), kLastConsoleLines - 1);
    EXPECT_TRUE(kept.starts_with("line 11\n"));
    EXPECT_TRUE(kept.ends_with("\nline 60"));
}

TEST(BootVerdict, AShortConsoleIsKeptWhole) { EXPECT_EQ(judge_boot("a\nb\r\n", true).last_lines, "a\nb"); }

} // namespace
} // namespace niclab
