// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/night.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "niclab/lifeline.h"
#include "niclab/matrix/files.h"
#include "niclab/process.h"
#include "niclab/progress.h"

namespace fs = std::filesystem;

namespace niclab::matrix {
namespace {

constexpr size_t kKeptNights = 14; // folders; the store keeps all

std::int64_t now() { return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()); }

std::string git(const fs::path &root, std::vector<std::string> words) {
    std::vector<std::string> argv = {"git", "-C", root.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    auto ended = run_process(argv);
    return ended.ok() && ended->exit_code == 0 ? ended->out : "";
}

void remove_old_nights(const fs::path &folder, std::int64_t newest) {
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(folder, failed)) {
        std::int64_t number = std::atoll(entry.path().filename().c_str());
        if (number > 0 && number + static_cast<std::int64_t>(kKeptNights) <= newest)
            fs::remove_all(entry.path(), failed);
    }
}

/// The worker threads' common state: the next cell, and the first thing that stops the night.
class Queue {
  public:
    explicit Queue(std::vector<CellRow> &cells) : cells_(cells) {}
    CellRow *next() {
        std::lock_guard lock(mutex_);
        while (at_ < cells_.size() && cells_[at_].state == CellState::done)
            ++at_;
        return stopped_ || at_ == cells_.size() ? nullptr : &cells_[at_++];
    }
    void stop(Error why) {
        std::lock_guard lock(mutex_);
        if (!stopped_) why_ = std::move(why);
        stopped_ = true;
    }
    Status status() const { return stopped_ ? Status(why_) : Status(); }

  private:
    std::vector<CellRow> &cells_;
    size_t at_ = 0;
    bool stopped_ = false;
    Error why_;
    std::mutex mutex_;
};

Status run_row(CellRow &row, Store &store, const fs::path &night_folder, const RunCell &run) {
    Cell cell = NICLAB_TRY(cell_named(row.name));
    fs::path folder = night_folder / row.name;
    NICLAB_TRY(store.set_running(row.id, folder.string()));
    row.folder = folder;
    progress(fmt::format("{}: begins, about {:g} min", row.name, row.expected_minutes));
    auto begin = std::chrono::steady_clock::now();
    auto ran = run(cell, folder);
    if (Lifeline::interrupted()) return Lifeline::interruption();
    if (ran.ok())
        row.result = ran.take();
    else
        row.result.why = ran.why();
    if (row.result.seconds == 0)
        row.result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::error_code failed;
    fs::create_directories(folder, failed); // a cell that could not begin has none
    // Without room for the files there is none for the night; the store says it better.
    Status written = write_results(folder, row.name, row.result);
    if (written.ok()) written = write_log_pages(folder, row.name);
    NICLAB_TRY(store.finish(row.id, row.result));
    NICLAB_TRY(std::move(written));
    row.state = CellState::done;
    progress(
        fmt::format("{}: {} after {:.1f} min{}", row.name, row.result.passed ? "passed" : "FAILED",
                    row.result.seconds / 60,
                    row.result.passed ? "" : ": " + row.result.why.substr(0, row.result.why.find('\n'))));
    return {};
}

} // namespace

Checkout checkout_of(const fs::path &root) {
    std::string commit = git(root, {"rev-parse", "HEAD"});
    return {commit.substr(0, commit.find('\n')),
            !git(root, {"status", "--porcelain", "--untracked-files=no"}).empty()};
}

Night new_night(const Plan &plan, const std::string &file, const std::string &text, const Checkout &checkout,
                const nlohmann::json &environment) {
    Night night;
    night.info.began = now();
    night.info.plan = file;
    night.info.plan_text = text;
    night.info.commit = checkout.commit;
    night.info.dirty = checkout.dirty;
    night.info.environment = environment;
    for (const PlannedCell &each : plan.cells) {
        CellRow row;
        row.name = each.cell.name();
        row.expected_minutes = each.minutes;
        night.cells.push_back(std::move(row));
    }
    night.pruned = plan.pruned;
    return night;
}

Result<Night> night_to_resume(Store &store, const std::string &text, const Checkout &checkout) {
    auto last = NICLAB_TRY(store.last_night());
    if (!last) return Error{"there is no night to resume; begin one without --resume"};
    if (last->info.ended) return Error{"the last night came to its end; begin a new one without --resume"};
    if (last->info.plan_text != text)
        return Error{fmt::format(
            "{} is not what it was when the night began; begin a new one without --resume", last->info.plan)};
    if (last->info.commit != checkout.commit || last->info.dirty != checkout.dirty)
        return Error{fmt::format(
            "the night began at commit {}{}, and the clone is elsewhere now; go back, or begin a new one "
            "without --resume",
            last->info.commit.substr(0, 12), last->info.dirty ? " with changes" : "")};
    return std::move(*last);
}

Status run_night(Night &night, Store &store, const NightOptions &options) {
    fs::path folder = options.folder / std::to_string(night.info.id);
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) return Error{fmt::format("cannot make {}: {}", folder.string(), failed.message())};
    remove_old_nights(options.folder, night.info.id);
    Queue queue(night.cells);
    auto work = [&] {
        while (CellRow *row = queue.next())
            if (Status ran = run_row(*row, store, folder, options.run); !ran.ok()) queue.stop(ran.error());
    };
    std::vector<std::thread> workers;
    for (unsigned i = 1; i < options.jobs; ++i)
        workers.emplace_back(work);
    work();
    for (std::thread &worker : workers)
        worker.join();
    NICLAB_TRY(queue.status());
    night.info.ended = now();
    return store.end_night(night.info.id, night.info.ended);
}

} // namespace niclab::matrix
