// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "niclab/paths.h"

using nlohmann::json;

namespace niclab::bench {
namespace {

constexpr int kFormat = 1;
constexpr size_t kTopFunctions = 40;

double spread_of(const std::vector<std::map<std::string, double>> &repetitions, const char *metric) {
    double low = repetitions.front().at(metric), high = low;
    for (const auto &values : repetitions) {
        low = std::min(low, values.at(metric));
        high = std::max(high, values.at(metric));
    }
    return high == low ? 0 : (high - low) / std::abs(low);
}

json as_json(const std::vector<FunctionCost> &functions) {
    json list = json::array();
    for (const FunctionCost &each : functions)
        list.push_back({{"name", each.name},
                        {"module", each.module},
                        {"instructions", each.instructions},
                        {"entries", each.entries}});
    return list;
}

std::vector<FunctionCost> functions_of(const json &list) {
    std::vector<FunctionCost> functions;
    for (const json &each : list)
        functions.push_back(
            {each.at("name"), each.at("module"), each.at("instructions"), each.at("entries")});
    return functions;
}

json as_json(const Cell &cell) {
    json entry = {
        {"scenario", cell.scenario}, {"driver", cell.driver}, {"iommu", cell.iommu}, {"unit", cell.unit}};
    if (!cell.measured()) {
        entry["why_not"] = cell.why_not;
        return entry;
    }
    entry["spread"] = cell.spread;
    entry["stable"] = cell.stable();
    entry["metrics"] = cell.metrics;
    entry["card"] = cell.card;
    entry["top"] = as_json(cell.top);
    entry["driver_functions"] = as_json(cell.driver_functions);
    return entry;
}

Cell cell_from(const json &entry) {
    Cell cell;
    cell.scenario = entry.at("scenario");
    cell.driver = entry.at("driver");
    cell.iommu = entry.at("iommu");
    cell.unit = entry.at("unit");
    cell.why_not = entry.value("why_not", "");
    if (!cell.measured()) return cell;
    cell.spread = entry.at("spread");
    cell.metrics = entry.at("metrics");
    cell.card = entry.at("card");
    cell.top = functions_of(entry.at("top"));
    cell.driver_functions = functions_of(entry.at("driver_functions"));
    return cell;
}

} // namespace

Cell cell_of(const Scenario &scenario, const Setting &setting, const std::vector<Measured> &repetitions) {
    Cell cell;
    cell.scenario = scenario.name;
    cell.driver = setting.driver->name;
    cell.iommu = setting.iommu->name;
    cell.unit = scenario.unit;
    std::vector<std::map<std::string, double>> values;
    for (const Measured &each : repetitions) {
        if (!each.why_not.empty()) {
            cell.why_not = each.why_not;
            return cell;
        }
        values.push_back(values_of(each.cost, *setting.driver));
    }
    cell.metrics = values.front();
    cell.spread = std::max(spread_of(values, kInstructions), spread_of(values, kDriverInstructions));
    const Cost &cost = repetitions.front().cost;
    cell.card = cost.card;
    const auto &modules = setting.driver->modules;
    for (const FunctionCost &function : cost.functions) {
        if (cell.top.size() < kTopFunctions) cell.top.push_back(function);
        if (std::find(modules.begin(), modules.end(), function.module) != modules.end())
            cell.driver_functions.push_back(function);
    }
    return cell;
}

json as_json(const Report &report) {
    json cells = json::array();
    for (const Cell &cell : report.cells)
        cells.push_back(as_json(cell));
    return {{"format", kFormat},
            {"kernel", report.kernel},
            {"repetitions", report.repetitions},
            {"versions", report.versions},
            {"cells", cells}};
}

Result<Report> read_report(const std::filesystem::path &path) {
    std::string text = NICLAB_TRY(read_file(path));
    json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!value.is_object() || value.value("format", 0) != kFormat)
        return Error{fmt::format("{} is not a result of niclab bench", path.string())};
    try {
        Report report{value.at("kernel"), value.at("repetitions"), value.at("versions"), {}};
        for (const json &entry : value.at("cells"))
            report.cells.push_back(cell_from(entry));
        return report;
    } catch (const json::exception &error) {
        return Error{
            fmt::format("{} is not a whole result of niclab bench: {}", path.string(), error.what())};
    }
}

} // namespace niclab::bench
