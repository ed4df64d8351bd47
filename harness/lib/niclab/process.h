// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "niclab/deadline.h"
#include "niclab/result.h"

namespace niclab {

struct ProcessResult {
    int exit_code = -1; ///< 128 + signal number when a signal ended it
    std::string out;
    std::string err;
};

struct ProcessOptions {
    Milliseconds limit = std::chrono::seconds(30);
    /// Called with each line of standard error as it comes.
    std::function<void(const std::string &)> on_error_line;
};

/// Runs a program of the host to its end. At the deadline or an interruption its whole process group is
/// ended.
Result<ProcessResult> run_process(const std::vector<std::string> &argv, const ProcessOptions &options = {});

} // namespace niclab
