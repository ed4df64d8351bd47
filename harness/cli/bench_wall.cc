// SPDX-License-Identifier: GPL-2.0-or-later
// Times the loads by the clock: every setting in turn, then all of them again.
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "bench.h"
#include "niclab/bench/wall.h"
#include "niclab/libvirt_session.h"
#include "niclab/lifeline.h"
#include "niclab/progress.h"

namespace niclab::cli {
namespace {

using namespace niclab::bench;

/// What was measured of one scenario in one setting.
struct Series {
    std::vector<double> per_second;
    std::string why_not;
};
using Table = std::map<std::pair<const Scenario *, std::string>, Series>; ///< the string names the setting

std::string name_of(const Setting &setting) {
    return fmt::format("{:<11}{:<8}", setting.driver->name, setting.iommu->name);
}

/// Enough that a window takes a good part of a second.
std::vector<Planned> wall_plan(const Selection &selection) {
    constexpr unsigned kTimes = 8;
    std::vector<Planned> planned;
    for (const Scenario *row : selection.scenarios)
        if (!row->has_baseline()) planned.push_back({row, row->units * kTimes});
    return planned;
}

void add(Table &table, const Setting &setting, const std::vector<Planned> &planned,
         const Result<std::vector<Timed>> &times) {
    for (size_t i = 0; i < planned.size(); ++i) {
        Series &series = table[{planned[i].scenario, name_of(setting)}];
        if (!times.ok())
            series.why_not = times.why();
        else if (!(*times)[i].why_not.empty())
            series.why_not = (*times)[i].why_not;
        else
            series.per_second.push_back((*times)[i].per_second);
    }
}

int print(const Table &table, const std::vector<Planned> &planned, const std::vector<Setting> &settings) {
    int status = 0;
    fmt::print("{:<18}{:<11}{:<8}median (smallest to largest)\n", "scenario", "driver", "vIOMMU");
    for (const Planned &each : planned)
        for (const Setting &setting : settings) {
            const Series &series = table.at({each.scenario, name_of(setting)});
            bool measured = series.why_not.empty();
            fmt::print("{:<18}{}{}\n", each.scenario->name, name_of(setting),
                       measured ? rate(*each.scenario, series.per_second)
                                : "not measured: " + series.why_not);
            if (!measured) status = 1;
        }
    return status;
}

} // namespace

int bench_wall(const Selection &selection, const BenchOptions &options, const RunFolder &run) {
    std::vector<Planned> planned = wall_plan(selection);
    if (planned.empty())
        return failure("these scenarios subtract the sender's work, which only counting can: name others");
    std::vector<Setting> settings;
    for (const IommuKind *iommu : selection.iommus)
        for (const Driver *driver : selection.drivers)
            settings.push_back({driver, iommu, options.kernel});
    auto session = LibvirtSession::get(); // one for all machines, as `measure` has it
    if (!session.ok()) return failure(session.why());
    Table table;
    for (unsigned i = 0; i < options.repetitions; ++i)
        for (const Setting &setting : settings) {
            progress(fmt::format("{} with vIOMMU {}: run {} of {}", setting.driver->name, setting.iommu->name,
                                 i + 1, options.repetitions));
            auto times = timed_run(setting, planned, run);
            if (Lifeline::interrupted()) return failure(Lifeline::interruption().what);
            add(table, setting, planned, times);
        }
    int status = print(table, planned, settings);
    fmt::print("everything about this run: {}\n", run.path().string());
    return status;
}

} // namespace niclab::cli
