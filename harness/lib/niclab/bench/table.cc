// SPDX-License-Identifier: GPL-2.0-or-later
// A report as text for people: the table, and two reports compared.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "niclab/bench/report.h"

namespace niclab::bench {
namespace {

constexpr size_t kChangedFunctions = 8;

std::string number(double value) {
    if (std::abs(value) < 0.0005) return "0";
    if (std::abs(value) >= 100) return fmt::format("{:.1f}", value);
    return fmt::format("{:.3f}", value);
}

struct Column {
    std::string metric, heading;
};

std::vector<Column> columns() {
    std::vector<Column> all = {{kInstructions, "instr."}, {kDriverInstructions, "driver"}};
    for (const Metric &metric : metrics())
        if (!metric.heading.empty()) all.push_back({metric.name, metric.heading});
    return all;
}

std::string name_columns(const Cell &cell) {
    return fmt::format("{:<18}{:<11}{:<8}", cell.scenario, cell.driver, cell.iommu);
}

std::string line_of(const Cell &cell) {
    if (!cell.measured()) return fmt::format("{} not measured: {}\n", name_columns(cell), cell.why_not);
    std::string line = name_columns(cell);
    for (const Column &column : columns()) {
        auto value = cell.metrics.find(column.metric);
        line += fmt::format("{:>9}", value == cell.metrics.end() ? "-" : number(value->second));
    }
    return line + fmt::format("{:>9.4f} {}\n", cell.spread * 100, cell.stable() ? "" : " UNSTABLE");
}

std::string functions_text(const Cell &cell, unsigned top) {
    std::string text = fmt::format("\n{}, {}, {}: instructions and entries per {}\n", cell.scenario,
                                   cell.driver, cell.iommu, cell.unit);
    auto add = [&](const std::vector<FunctionCost> &functions) {
        for (size_t i = 0; i < std::min<size_t>(top, functions.size()); ++i)
            text += fmt::format("  {:>10} {:>8}  {} [{}]\n", number(functions[i].instructions),
                                number(functions[i].entries), functions[i].name, functions[i].module);
    };
    add(cell.top);
    text += " the driver's own\n";
    add(cell.driver_functions);
    return text;
}

using Key = std::tuple<std::string, std::string, std::string>;
Key key_of(const Cell &cell) { return {cell.scenario, cell.driver, cell.iommu}; }

double share(double before, double after) {
    return before == 0 ? (after == 0 ? 0 : 1) : (after - before) / before;
}

/// Functions whose cost differs, the largest difference first.
std::string changed_functions(const Cell &before, const Cell &after) {
    std::map<std::string, double> change;
    for (const FunctionCost &function : after.driver_functions)
        change[function.name] += function.instructions;
    for (const FunctionCost &function : before.driver_functions)
        change[function.name] -= function.instructions;
    std::vector<std::pair<std::string, double>> sorted;
    for (const auto &each : change)
        if (std::abs(each.second) >= 0.05) sorted.push_back(each);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto &a, const auto &b) { return std::abs(a.second) > std::abs(b.second); });
    std::string text;
    for (size_t i = 0; i < std::min(kChangedFunctions, sorted.size()); ++i)
        text += fmt::format("    {:>+10.1f}  {}\n", sorted[i].second, sorted[i].first);
    return text;
}

} // namespace

std::string as_table(const Report &report, unsigned top) {
    std::string text = fmt::format("{:<18}{:<11}{:<8}", "scenario", "driver", "vIOMMU");
    for (const Column &column : columns())
        text += fmt::format("{:>9}", column.heading);
    text += fmt::format("{:>9}\n", "spread %");
    for (const Cell &cell : report.cells)
        text += line_of(cell);
    if (top > 0)
        for (const Cell &cell : report.cells)
            if (cell.measured()) text += functions_text(cell, top);
    return text;
}

Comparison compare(const Report &before, const Report &after) {
    std::map<Key, const Cell *> old;
    for (const Cell &cell : before.cells)
        if (cell.measured()) old[key_of(cell)] = &cell;
    Comparison result;
    for (const Cell &cell : after.cells) {
        auto found = old.find(key_of(cell));
        if (!cell.measured() || found == old.end()) continue;
        ++result.compared;
        bool dearer = false;
        result.text += name_columns(cell) + "\n";
        for (const Column &column : columns()) {
            auto was = found->second->metrics.find(column.metric), is = cell.metrics.find(column.metric);
            if (was == found->second->metrics.end() || is == cell.metrics.end()) continue;
            double change = share(was->second, is->second);
            if (number(was->second) == number(is->second)) continue;
            result.text += fmt::format("  {:<8} {:>10} -> {:>10}  {:+.2f} %\n", column.heading,
                                       number(was->second), number(is->second), 100 * change);
            bool gates = column.metric == kInstructions || column.metric == kDriverInstructions;
            dearer |= gates && change > kStableSpread;
        }
        result.text += changed_functions(*found->second, cell);
        result.dearer += dearer;
    }
    return result;
}

} // namespace niclab::bench
