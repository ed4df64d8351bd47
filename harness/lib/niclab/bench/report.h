// SPDX-License-Identifier: GPL-2.0-or-later
// The outcome of a bench: one cell for each scenario, driver and kind of vIOMMU; as JSON, as a table,
// compared.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "niclab/bench/measure.h"
#include "niclab/bench/metrics.h"

namespace niclab::bench {

/// A counting run repeats to this share, or something in it is not deterministic.
inline constexpr double kStableSpread = 0.001;

struct Cell {
    std::string scenario, driver, iommu, unit;
    std::string why_not;                   ///< why there are no numbers; empty when there are
    std::map<std::string, double> metrics; ///< per unit
    std::map<std::string, double> card;
    std::vector<FunctionCost> top; ///< the dearest functions of all
    std::vector<FunctionCost> driver_functions;
    double spread = 0; ///< largest less smallest of the repetitions, by the smallest

    bool measured() const { return why_not.empty(); }
    bool stable() const { return spread <= kStableSpread; }
};

/// One cell out of the repetitions of one scenario.
Cell cell_of(const Scenario &scenario, const Setting &setting, const std::vector<Measured> &repetitions);

struct Report {
    std::string kernel;
    unsigned repetitions = 0;
    nlohmann::json versions;
    std::vector<Cell> cells;
};

nlohmann::json as_json(const Report &report);
Result<Report> read_report(const std::filesystem::path &path);

/// The table, with a line for each cell, then reasons; `top` functions of each cell behind it.
std::string as_table(const Report &report, unsigned top);

struct Comparison {
    std::string text;
    unsigned compared = 0;
    unsigned dearer = 0; ///< cells whose instructions, or the driver's, grew by more than kStableSpread
};
Comparison compare(const Report &before, const Report &after);

} // namespace niclab::bench
