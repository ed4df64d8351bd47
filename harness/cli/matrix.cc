// SPDX-License-Identifier: GPL-2.0-or-later
// Nights: run, shown, and searched for the commit that broke a cell.
#include <charconv>
#include <cstdio>
#include <ctime>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "commands.h"
#include "niclab/artifacts.h"
#include "niclab/lifeline.h"
#include "niclab/matrix/bisect.h"
#include "niclab/matrix/night.h"
#include "niclab/matrix/page.h"
#include "niclab/paths.h"

namespace niclab::cli {
namespace {

namespace fs = std::filesystem;
using namespace niclab::matrix;

int list(const Plan &plan) {
    for (const PlannedCell &each : plan.cells)
        fmt::print("{:>7.1f} min  {}{}\n", each.minutes, each.cell.name(),
                   each.host.empty() ? "" : "  on " + each.host);
    for (const PrunedCell &each : plan.pruned)
        fmt::print("   pruned    {}: {}\n", each.name, each.reason);
    for (const Quarantine &each : plan.quarantine)
        fmt::print("quarantine   {} until {}: {}\n", each.test, each.until, each.reason);
    fmt::print("{} cells, about {:.0f} min; {} pruned\n", plan.cells.size(), plan.minutes(),
               plan.pruned.size());
    return 0;
}

/// Two nights in one clone would build over each other. Held until the process ends.
Status hold_clone() {
    static int lock = -1;
    fs::path file = build_root() / ".matrix.lock";
    std::error_code failed;
    fs::create_directories(build_root(), failed);
    lock = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (lock < 0) return Error{fmt::format("cannot write {}", file.string())};
    if (flock(lock, LOCK_EX | LOCK_NB) != 0)
        return Error{"another matrix or bisect runs in this clone; wait for its end, or use another clone"};
    return {};
}

nlohmann::json environment() {
    nlohmann::json versions = host_versions();
    versions["processors"] = std::thread::hardware_concurrency();
    return versions;
}

Result<Night> night_of(const MatrixOptions &options, const Plan &plan, Store &store) {
    std::string text = NICLAB_TRY(read_file(options.file));
    Checkout checkout = checkout_of(source_root());
    if (options.resume) return night_to_resume(store, text, checkout);
    Night night = new_night(plan, options.file, text, checkout, environment());
    NICLAB_TRY(store.begin(night));
    return night;
}

int verdict(const Night &night, const fs::path &folder) {
    unsigned failed = 0;
    fmt::print("\n");
    for (const CellRow &cell : night.cells) {
        failed += cell.result.passed ? 0 : 1;
        fmt::print("{} {:>6.1f} min  {}{}\n", cell.result.passed ? "  ok  " : "FAILED",
                   cell.result.seconds / 60, cell.name,
                   cell.result.passed ? "" : ": " + cell.result.why.substr(0, cell.result.why.find('\n')));
    }
    fmt::print("niclab: night {}: {} cells passed, {} failed; logs in {}\n", night.info.id,
               night.cells.size() - failed, failed, folder.string());
    return failed ? 1 : 0;
}

Result<int> run(const MatrixOptions &options, const Plan &plan) {
    NICLAB_TRY(hold_clone());
    NICLAB_TRY(Lifeline::get()); // signals are ours before a night begins
    auto store = NICLAB_TRY(Store::open(options.db));
    Night night = NICLAB_TRY(night_of(options, plan, *store));
    Workplace workplace(source_root(), plan);
    NightOptions how{build_root() / "nights", options.jobs,
                     [&](const Cell &cell, const fs::path &folder) { return workplace.run(cell, folder); }};
    if (Status ran = run_night(night, *store, how); !ran.ok())
        return Error{fmt::format("{}; go on with: niclab matrix {} --resume", ran.why(), options.file)};
    return verdict(night, how.folder / std::to_string(night.info.id));
}

struct Span {
    size_t count = 10'000;
    std::int64_t since = 0;
};

Result<Span> span_of(const std::string &text) {
    Span span;
    const char *end = text.data() + text.size();
    if (auto read = std::from_chars(text.data(), end, span.count);
        read.ec == std::errc() && read.ptr == end && span.count > 0)
        return span;
    std::tm day{};
    const char *rest = strptime(text.c_str(), "%Y-%m-%d", &day);
    if (!rest || *rest)
        return Error{fmt::format("'{}' is neither a number of nights nor a day like 2026-12-31", text)};
    return Span{10'000, timegm(&day)};
}

Result<int> search(const BisectOptions &options, const Cell &cell, const Plan &plan) {
    NICLAB_TRY(hold_clone());
    NICLAB_TRY(Lifeline::get());
    auto store = NICLAB_TRY(Store::open(options.db));
    auto commits = NICLAB_TRY(commits_between(source_root(), options.good, options.bad));
    fs::path folder = build_root() / "bisect";
    Worktree worktree(source_root(), folder, plan, *store, cell);
    FirstBad found =
        NICLAB_TRY(find_first_bad(commits, [&](const std::string &commit) { return worktree.ask(commit); }));
    fmt::print("{} {} after {} of {} commits were asked:\n", cell.name(),
               found.commits.size() == 1
                   ? "fails first at this commit,"
                   : "fails first at one of these commits, of which some cannot run it,",
               found.asked, commits.size());
    for (const std::string &commit : found.commits)
        fmt::print("  {}\n", described(source_root(), commit));
    return 0;
}

int usage_failure(const std::string &why) {
    (void)failure(why);
    return kUsageStatus;
}

} // namespace

int matrix(const MatrixOptions &options) {
    auto plan = read_plan(options.file, today());
    if (!plan.ok()) return usage_failure(plan.why());
    if (!options.host.empty())
        if (Status kept = keep_host(*plan, options.host); !kept.ok()) return usage_failure(kept.why());
    if (!options.only.empty())
        if (Status kept = keep_only(*plan, options.only); !kept.ok()) return usage_failure(kept.why());
    if (options.list) return list(*plan);
    auto ended = run(options, *plan);
    return ended.ok() ? *ended : failure(ended.why());
}

int report(const ReportOptions &options) {
    auto span = span_of(options.since);
    if (!span.ok()) return usage_failure(span.why());
    if (!fs::exists(options.db))
        return failure(fmt::format("there is no {}; niclab matrix makes it", options.db));
    auto store = Store::open(options.db);
    if (!store.ok()) return failure(store.why());
    auto nights = (*store)->nights(span->count, span->since);
    if (!nights.ok()) return failure(nights.why());
    if (nights->empty()) return failure(fmt::format("{} has no night since {}", options.db, options.since));
    if (Status written = write_file(options.output, report_page(*nights, options.output)); !written.ok())
        return failure(written.why());
    fmt::print("{}: {} nights\n", options.output, nights->size());
    return 0;
}

int bisect(const BisectOptions &options) {
    auto cell = cell_named(options.cell);
    if (!cell.ok()) return usage_failure(cell.why());
    auto plan = read_plan(options.file, today());
    if (!plan.ok()) return usage_failure(plan.why());
    auto ended = search(options, *cell, *plan);
    return ended.ok() ? *ended : failure(ended.why());
}

} // namespace niclab::cli
