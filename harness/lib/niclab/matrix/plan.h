// SPDX-License-Identifier: GPL-2.0-or-later
// The matrix's file: which cells there are, what each costs, and which tests are not counted for now.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "niclab/matrix/cell.h"

namespace niclab::matrix {

/// Takes the cells that have one of the named values on each of the axes; no axis: all cells.
struct Rule {
    std::map<Axis, std::vector<std::string>> when;

    bool takes(const Cell &cell) const;
};

/// A test that may fail until a day, for a reason.
struct Quarantine {
    std::string test; ///< pattern as the shell's: "Queues.*"
    Rule rule;
    std::string reason;
    std::string until; ///< "2027-01-31": from the next day on the file is refused
};

struct PlannedCell {
    Cell cell;
    double minutes = 0; ///< that it is expected to take
    std::string host;   ///< whose share it is; empty when the file names no hosts
};

struct PrunedCell {
    std::string name;
    std::string reason;
};

struct Plan {
    std::vector<PlannedCell> cells;
    std::vector<PrunedCell> pruned;
    std::vector<Quarantine> quarantine;
    std::vector<std::string> hosts; ///< libvirt URIs
    double limit_minutes = 60;      ///< after which a cell is ended and has failed

    double minutes() const;
};

/// `today` as "2026-12-31". Errors name the file and the line.
Result<Plan> read_plan(const std::filesystem::path &file, const std::string &today);
Result<Plan> plan_of(const std::string &text, const std::string &file, const std::string &today);

/// Leaves the cells whose name has `pattern` in it, or matches it when it has a * or ?; never none.
Status keep_only(Plan &plan, const std::string &pattern);
/// Leaves the share of one host.
Status keep_host(Plan &plan, const std::string &host);

/// The entry that excuses that test in that cell; null when none does.
const Quarantine *quarantined(const Plan &plan, const Cell &cell, const std::string &test);

/// The day of this machine's clock, UTC.
std::string today();

} // namespace niclab::matrix
