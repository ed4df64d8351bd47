// SPDX-License-Identifier: GPL-2.0-or-later
// What came out of a cell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "niclab/matrix/plan.h"

namespace niclab::matrix {

enum class Verdict { passed, failed, skipped, quarantined };

std::string_view name(Verdict verdict);
Verdict verdict_named(std::string_view name);

struct TestResult {
    std::string name; ///< "Suite.Test", behind "program: " where a cell has several programs
    Verdict verdict = Verdict::passed;
    double seconds = 0;
    std::string message; ///< what it said of its failure, of why it was skipped or is excused
    size_t line = 0;     ///< of the log, from 1: where the message begins
};

/// A number that was measured, e.g. {"tx-60", "instructions", 1234.5}.
struct Measurement {
    std::string scenario, metric;
    double value = 0;
};

struct CellResult {
    bool passed = false;
    std::string why; ///< one sentence when it did not pass
    double seconds = 0;
    std::vector<TestResult> tests;
    std::vector<Measurement> measurements;
    nlohmann::json environment = nlohmann::json::object();
};

/// How one program of a cell ended.
struct Ended {
    std::string program;
    int status = 0;
    size_t failures = 0; ///< tests of it that failed
};

/// Tests out of a log of Google Test. One that was never finished has failed: the program died in it.
std::vector<TestResult> read_test_log(std::string_view log);

/// Takes quarantined failures out, and decides whether the cell passed.
void judge(CellResult &result, const std::vector<Ended> &programs, const Plan &plan, const Cell &cell);

} // namespace niclab::matrix
