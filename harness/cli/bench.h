// SPDX-License-Identifier: GPL-2.0-or-later
// The ways in which `bench` measures what was selected.
#pragma once

#include <vector>

#include "commands.h"
#include "niclab/bench/scenarios.h"
#include "niclab/run_folder.h"

namespace niclab::cli {

struct Selection {
    std::vector<const bench::Scenario *> scenarios;
    std::vector<const bench::Driver *> drivers;
    std::vector<const bench::IommuKind *> iommus;
};

/// Instructions of QEMU itself. Prints the table; the command's status.
int bench_host(const Selection &selection, const BenchOptions &options, const RunFolder &run);

/// By the clock. Prints the table; the command's status.
int bench_wall(const Selection &selection, const BenchOptions &options, const RunFolder &run);

} // namespace niclab::cli
