// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/result.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

namespace niclab::matrix {
namespace {

constexpr std::array<std::string_view, 4> kVerdicts = {"passed", "failed", "skipped", "quarantined"};
constexpr size_t kMessageLimit = 16 << 10;

constexpr std::string_view kRun = "[ RUN      ] ";
struct Mark {
    std::string_view text;
    Verdict verdict;
};
constexpr std::array<Mark, 3> kEnds = {{{"[       OK ] ", Verdict::passed},
                                        {"[  FAILED  ] ", Verdict::failed},
                                        {"[  SKIPPED ] ", Verdict::skipped}}};

/// "Suite.Test, where GetParam() = 3 (12 ms)": the milliseconds, in seconds.
double seconds_of(std::string_view line) {
    size_t open = line.rfind('(');
    return open == std::string_view::npos ? 0 : std::atof(std::string(line.substr(open + 1)).c_str()) / 1000;
}

/// Goes through a log line by line; at most one test is open.
class Reader {
  public:
    void take(std::string_view line) {
        ++number_;
        if (size_t at = line.find(kRun); at != std::string_view::npos) {
            finish_died();
            open_.emplace().name = line.substr(at + kRun.size());
            open_->line = number_;
            return;
        }
        if (!open_) return;
        for (const Mark &mark : kEnds) {
            size_t at = line.find(mark.text);
            if (at == std::string_view::npos || !line.substr(at + mark.text.size()).starts_with(open_->name))
                continue;
            // What a test prints without a line break stands before the mark.
            if (at > 0) keep(line.substr(0, at));
            open_->seconds = seconds_of(line);
            close(mark.verdict);
            return;
        }
        keep(line);
    }
    std::vector<TestResult> finish() {
        finish_died();
        return std::move(tests_);
    }

  private:
    void keep(std::string_view line) {
        // The message begins where the first check failed; what came before is in the log.
        bool begins =
            line.ends_with(": Failure") || line.ends_with(": Skipped") || line.starts_with("unknown file");
        if (begins && !told_) {
            told_ = true;
            open_->message.clear();
            open_->line = number_;
        }
        if (open_->message.size() < kMessageLimit) open_->message.append(line).append("\n");
    }
    void close(Verdict verdict) {
        open_->verdict = verdict;
        if (verdict == Verdict::passed) open_->message.clear();
        tests_.push_back(std::move(*open_));
        open_.reset();
        told_ = false;
    }
    void finish_died() {
        if (!open_) return;
        open_->message = "the program ended in this test\n" + open_->message;
        close(Verdict::failed);
    }

    std::vector<TestResult> tests_;
    std::optional<TestResult> open_;
    size_t number_ = 0;
    bool told_ = false;
};

size_t count(const CellResult &result, Verdict verdict) {
    return static_cast<size_t>(
        std::count_if(result.tests.begin(), result.tests.end(),
                      [&](const TestResult &test) { return test.verdict == verdict; }));
}

} // namespace

std::string_view name(Verdict verdict) { return kVerdicts[static_cast<size_t>(verdict)]; }

Verdict verdict_named(std::string_view name) {
    auto found = std::find(kVerdicts.begin(), kVerdicts.end(), name);
    return found == kVerdicts.end() ? Verdict::failed : static_cast<Verdict>(found - kVerdicts.begin());
}

std::vector<TestResult> read_test_log(std::string_view log) {
    Reader reader;
    for (size_t from = 0; from < log.size();) {
        size_t end = std::min(log.find('\n', from), log.size());
        std::string_view line = log.substr(from, end - from);
        if (line.ends_with('\r')) line.remove_suffix(1);
        reader.take(line);
        from = end + 1;
    }
    return reader.finish();
}

void judge(CellResult &result, const std::vector<Ended> &programs, const Plan &plan, const Cell &cell) {
    for (TestResult &test : result.tests) {
        if (test.verdict != Verdict::failed) continue;
        const Quarantine *entry = quarantined(plan, cell, test.name);
        if (!entry) continue;
        test.verdict = Verdict::quarantined;
        test.message = fmt::format("{} (until {})\n{}", entry->reason, entry->until, test.message);
    }
    size_t failed = count(result, Verdict::failed), skipped = count(result, Verdict::skipped);
    result.passed = false;
    if (failed > 0) {
        result.why = fmt::format("{} of {} tests failed", failed, result.tests.size());
        return;
    }
    for (const Ended &ended : programs)
        if (ended.status != 0 && ended.failures == 0) {
            result.why =
                fmt::format("{} ended with status {} though no test failed", ended.program, ended.status);
            return;
        }
    if (result.tests.size() == skipped) {
        result.why =
            skipped ? fmt::format("it ran nothing: all {} tests were skipped", skipped) : "it ran nothing";
        return;
    }
    result.passed = true;
    result.why.clear();
}

} // namespace niclab::matrix
