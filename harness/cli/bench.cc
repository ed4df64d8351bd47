// SPDX-License-Identifier: GPL-2.0-or-later
// Counts what a unit of work costs the guest, exactly; prints the table and writes it as JSON.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "bench.h"
#include "commands.h"
#include "niclab/artifacts.h"
#include "niclab/bench/report.h"
#include "niclab/libvirt_session.h"
#include "niclab/lifeline.h"
#include "niclab/paths.h"
#include "niclab/progress.h"

namespace niclab::cli {
namespace {

using namespace niclab::bench;

constexpr const char *kAll = "all";

/// The rows that are named, all rows for "all", or those that `chosen` takes when none is named.
template <class Row, class Find, class Chosen>
Result<std::vector<const Row *>> rows_named(std::span<const Row> rows, const std::vector<std::string> &names,
                                            Find find, Chosen chosen) {
    std::vector<const Row *> found;
    bool all = std::find(names.begin(), names.end(), kAll) != names.end();
    if (all || names.empty()) {
        for (const Row &row : rows)
            if (all || chosen(row)) found.push_back(&row);
        return found;
    }
    for (const std::string &name : names) {
        const Row *row = NICLAB_TRY(find(name));
        if (std::find(found.begin(), found.end(), row) == found.end()) found.push_back(row);
    }
    return found;
}

Result<Selection> select(const BenchOptions &options) {
    Selection selection;
    selection.scenarios = NICLAB_TRY(rows_named(scenarios(), options.scenarios, find_scenario,
                                                [](const Scenario &row) { return row.in_short_set; }));
    selection.drivers =
        NICLAB_TRY(rows_named(drivers(), options.drivers, find_driver, [](const Driver &) { return true; }));
    selection.iommus = NICLAB_TRY(rows_named(iommu_kinds(), options.iommus, find_iommu,
                                             [](const IommuKind &row) { return row.in_short_set; }));
    return selection;
}

int list() {
    std::puts("scenarios (* in the short set, which runs when none is named)");
    for (const Scenario &row : scenarios())
        fmt::print("  {} {:<18} {}; per {}\n", row.in_short_set ? '*' : ' ', row.name, row.says, row.unit);
    std::puts("drivers");
    for (const Driver &row : drivers())
        fmt::print("    {:<18} {}\n", row.name, row.says);
    std::puts("kinds of vIOMMU (* in the short set)");
    for (const IommuKind &row : iommu_kinds())
        fmt::print("  {} {:<18} {}\n", row.in_short_set ? '*' : ' ', row.name, row.says);
    return 0;
}

int compare_files(const BenchOptions &options) {
    std::vector<Report> reports;
    for (const std::string &path : options.compare) {
        auto report = read_report(path);
        if (!report.ok()) return failure(report.why());
        reports.push_back(*report);
    }
    Comparison comparison = compare(reports[0], reports[1]);
    if (comparison.compared == 0) return failure("the two results have no measured cell in common");
    fmt::print("{}{} cells compared, {} dearer by more than {:.1f} %\n", comparison.text, comparison.compared,
               comparison.dearer, 100 * kStableSpread);
    return comparison.dearer == 0 ? 0 : 1;
}

/// The cells of one setting: the same run as often as asked for.
Result<std::vector<Cell>> measure_setting(const Setting &setting, const std::vector<Planned> &planned,
                                          const BenchOptions &options, const RunFolder &run) {
    std::map<std::string, std::vector<Measured>> repetitions;
    for (unsigned i = 0; i < options.repetitions; ++i) {
        progress(fmt::format("{} with vIOMMU {}: run {} of {}", setting.driver->name, setting.iommu->name,
                             i + 1, options.repetitions));
        auto measured = NICLAB_TRY(counting_run(setting, planned, run));
        for (const auto &[name, each] : measured)
            repetitions[name].push_back(each);
    }
    std::vector<Cell> cells;
    cells.reserve(planned.size());
    for (const Planned &each : planned)
        cells.push_back(cell_of(*each.scenario, setting, repetitions[each.scenario->name]));
    return cells;
}

/// A setting that breaks is a problem of the whole bench, but the others are measured all the same.
Result<Report> measure(const Selection &selection, const BenchOptions &options, const RunFolder &run,
                       std::vector<std::string> &problems) {
    std::vector<Planned> planned;
    for (const Scenario *scenario : selection.scenarios)
        planned.push_back({scenario, scenario->units});
    Report report{options.kernel, options.repetitions, host_versions(), {}};
    // One session for all machines: libvirt's library registers a driver with each that opens, and has room
    // for few.
    auto session = NICLAB_TRY(LibvirtSession::get());
    for (const IommuKind *iommu : selection.iommus)
        for (const Driver *driver : selection.drivers) {
            Setting setting{driver, iommu, options.kernel};
            auto cells = measure_setting(setting, planned, options, run);
            if (Lifeline::interrupted()) return Lifeline::interruption();
            if (!cells.ok()) {
                problems.push_back(
                    fmt::format("{} with vIOMMU {}: {}", driver->name, iommu->name, cells.why()));
                continue;
            }
            report.cells.insert(report.cells.end(), cells->begin(), cells->end());
        }
    // One scenario's drivers stand together.
    auto place = [&](const Cell &cell) {
        return std::find_if(selection.scenarios.begin(), selection.scenarios.end(),
                            [&](const Scenario *row) { return row->name == cell.scenario; });
    };
    std::stable_sort(report.cells.begin(), report.cells.end(),
                     [&](const Cell &a, const Cell &b) { return place(a) < place(b); });
    return report;
}

int verdict(const Report &report, std::vector<std::string> problems) {
    for (const Cell &cell : report.cells)
        if (!cell.stable())
            problems.push_back(fmt::format("{} of {} with vIOMMU {} differs by {:.3f} % between runs",
                                           cell.scenario, cell.driver, cell.iommu, 100 * cell.spread));
    if (std::none_of(report.cells.begin(), report.cells.end(),
                     [](const Cell &cell) { return cell.measured(); }))
        problems.emplace_back("nothing was measured");
    for (const std::string &problem : problems)
        failure(problem);
    return problems.empty() ? 0 : 1;
}

} // namespace

int bench(const BenchOptions &options) {
    if (options.list) return list();
    if (!options.compare.empty()) return compare_files(options);
    auto selection = select(options);
    if (!selection.ok()) {
        failure(selection.why());
        return kUsageStatus;
    }
    auto run = RunFolder::create("bench");
    if (!run.ok()) return failure(run.why());
    if (options.host) return bench_host(*selection, options, *run);
    if (options.wall) return bench_wall(*selection, options, *run);
    std::vector<std::string> problems;
    auto report = measure(*selection, options, *run, problems);
    if (!report.ok()) return failure(report.why() + "; see " + run->path().string());
    nlohmann::json json = as_json(*report);
    (void)run->write_json("result.json", json);
    std::fputs(as_table(*report, options.top).c_str(), stdout);
    if (!options.json.empty())
        if (Status written = write_file(options.json, json.dump(2) + "\n"); !written.ok())
            return failure(written.why());
    fmt::print("everything about this run: {}\n", run->path().string());
    return verdict(*report, problems);
}

} // namespace niclab::cli
