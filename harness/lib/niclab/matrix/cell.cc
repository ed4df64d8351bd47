// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/cell.h"

#include <algorithm>

#include <fmt/format.h>

#include "niclab/bench/scenarios.h"
#include "niclab/matrix/machine.h"

namespace niclab::matrix {
namespace {

constexpr std::array<std::string_view, kAxes> kAxisNames = {"suite", "kernel", "driver",
                                                            "card",  "iommu",  "mode"};

struct Suite {
    std::string name;
    std::vector<Axis> axes; ///< what it depends on, beside itself
};

const std::vector<Suite> &suites() {
    static const std::vector<Suite> table = {
        {"unit", {}},
        {"cosim", {}},
        {"scenarios", {Axis::kernel, Axis::driver, Axis::card, Axis::iommu, Axis::mode}},
        {"selftests", {}},
        {"counting", {}},
        {"bench", {Axis::kernel, Axis::driver, Axis::card, Axis::iommu, Axis::mode}},
        {"demo", {Axis::kernel}},
    };
    return table;
}

const Suite *find_suite(const std::string &name) {
    auto found = std::find_if(suites().begin(), suites().end(),
                              [&](const Suite &suite) { return suite.name == name; });
    return found == suites().end() ? nullptr : &*found;
}

const bench::Driver *find_driver(const std::string &name) {
    auto found = bench::find_driver(name);
    return found.ok() ? *found : nullptr;
}

template <class List, class Name>
std::vector<std::string> names(const List &list, Name name_of) {
    std::vector<std::string> result;
    for (const auto &each : list)
        if (std::string text = name_of(each); std::find(result.begin(), result.end(), text) == result.end())
            result.push_back(std::move(text));
    return result;
}

/// The bench names a vIOMMU and its mode by one word.
std::string bench_iommu(const Cell &cell) {
    return cell.at(Axis::mode).empty() ? cell.at(Axis::iommu) : cell.at(Axis::mode);
}

std::string impossible_bench(const Cell &cell) { return bench::find_iommu(bench_iommu(cell)).why(); }

std::string impossible_scenarios(const Cell &cell) {
    const std::string &driver = cell.at(Axis::driver);
    if (driver != "mlx5_core" && driver != "niclab")
        return "the scenarios do not know how other drivers call their counters";
    return {};
}

Recipe scenarios_recipe(const Cell &cell) {
    std::string kernel = cell.at(Axis::kernel);
    std::replace(kernel.begin(), kernel.end(), '.', '_');
    std::string program = cell.at(Axis::driver) + "_" + kernel;
    Recipe recipe{"host", program, {}, {}, {}};
    recipe.programs =
        fmt::format("tests/{}/{}", cell.at(Axis::driver) == "niclab" ? "e2e" : "peers", program);
    recipe.environment = {{kIommuVariable, cell.at(Axis::iommu)}, {kIommuModeVariable, cell.at(Axis::mode)}};
    return recipe;
}

Recipe command_recipe(std::vector<std::string> arguments, Says says) {
    return {"host", "niclab guest-programs", "harness/cli/niclab", std::move(arguments), {}, says};
}

} // namespace

std::string_view name(Axis axis) { return kAxisNames[static_cast<size_t>(axis)]; }

std::optional<Axis> axis_named(std::string_view name) {
    auto found = std::find(kAxisNames.begin(), kAxisNames.end(), name);
    if (found == kAxisNames.end()) return std::nullopt;
    return static_cast<Axis>(found - kAxisNames.begin());
}

std::vector<std::string> values_of(Axis axis) {
    switch (axis) {
    case Axis::suite:
        return names(suites(), [](const Suite &suite) { return suite.name; });
    case Axis::kernel:
        return {"6.1", "6.12"};
    case Axis::driver:
        return names(bench::drivers(), [](const bench::Driver &driver) { return std::string(driver.name); });
    case Axis::card:
        return names(bench::drivers(), [](const bench::Driver &driver) { return std::string(driver.model); });
    case Axis::iommu:
        return {iommu_words().begin(), iommu_words().end()};
    case Axis::mode:
        return {iommu_mode_words().begin(), iommu_mode_words().end()};
    }
    return {};
}

std::string Cell::name() const {
    std::string text;
    for (const std::string &value : values)
        if (!value.empty()) text += (text.empty() ? "" : "/") + value;
    return text;
}

Cell reduced(Cell cell) {
    const Suite *suite = find_suite(cell.at(Axis::suite));
    for (size_t i = 1; suite && i < kAxes; ++i)
        if (std::find(suite->axes.begin(), suite->axes.end(), static_cast<Axis>(i)) == suite->axes.end())
            cell.values[i].clear();
    if (cell.at(Axis::iommu) == kNoIommu) cell.at(Axis::mode).clear();
    return cell;
}

std::string impossible(const Cell &cell) {
    const bench::Driver *driver = find_driver(cell.at(Axis::driver));
    if (driver && cell.at(Axis::card) != driver->model)
        return fmt::format("the driver {} is one for {} cards", driver->name, driver->model);
    if (cell.at(Axis::suite) == "bench") return impossible_bench(cell);
    return cell.at(Axis::suite) == "scenarios" ? impossible_scenarios(cell) : std::string();
}

Result<Cell> cell_named(const std::string &name) {
    std::vector<std::string> parts;
    for (size_t from = 0; from <= name.size();) {
        size_t end = std::min(name.find('/', from), name.size());
        parts.push_back(name.substr(from, end - from));
        from = end + 1;
    }
    const Suite *suite = find_suite(parts[0]);
    if (!suite)
        return Error{fmt::format("'{}' names no cell: there is no suite '{}'; choose one of {}", name,
                                 parts[0], fmt::join(values_of(Axis::suite), ", "))};
    Cell cell;
    cell.at(Axis::suite) = parts[0];
    size_t next = 1;
    for (Axis axis : suite->axes) {
        if (axis == Axis::mode && cell.at(Axis::iommu) == kNoIommu) continue;
        std::vector<std::string> known = values_of(axis);
        std::string part = next < parts.size() ? parts[next] : "";
        if (std::find(known.begin(), known.end(), part) == known.end())
            return Error{fmt::format("'{}' names no cell: '{}' is no {}; choose one of {}", name, part,
                                     matrix::name(axis), fmt::join(known, ", "))};
        cell.at(axis) = part;
        ++next;
    }
    if (next != parts.size())
        return Error{fmt::format("'{}' names no cell: nothing follows after '{}'", name, cell.name())};
    if (std::string why = impossible(cell); !why.empty())
        return Error{fmt::format("'{}' cannot run: {}", name, why)};
    return cell;
}

Recipe recipe_of(const Cell &cell) {
    const std::string &suite = cell.at(Axis::suite);
    if (suite == "unit" || suite == "cosim") return {"asan", "tests-" + suite, "tests/" + suite, {}, {}};
    if (suite == "selftests") return {"host", "kernel_selftests", "tests/peers/kernel_selftests", {}, {}};
    if (suite == "counting") return {"host", "tests-bench", "tests/bench", {}, {}};
    if (suite == "demo") return command_recipe({"demo", "--kernel", cell.at(Axis::kernel)}, Says::status);
    if (suite == "bench")
        return command_recipe({"bench", "--kernel", cell.at(Axis::kernel), "--driver", cell.at(Axis::driver),
                               "--iommu", bench_iommu(cell)},
                              Says::bench);
    return scenarios_recipe(cell);
}

} // namespace niclab::matrix
