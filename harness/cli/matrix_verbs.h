// SPDX-License-Identifier: GPL-2.0-or-later
// The words of matrix, report and bisect.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.h"

namespace niclab::cli {

CLI::App *add_matrix(CLI::App &app, MatrixOptions &options);
CLI::App *add_report(CLI::App &app, ReportOptions &options);
CLI::App *add_bisect(CLI::App &app, BisectOptions &options);

} // namespace niclab::cli
