// SPDX-License-Identifier: GPL-2.0-or-later
// Counts what a unit of work costs QEMU itself, by part of QEMU.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "bench.h"
#include "niclab/bench/host.h"
#include "niclab/libvirt_session.h"
#include "niclab/lifeline.h"
#include "niclab/progress.h"

namespace niclab::cli {
namespace {

using namespace niclab::bench;

/// Callgrind is slow: few units are enough, since the counts repeat.
std::vector<Planned> host_plan(const Selection &selection) {
    constexpr unsigned kUnits = 640;
    std::vector<Planned> planned;
    for (const Scenario *row : selection.scenarios)
        planned.push_back({row, std::min(row->units, kUnits)});
    return planned;
}

void print_host(const Setting &setting, const std::map<std::string, Measured> &results, unsigned top) {
    for (const auto &[name, measured] : results) {
        std::fputs(host_line(name, setting, measured).c_str(), stdout);
        const auto &functions = measured.cost.functions;
        for (size_t i = 0; i < std::min<size_t>(top, functions.size()); ++i)
            fmt::print("  {:>10.1f}  {} [{}]\n", functions[i].instructions, functions[i].name,
                       functions[i].module);
    }
    std::fflush(stdout);
}

} // namespace

int bench_host(const Selection &selection, const BenchOptions &options, const RunFolder &run) {
    std::vector<Planned> planned = host_plan(selection);
    auto session = LibvirtSession::get(); // one for all machines, as `measure` has it
    if (!session.ok()) return failure(session.why());
    int status = 0;
    std::fputs(host_heading().c_str(), stdout);
    for (const IommuKind *iommu : selection.iommus)
        for (const Driver *driver : selection.drivers) {
            Setting setting{driver, iommu, options.kernel};
            progress(fmt::format("QEMU under callgrind: {} with vIOMMU {}", driver->name, iommu->name));
            auto results = host_run(setting, planned, run);
            if (Lifeline::interrupted()) return failure(results.why());
            if (results.ok())
                print_host(setting, *results, options.top);
            else
                status =
                    failure(fmt::format("{} with vIOMMU {}: {}", driver->name, iommu->name, results.why()));
        }
    fmt::print("everything about this run: {}\n", run.path().string());
    return status;
}

} // namespace niclab::cli
