// SPDX-License-Identifier: GPL-2.0-or-later
// What this process has started, and the promise that none of it outlives the process.
#pragma once

#include <filesystem>

#include "niclab/result.h"

namespace niclab {

class Lifeline {
  public:
    /// First call: ends leftovers of dead runs, makes this process's state folder, starts the reaper and
    /// takes over SIGINT, SIGTERM and SIGHUP. Later calls give the same object.
    static Result<Lifeline *> get();

    const std::filesystem::path &folder() const { return folder_; }

    /// The signal that asked us to stop, or 0. Every wait of the library looks at it.
    static int interrupted();
    /// "interrupted by SIGINT", as an error for the waits.
    static Error interruption();

    Lifeline(const Lifeline &) = delete;
    Lifeline &operator=(const Lifeline &) = delete;
    ~Lifeline();

  private:
    Lifeline(std::filesystem::path folder, int reaper_input, int reaper_pid)
        : folder_(std::move(folder)), reaper_input_(reaper_input), reaper_pid_(reaper_pid) {}

    std::filesystem::path folder_;
    int reaper_input_;
    int reaper_pid_;
};

} // namespace niclab
