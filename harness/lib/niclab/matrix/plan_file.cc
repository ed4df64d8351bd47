// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a plan. Every complaint names the line; yaml-cpp throws its own, and ours go the same way.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "niclab/matrix/plan.h"
#include "niclab/paths.h"

namespace niclab::matrix {
namespace {

[[noreturn]] void refuse(const YAML::Node &node, const std::string &why) {
    throw YAML::Exception(node.Mark(), why);
}

std::string word(const YAML::Node &node, const std::string &what) {
    if (!node.IsScalar() || node.Scalar().empty()) refuse(node, what + " must be one word or sentence");
    return node.Scalar();
}

/// One word, or a list of them.
std::vector<std::string> words(const YAML::Node &node, const std::string &what) {
    if (!node.IsSequence()) return {word(node, what)};
    if (node.size() == 0) refuse(node, what + " is an empty list");
    std::vector<std::string> result;
    for (const YAML::Node &each : node)
        result.push_back(word(each, "an entry of " + what));
    return result;
}

using Fields = std::map<std::string, YAML::Node>;

/// The entries of a map: only known ones, each once.
Fields fields(const YAML::Node &node, const std::string &what, const std::vector<std::string> &known,
              const std::vector<std::string> &required) {
    if (!node.IsMap()) refuse(node, fmt::format("{} must have entries like '{}: ...'", what, known.front()));
    Fields result;
    for (const auto &entry : node) {
        std::string key = word(entry.first, "a name");
        if (std::find(known.begin(), known.end(), key) == known.end())
            refuse(entry.first, fmt::format("'{}' is nothing that {} has; there are {}", key, what,
                                            fmt::join(known, ", ")));
        if (!result.emplace(key, entry.second).second)
            refuse(entry.first, fmt::format("'{}' stands twice in {}", key, what));
    }
    for (const std::string &key : required)
        if (!result.contains(key)) refuse(node, fmt::format("{} needs '{}'", what, key));
    return result;
}

using Axes = std::map<Axis, std::vector<std::string>>;

Axes axes_of(const YAML::Node &node, const std::string &what) {
    if (!node.IsMap()) refuse(node, what + " must name axes");
    Axes axes;
    for (const auto &entry : node) {
        std::string key = word(entry.first, "an axis");
        auto axis = axis_named(key);
        if (!axis) refuse(entry.first, fmt::format("there is no axis '{}'", key));
        std::vector<std::string> known = values_of(*axis);
        std::vector<std::string> values = words(entry.second, fmt::format("the axis {}", key));
        std::set<std::string> seen;
        for (const std::string &value : values) {
            if (std::find(known.begin(), known.end(), value) == known.end())
                refuse(entry.second,
                       fmt::format("'{}' is no {}; choose among {}", value, key, fmt::join(known, ", ")));
            if (!seen.insert(value).second) refuse(entry.second, fmt::format("'{}' stands twice", value));
        }
        if (!axes.emplace(*axis, values).second)
            refuse(entry.first, fmt::format("the axis {} stands twice", key));
    }
    return axes;
}

Rule rule_of(const Fields &entry) {
    auto when = entry.find("when");
    return when == entry.end() ? Rule{} : Rule{axes_of(when->second, "when")};
}

void each_entry(const Fields &file, const std::string &section,
                const std::function<void(const YAML::Node &)> &take) {
    auto found = file.find(section);
    if (found == file.end() || found->second.IsNull()) return;
    if (!found->second.IsSequence()) refuse(found->second, section + " must be a list");
    for (const YAML::Node &entry : found->second)
        take(entry);
}

/// All combinations, each once, without those that nothing can run.
void expand(const Axes &axes, Plan &plan) {
    std::set<std::string> seen;
    std::function<void(size_t, Cell)> fill = [&](size_t axis, const Cell &cell) {
        if (axis < kAxes) {
            for (const std::string &value : axes.at(static_cast<Axis>(axis))) {
                Cell next = cell;
                next.values.at(axis) = value;
                fill(axis + 1, next);
            }
            return;
        }
        Cell small = reduced(cell);
        if (!seen.insert(small.name()).second) return;
        if (std::string why = impossible(small); !why.empty())
            plan.pruned.push_back({small.name(), why});
        else
            plan.cells.push_back({small, 0, {}});
    };
    fill(0, {});
}

void prune(const YAML::Node &node, Plan &plan) {
    Fields entry = fields(node, "a prune rule", {"when", "reason"}, {"when", "reason"});
    Rule rule = rule_of(entry);
    std::string reason = word(entry.at("reason"), "the reason");
    size_t before = plan.cells.size();
    std::erase_if(plan.cells, [&](const PlannedCell &each) {
        if (rule.takes(each.cell)) plan.pruned.push_back({each.cell.name(), reason});
        return rule.takes(each.cell);
    });
    if (plan.cells.size() == before) refuse(node, "this rule prunes no cell");
}

double minutes_of(const YAML::Node &node, const std::string &what) {
    double minutes = 0;
    if (!node.IsScalar() || !YAML::convert<double>::decode(node, minutes) || !(minutes > 0) || minutes > 1e5)
        refuse(node, what + " must be a number of minutes");
    return minutes;
}

/// The first rule that takes a cell says what it costs.
void cost(const YAML::Node &node, Plan &plan) {
    Fields entry = fields(node, "a cost", {"when", "minutes"}, {"minutes"});
    Rule rule = rule_of(entry);
    double minutes = minutes_of(entry.at("minutes"), "minutes");
    for (PlannedCell &each : plan.cells)
        if (each.minutes == 0 && rule.takes(each.cell)) each.minutes = minutes;
}

bool is_day(const std::string &text) {
    int year = 0, month = 0, day = 0, end = 0;
    if (std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || end != 10 ||
        text.size() != 10)
        return false;
    using namespace std::chrono;
    return year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                          std::chrono::day(static_cast<unsigned>(day)))
        .ok();
}

void quarantine(const YAML::Node &node, const std::string &today, Plan &plan) {
    Fields entry =
        fields(node, "a quarantine", {"test", "when", "reason", "until"}, {"test", "reason", "until"});
    Quarantine result{word(entry.at("test"), "the test"), rule_of(entry),
                      word(entry.at("reason"), "the reason"), word(entry.at("until"), "the day")};
    if (!is_day(result.until))
        refuse(entry.at("until"), fmt::format("'{}' is not a day like 2027-01-31", result.until));
    if (result.until < today)
        refuse(entry.at("until"),
               fmt::format("the quarantine of {} ended on {}; mend the test, or give a later day and say why",
                           result.test, result.until));
    plan.quarantine.push_back(std::move(result));
}

/// The dearest cell first, each to the host that has least to do: shares that depend on the file alone.
void share_out(Plan &plan) {
    if (plan.hosts.empty()) return;
    std::vector<PlannedCell *> dearest;
    for (PlannedCell &each : plan.cells)
        dearest.push_back(&each);
    std::stable_sort(dearest.begin(), dearest.end(),
                     [](auto *a, auto *b) { return a->minutes > b->minutes; });
    std::vector<double> load(plan.hosts.size());
    for (PlannedCell *each : dearest) {
        auto least = static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
        each->host = plan.hosts[least];
        load[least] += each->minutes;
    }
}

void hosts(const Fields &file, Plan &plan) {
    each_entry(file, "hosts", [&](const YAML::Node &node) {
        std::string uri = word(node, "a host");
        if (uri.find("://") == std::string::npos && !uri.ends_with(":///"))
            refuse(node, fmt::format("'{}' is not a libvirt URI like qemu+ssh://root@lab2/system", uri));
        if (std::find(plan.hosts.begin(), plan.hosts.end(), uri) != plan.hosts.end())
            refuse(node, fmt::format("the host {} stands twice", uri));
        plan.hosts.push_back(uri);
    });
    share_out(plan);
}

Plan plan_of(const YAML::Node &root, const std::string &today) {
    Fields file =
        fields(root, "a matrix", {"axes", "prune", "cost", "quarantine", "hosts", "limit"}, {"axes", "cost"});
    Axes axes = axes_of(file.at("axes"), "axes");
    for (size_t i = 0; i < kAxes; ++i)
        if (!axes.contains(static_cast<Axis>(i)))
            refuse(file.at("axes"), fmt::format("the axis {} is missing", name(static_cast<Axis>(i))));
    Plan plan;
    expand(axes, plan);
    each_entry(file, "prune", [&](const YAML::Node &node) { prune(node, plan); });
    if (plan.cells.empty()) refuse(file.at("axes"), "no cell is left");
    each_entry(file, "cost", [&](const YAML::Node &node) { cost(node, plan); });
    for (const PlannedCell &each : plan.cells)
        if (each.minutes == 0)
            refuse(file.at("cost"), fmt::format("no cost says how long {} takes", each.cell.name()));
    each_entry(file, "quarantine", [&](const YAML::Node &node) { quarantine(node, today, plan); });
    if (file.contains("limit")) plan.limit_minutes = minutes_of(file.at("limit"), "limit");
    hosts(file, plan);
    return plan;
}

} // namespace

Result<Plan> plan_of(const std::string &text, const std::string &file, const std::string &today) {
    try {
        return plan_of(YAML::Load(text), today);
    } catch (const YAML::Exception &wrong) {
        return Error{fmt::format("{}:{}: {}", file, std::max(wrong.mark.line, 0) + 1, wrong.msg)};
    }
}

Result<Plan> read_plan(const std::filesystem::path &file, const std::string &today) {
    return plan_of(NICLAB_TRY(read_file(file)), file.string(), today);
}

} // namespace niclab::matrix
