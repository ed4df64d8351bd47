// SPDX-License-Identifier: GPL-2.0-or-later
// What can be asked of a plan; plan_file.cc reads it.
#include "niclab/matrix/plan.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>

namespace niclab::matrix {
namespace {

bool matches(const std::string &pattern, const std::string &text) {
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

} // namespace

bool Rule::takes(const Cell &cell) const {
    return std::all_of(when.begin(), when.end(), [&](const auto &condition) {
        const auto &[axis, values] = condition;
        return std::find(values.begin(), values.end(), cell.at(axis)) != values.end();
    });
}

double Plan::minutes() const {
    return std::accumulate(cells.begin(), cells.end(), 0.0,
                           [](double sum, const PlannedCell &each) { return sum + each.minutes; });
}

Status keep_only(Plan &plan, const std::string &pattern) {
    bool whole = pattern.find_first_of("*?[") != std::string::npos;
    std::erase_if(plan.cells, [&](const PlannedCell &each) {
        std::string name = each.cell.name();
        return whole ? !matches(pattern, name) : name.find(pattern) == std::string::npos;
    });
    if (plan.cells.empty())
        return Error{fmt::format("no cell is called like '{}'; --list shows the names", pattern)};
    return {};
}

Status keep_host(Plan &plan, const std::string &host) {
    if (std::find(plan.hosts.begin(), plan.hosts.end(), host) == plan.hosts.end())
        return Error{plan.hosts.empty() ? "the file names no hosts, so there are no shares of them"
                                        : fmt::format("the file names no host '{}'; choose one of {}", host,
                                                      fmt::join(plan.hosts, ", "))};
    std::erase_if(plan.cells, [&](const PlannedCell &each) { return each.host != host; });
    if (plan.cells.empty())
        return Error{fmt::format("there are fewer cells than hosts: none is for {}", host)};
    return {};
}

const Quarantine *quarantined(const Plan &plan, const Cell &cell, const std::string &test) {
    for (const Quarantine &each : plan.quarantine)
        if (each.rule.takes(cell) && matches(each.test, test)) return &each;
    return nullptr;
}

std::string today() {
    return fmt::format("{:%F}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

} // namespace niclab::matrix
