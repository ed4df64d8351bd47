// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/run_folder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "niclab/paths.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

constexpr size_t kKeptRuns = 20;

size_t kept_runs() {
    const char *text = std::getenv("NICLAB_KEEP_RUNS");
    size_t number = 0;
    if (text && std::from_chars(text, text + std::char_traits<char>::length(text), number).ec == std::errc())
        return std::max<size_t>(number, 1);
    return kKeptRuns;
}

/// Below build/runs, or where NICLAB_RUNS says: what runs many programs keeps the runs of each apart.
fs::path runs_root() {
    const char *own = std::getenv("NICLAB_RUNS");
    return own && *own ? fs::path(own) : build_root() / "runs";
}

/// The folder's name holds the pid of its run: "20250102T030405.678Z-<pid>-<name>".
bool still_running(const fs::path &folder) {
    std::string name = folder.filename();
    size_t dash = name.find('-');
    if (dash == std::string::npos) return false;
    pid_t pid = 0;
    std::from_chars(name.data() + dash + 1, name.data() + name.size(), pid);
    return pid > 0 && kill(pid, 0) == 0;
}

void remove_old(const fs::path &runs, size_t keep) {
    std::vector<fs::path> folders;
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(runs, failed))
        if (entry.is_directory() && !entry.is_symlink()) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end(), std::greater<>());
    for (size_t i = keep; i < folders.size(); ++i)
        if (!still_running(folders[i])) fs::remove_all(folders[i], failed);
}

std::string now_utc(const char *format) {
    auto now = std::chrono::system_clock::now();
    auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    std::tm calendar = fmt::gmtime(std::chrono::system_clock::to_time_t(now));
    return fmt::format("{}.{:03}Z", fmt::format(fmt::runtime(format), calendar), milliseconds);
}

} // namespace

Result<RunFolder> RunFolder::create(const std::string &name) {
    fs::path runs = runs_root();
    std::error_code failed;
    fs::create_directories(runs, failed);
    if (failed) return Error{"cannot make " + runs.string() + ": " + failed.message()};
    remove_old(runs, kept_runs() - 1);
    fs::path path = runs / fmt::format("{}-{}-{}", now_utc("{:%Y%m%dT%H%M%S}"), getpid(), name);
    if (!fs::create_directory(path, failed))
        return Error{"cannot make " + path.string() + ": " + (failed ? failed.message() : "it exists")};
    return RunFolder(path);
}

Status RunFolder::write(const std::string &name, std::string_view text) const {
    return write_file(file(name), text);
}

Status RunFolder::write_json(const std::string &name, const nlohmann::json &value) const {
    return write(name, value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void RunFolder::log(const std::string &name, std::string_view line) const {
    std::ofstream(file(name), std::ios::app) << now_utc("{:%FT%T}") << ' ' << line << '\n';
}

} // namespace niclab
