// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/history.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace niclab::matrix {
namespace {

using Tally = std::map<std::tuple<std::string, std::string, std::string>, std::pair<unsigned, unsigned>>;

void add(Tally &tally, const std::string &cell, const std::string &test, const std::string &commit,
         bool passed) {
    auto &[good, bad] = tally[{cell, test, commit}];
    ++(passed ? good : bad);
}

/// An excused failure is one all the same; a test that was skipped says nothing.
std::optional<bool> passed(const TestResult &test) {
    if (test.verdict == Verdict::skipped) return std::nullopt;
    return test.verdict == Verdict::passed;
}

std::set<std::string> failed_of(const Night &night) {
    std::set<std::string> names;
    for (const CellRow &cell : night.cells) {
        if (cell.state != CellState::done) continue;
        if (!cell.result.passed) names.insert(cell.name);
        for (const TestResult &test : cell.result.tests)
            if (test.verdict == Verdict::failed) names.insert(cell.name + " " + test.name);
    }
    return names;
}

} // namespace

std::vector<Flake> find_flakes(const std::vector<Night> &nights) {
    Tally tally;
    for (const Night &night : nights) {
        if (night.info.dirty || night.info.commit.empty()) continue;
        for (const CellRow &cell : night.cells) {
            if (cell.state != CellState::done) continue;
            add(tally, cell.name, "", night.info.commit, cell.result.passed);
            for (const TestResult &test : cell.result.tests)
                if (auto good = passed(test)) add(tally, cell.name, test.name, night.info.commit, *good);
        }
    }
    std::vector<Flake> flakes;
    for (const auto &[key, counts] : tally)
        if (counts.first && counts.second)
            flakes.push_back(
                {std::get<0>(key), std::get<1>(key), std::get<2>(key), counts.first, counts.second});
    // A cell that flickers because a test of it does is told by the test.
    std::set<std::pair<std::string, std::string>> told;
    for (const Flake &each : flakes)
        if (!each.test.empty()) told.emplace(each.cell, each.commit);
    std::erase_if(flakes, [&](const Flake &each) {
        return each.test.empty() && told.contains({each.cell, each.commit});
    });
    return flakes;
}

std::set<std::string> newly_failed(const std::vector<Night> &nights) {
    if (nights.size() < 2) return {};
    std::set<std::string> now = failed_of(nights.back()), before = failed_of(nights[nights.size() - 2]),
                          fresh;
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::inserter(fresh, fresh.end()));
    return fresh;
}

Sums sums_of(const Night &night, const std::vector<Flake> &flakes) {
    Sums sums;
    for (const CellRow &cell : night.cells) {
        sums.expected_minutes += cell.expected_minutes;
        if (cell.state != CellState::done) {
            ++sums.unfinished;
            continue;
        }
        ++(cell.result.passed ? sums.passed : sums.failed);
        sums.minutes += cell.result.seconds / 60;
        sums.tests += static_cast<unsigned>(cell.result.tests.size());
        for (const TestResult &test : cell.result.tests)
            if (test.verdict == Verdict::quarantined) ++sums.quarantined;
    }
    std::set<std::string> flaky;
    for (const Flake &each : flakes)
        if (each.commit == night.info.commit) flaky.insert(each.cell);
    for (const std::string &name : flaky)
        if (find_cell(night, name)) ++sums.flaky;
    return sums;
}

std::vector<Measured> side_by_side(const std::vector<Night> &nights, const std::string &metric) {
    std::vector<Measured> result;
    if (nights.empty()) return result;
    auto value_of = [&](const Night &night, const std::string &name, const std::string &scenario) {
        const CellRow *cell = find_cell(night, name);
        if (cell)
            for (const Measurement &each : cell->result.measurements)
                if (each.scenario == scenario && each.metric == metric) return each.value;
        return 0.0;
    };
    for (const CellRow &cell : nights.back().cells)
        for (const Measurement &each : cell.result.measurements) {
            if (each.metric != metric) continue;
            Measured row{cell.name, each.scenario, each.value, 0};
            for (size_t i = nights.size() - 1; i > 0 && row.before == 0; --i)
                row.before = value_of(nights[i - 1], cell.name, each.scenario);
            result.push_back(row);
        }
    return result;
}

const CellRow *find_cell(const Night &night, const std::string &name) {
    auto found = std::find_if(night.cells.begin(), night.cells.end(),
                              [&](const CellRow &cell) { return cell.name == name; });
    return found == night.cells.end() ? nullptr : &*found;
}

} // namespace niclab::matrix
