// SPDX-License-Identifier: GPL-2.0-or-later
// What the card's core alone executes for a frame: data_path.cc under callgrind. Counts repeat exactly; a
// limit leaves room for another compiler, not for another way of working.
#include <filesystem>

#include <gtest/gtest.h>

#include "niclab/bench/callgrind.h"
#include "niclab/paths.h"
#include "niclab/process.h"
#include "support/temp_folder.h"

namespace niclab::bench {
namespace {

namespace fs = std::filesystem;

struct Row {
    const char *load;
    double most; // instructions per unit
} constexpr kRows[] = {
    {"tx-60", 1700},             // one frame with its own doorbell, completion and event
    {"tx-60-burst-32", 550},     // 32 WQEs to a doorbell
    {"tx-60-checksum", 1100},    // the same with both checksums
    {"tx-60-multi-packet", 380}, // 32 pointers in one WQE
    {"tx-60-inline", 280},       // 32 frames inside three WQEs
    {"tx-large-KiB", 900},       // 64 KiB cut into segments
    {"rx-60-cyclic", 1900},      // 32 frames to an event
    {"rx-60-striding", 1900},    //
    {"rx-60-compressed", 1900},  //
};

bool is_core(const std::string &function) {
    return function.starts_with("niclab::connectx::") || function.starts_with("cx_core_");
}

/// By load: instructions of the core for each unit.
std::map<std::string, double> counted() {
    test::TempFolder scratch;
    ProcessOptions options;
    options.limit = std::chrono::minutes(5);
    auto ran = run_process({"valgrind", "--tool=callgrind", "--instr-atstart=no",
                            "--callgrind-out-file=" + (scratch.path() / "dump").string(), NICLAB_DATA_PATH},
                           options);
    if (!ran.ok() || ran->exit_code != 0) {
        ADD_FAILURE() << (ran.ok() ? ran->err : ran.why());
        return {};
    }
    std::map<std::string, double> costs;
    for (const auto &entry : fs::directory_iterator(scratch.path())) {
        auto text = read_file(entry.path());
        auto dump = parse_callgrind(text.ok() ? *text : "");
        std::size_t blank = dump.ok() ? dump->trigger.find(' ') : std::string::npos;
        if (blank == std::string::npos) continue; // the one at the program's end
        double units = std::stod(dump->trigger.substr(blank));
        for (const auto &[function, count] : dump->functions)
            if (is_core(function))
                costs[dump->trigger.substr(0, blank)] += static_cast<double>(count) / units;
    }
    return costs;
}

TEST(CardCost, EachLoadStaysBelowItsLimit) {
    std::map<std::string, double> costs = counted();
    for (const Row &row : kRows) {
        std::printf("  %-20s %8.1f instructions of the card's core, %.0f at most\n", row.load,
                    costs[row.load], row.most);
        EXPECT_LE(costs[row.load], row.most) << row.load;
        EXPECT_GT(costs[row.load], 100) << row.load;
    }
    EXPECT_EQ(costs.size(), std::size(kRows));
}

} // namespace
} // namespace niclab::bench
