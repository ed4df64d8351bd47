// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the cells of a plan and keeps each as soon as it has ended; goes on with a night that was cut off.
#pragma once

#include <filesystem>
#include <string>

#include "niclab/matrix/runner.h"
#include "niclab/matrix/store.h"

namespace niclab::matrix {

/// What a clone has checked out.
struct Checkout {
    std::string commit; ///< whole name; empty outside git
    bool dirty = false;
};
Checkout checkout_of(const std::filesystem::path &root);

struct NightOptions {
    std::filesystem::path folder; ///< of all nights: each gets one below, named by its number
    unsigned jobs = 1;
    RunCell run;
};

/// A night of these cells, all waiting.
Night new_night(const Plan &plan, const std::string &file, const std::string &text, const Checkout &checkout,
                const nlohmann::json &environment);

/// The last night if it can go on: it was not finished, the file says the same and so does the clone.
Result<Night> night_to_resume(Store &store, const std::string &text, const Checkout &checkout);

/// Runs what has no result yet. An error means that the night could not be brought to its end; what was
/// finished is kept. Cells that fail are no error.
Status run_night(Night &night, Store &store, const NightOptions &options);

} // namespace niclab::matrix
