// SPDX-License-Identifier: GPL-2.0-or-later
// What several nights say together.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "niclab/matrix/store.h"

namespace niclab::matrix {

/// A test or a cell whose verdict changed while the commit did not.
struct Flake {
    std::string cell;
    std::string test; ///< empty: the cell itself
    std::string commit;
    unsigned passed = 0, failed = 0; ///< nights

    bool operator==(const Flake &) const = default;
};

/// Out of nights of clean clones: what was changed and in no commit may change any verdict.
std::vector<Flake> find_flakes(const std::vector<Night> &nights);

/// Names of cells and tests that failed in the last night and did not in the one before: "cell" or "cell
/// test".
std::set<std::string> newly_failed(const std::vector<Night> &nights);

struct Sums {
    unsigned passed = 0, failed = 0, unfinished = 0;
    unsigned tests = 0, quarantined = 0, flaky = 0;
    double minutes = 0, expected_minutes = 0;
};
Sums sums_of(const Night &night, const std::vector<Flake> &flakes);

/// A measurement of the last night beside the same of the night before that has it.
struct Measured {
    std::string cell, scenario;
    double now = 0;
    double before = 0; ///< 0: there is none
};
std::vector<Measured> side_by_side(const std::vector<Night> &nights, const std::string &metric);

const CellRow *find_cell(const Night &night, const std::string &name);

} // namespace niclab::matrix
