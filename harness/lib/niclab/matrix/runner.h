// SPDX-License-Identifier: GPL-2.0-or-later
// Builds and runs cells in a clone.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "niclab/matrix/result.h"

namespace niclab::matrix {

/// Runs a cell, with a folder of its own for logs. An error means that nothing can be said of the cell, e.g.
/// because it does not build.
using RunCell = std::function<Result<CellResult>(const Cell &cell, const std::filesystem::path &folder)>;

class Workplace {
  public:
    /// `root` is a clone: this one, or a worktree at another commit.
    Workplace(std::filesystem::path root, const Plan &plan) : root_(std::move(root)), plan_(plan) {}

    Result<CellResult> run(const Cell &cell, const std::filesystem::path &folder);

  private:
    Status build(const Recipe &recipe, const std::filesystem::path &folder);
    Result<std::vector<std::string>> programs(const Recipe &recipe) const;
    Result<Ended> run_program(const std::string &program, const Recipe &recipe,
                              const std::filesystem::path &folder, CellResult &result);

    std::filesystem::path root_;
    const Plan &plan_;
    std::mutex building_; // one build at a time: it has all processors already
    std::map<std::string, Status> built_;
};

/// Log of a cell's programs and of its build, below its folder.
inline constexpr const char *kLog = "log.txt";
inline constexpr const char *kBuildLog = "build.txt";

} // namespace niclab::matrix
