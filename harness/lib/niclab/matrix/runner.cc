// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/runner.h"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "niclab/bench/report.h"
#include "niclab/complaints.h"
#include "niclab/matrix/machine.h"
#include "niclab/paths.h"
#include "niclab/process.h"

namespace fs = std::filesystem;

namespace niclab::matrix {
namespace {

constexpr auto kBuildLimit = std::chrono::minutes(90);
constexpr size_t kLastLines = 12;
constexpr size_t kComplaints = 8;

/// Runs the words, both outputs into a file. The shell stays, and with it the pipe that our wait watches.
Result<int> run_logged(const std::vector<std::string> &words, const fs::path &log, Milliseconds limit) {
    std::vector<std::string> argv = {"sh", "-c", R"("$@" >>"$0" 2>&1)", log.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    ProcessOptions options;
    options.limit = limit;
    return NICLAB_TRY(run_process(argv, options)).exit_code;
}

std::string last_lines(const std::string &text) {
    size_t from = text.size();
    for (size_t i = 0; i <= kLastLines && from != 0 && from != std::string::npos; ++i)
        from = text.rfind('\n', from - 1);
    return text.substr(from == std::string::npos ? 0 : std::min(from, text.size()));
}

void read_bench(const fs::path &file, CellResult &result) {
    auto report = bench::read_report(file);
    if (!report.ok()) return; // a bench without a result has a status that says so
    for (const bench::Cell &cell : report->cells) {
        TestResult test;
        test.name = cell.scenario;
        if (!cell.measured()) {
            test.verdict = Verdict::skipped;
            test.message = cell.why_not;
        } else if (!cell.stable()) {
            test.verdict = Verdict::failed;
            test.message = fmt::format("differs by {:.3f} % between runs", 100 * cell.spread);
        }
        result.tests.push_back(std::move(test));
        for (const auto &[metric, value] : cell.metrics)
            result.measurements.push_back({cell.scenario, metric, value});
    }
}

/// What a machine of the cell was made of; all of them are alike.
nlohmann::json machine_of(const fs::path &runs) {
    std::error_code failed;
    for (const auto &run : fs::directory_iterator(runs, failed)) {
        auto text = read_file(run.path() / "versions.json");
        if (!text.ok()) continue;
        auto versions = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
        if (versions.is_object()) return versions;
    }
    return nlohmann::json::object();
}

/// What the guests' kernels complained of. Some tests provoke complaints, so it is told of cells that failed
/// only.
nlohmann::json complaints_of(const fs::path &runs) {
    nlohmann::json list = nlohmann::json::array();
    std::set<std::string> seen;
    std::error_code failed;
    for (const auto &run : fs::directory_iterator(runs, failed)) {
        auto console = read_file(run.path() / "console.log");
        if (!console.ok()) continue;
        for (const Complaint &each : find_complaints(*console))
            if (list.size() < kComplaints && seen.insert(each.fingerprint).second)
                list.push_back({{"fingerprint", each.fingerprint},
                                {"text", fmt::format("{}", fmt::join(each.lines, "\n"))}});
    }
    return list;
}

/// The guest's image is the largest of what a machine leaves, and can be made again.
void drop_images(const fs::path &runs) {
    std::error_code failed;
    for (const auto &run : fs::directory_iterator(runs, failed))
        fs::remove(run.path() / "initramfs.cpio", failed);
}

size_t lines_in(const std::string &text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

Status Workplace::build(const Recipe &recipe, const fs::path &folder) {
    std::lock_guard lock(building_);
    std::string key = recipe.tree + " " + recipe.target;
    if (auto known = built_.find(key); known != built_.end()) return known->second;
    std::string script = fmt::format("cd '{}' && tests/configure {} && ninja -C build/{} {}", root_.string(),
                                     recipe.tree, recipe.tree, recipe.target);
    fs::path log = folder / kBuildLog;
    int status = NICLAB_TRY(run_logged({"bash", "-c", script}, log, kBuildLimit));
    Status built;
    if (status != 0)
        built = Error{fmt::format("it does not build; the end of {} says: {}", log.string(),
                                  last_lines(read_file(log).ok() ? *read_file(log) : ""))};
    return built_[key] = built;
}

Result<std::vector<std::string>> Workplace::programs(const Recipe &recipe) const {
    fs::path place = root_ / "build" / recipe.tree / recipe.programs;
    std::error_code failed;
    if (!fs::is_directory(place, failed)) return std::vector<std::string>{place.string()};
    std::vector<std::string> found;
    for (const auto &entry : fs::directory_iterator(place, failed))
        if (entry.is_regular_file() && access(entry.path().c_str(), X_OK) == 0) found.push_back(entry.path());
    if (found.empty()) return Error{fmt::format("{} has no programs", place.string())};
    std::sort(found.begin(), found.end());
    return found;
}

Result<Ended> Workplace::run_program(const std::string &program, const Recipe &recipe, const fs::path &folder,
                                     CellResult &result) {
    // Runs go where the night keeps them, and what our own environment says of machines is not the cell's.
    std::vector<std::string> words = {"env",
                                      "-u",
                                      kIommuVariable,
                                      "-u",
                                      kIommuModeVariable,
                                      "NICLAB_RUNS=" + (folder / "runs").string(),
                                      "NICLAB_KEEP_RUNS=1000"};
    for (const auto &[key, value] : recipe.environment)
        words.push_back(fmt::format("{}={}", key, value));
    words.push_back(program);
    words.insert(words.end(), recipe.arguments.begin(), recipe.arguments.end());
    fs::path log = folder / kLog, numbers = folder / "bench.json";
    if (recipe.says == Says::bench) words.insert(words.end(), {"--json", numbers.string()});
    auto before = read_file(log);
    std::string old = before.ok() ? before.take() : std::string();
    auto limit = std::chrono::duration_cast<Milliseconds>(
        std::chrono::duration<double, std::ratio<60>>(plan_.limit_minutes));
    int status = NICLAB_TRY(run_logged(words, log, limit));
    std::string said = NICLAB_TRY(read_file(log)).substr(old.size());
    Ended ended{fs::path(program).filename(), status, 0};
    if (recipe.says == Says::bench) {
        read_bench(numbers, result);
    } else if (recipe.says == Says::status) {
        result.tests.push_back({recipe.arguments.front(), status ? Verdict::failed : Verdict::passed, 0,
                                status ? last_lines(said) : "", lines_in(old) + lines_in(said)});
        ended.failures = status ? 1 : 0;
    } else {
        for (TestResult &test : read_test_log(said)) {
            test.line += lines_in(old);
            ended.failures += test.verdict == Verdict::failed ? 1 : 0;
            result.tests.push_back(std::move(test));
        }
    }
    return ended;
}

Result<CellResult> Workplace::run(const Cell &cell, const fs::path &folder) {
    std::error_code failed;
    fs::remove_all(folder, failed);
    fs::create_directories(folder, failed);
    if (failed) return Error{fmt::format("cannot make {}: {}", folder.string(), failed.message())};
    Recipe recipe = recipe_of(cell);
    NICLAB_TRY(build(recipe, folder));
    // What was built serves other cells too, so it is no part of this one's cost.
    auto begin = std::chrono::steady_clock::now();
    CellResult result;
    std::vector<Ended> ended;
    auto list = NICLAB_TRY(programs(recipe));
    for (const std::string &program : list) {
        size_t first = result.tests.size();
        ended.push_back(NICLAB_TRY(run_program(program, recipe, folder, result)));
        for (size_t i = first; list.size() > 1 && i < result.tests.size(); ++i)
            result.tests[i].name = ended.back().program + ": " + result.tests[i].name;
    }
    judge(result, ended, plan_, cell);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.environment = machine_of(folder / "runs");
    if (!result.passed) result.environment["complaints"] = complaints_of(folder / "runs");
    drop_images(folder / "runs");
    return result;
}

} // namespace niclab::matrix
