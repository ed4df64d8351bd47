// SPDX-License-Identifier: GPL-2.0-or-later
// The memory of the matrix: nights, their cells, tests and measurements, in one SQLite file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "niclab/matrix/result.h"

struct sqlite3;

namespace niclab::matrix {

/// Another layout of the tables than this is refused, older or newer.
inline constexpr int kSchemaVersion = 1;

enum class NightKind { nightly, bisect };

struct NightInfo {
    std::int64_t id = 0;
    NightKind kind = NightKind::nightly;
    std::int64_t began = 0, ended = 0; ///< seconds since 1970; ended: 0 while it is not finished
    std::string plan;                  ///< file that says what belongs to it
    std::string plan_text;             ///< what that file said
    std::string commit;                ///< whole name
    bool dirty = false;                ///< with changes that are in no commit
    nlohmann::json environment = nlohmann::json::object();
};

enum class CellState { waiting, running, done };

struct CellRow {
    std::int64_t id = 0;
    std::string name;
    CellState state = CellState::waiting;
    double expected_minutes = 0;
    std::string folder; ///< of logs and results
    CellResult result;  ///< of a cell that is done
};

struct Night {
    NightInfo info;
    std::vector<CellRow> cells;
    std::vector<PrunedCell> pruned;
};

/// One thread at a time is in the file; another process is waited for, some seconds.
class Store {
  public:
    static Result<std::unique_ptr<Store>> open(const std::filesystem::path &file);
    ~Store();
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    /// Keeps a night with its cells, all waiting; fills the ids.
    Status begin(Night &night);
    Status set_running(std::int64_t cell, const std::string &folder);
    /// All of a cell's results, or nothing.
    Status finish(std::int64_t cell, const CellResult &result);
    Status end_night(std::int64_t night, std::int64_t when);

    /// The last `count` nights that began at `since` or later, oldest first.
    Result<std::vector<Night>> nights(size_t count, std::int64_t since = 0);
    Result<std::optional<Night>> last_night();
    /// Whether that cell passed at that commit, by the last run of a clean clone; nothing when it never ran.
    Result<std::optional<bool>> known(const std::string &cell, const std::string &commit);

  private:
    Store(std::filesystem::path file, sqlite3 *handle) : file_(std::move(file)), handle_(handle) {}
    Status prepare_tables();
    Result<Night> read_night(NightInfo info);

    std::filesystem::path file_;
    sqlite3 *handle_;
    std::mutex mutex_;
};

} // namespace niclab::matrix
