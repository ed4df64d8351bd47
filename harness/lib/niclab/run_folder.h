// SPDX-License-Identifier: GPL-2.0-or-later
// One folder per run: domain XML, command line, versions, console, QMP, agent and trace logs, results.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "niclab/result.h"

namespace niclab {

class RunFolder {
  public:
    /// Makes build/runs/<UTC time>-<pid>-<name>/ and removes the oldest ones beyond the last 20
    /// (NICLAB_KEEP_RUNS). NICLAB_RUNS names another folder than build/runs.
    static Result<RunFolder> create(const std::string &name);

    const std::filesystem::path &path() const { return path_; }
    std::filesystem::path file(const std::string &name) const { return path_ / name; }

    Status write(const std::string &name, std::string_view text) const;
    Status write_json(const std::string &name, const nlohmann::json &value) const;
    /// Adds one time-stamped line (UTC, milliseconds) to a log.
    void log(const std::string &name, std::string_view line) const;

  private:
    explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

} // namespace niclab
