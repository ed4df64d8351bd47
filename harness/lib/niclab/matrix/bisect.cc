// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/bisect.h"

#include <chrono>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "niclab/lifeline.h"
#include "niclab/matrix/files.h"
#include "niclab/matrix/machine.h"
#include "niclab/paths.h"
#include "niclab/process.h"
#include "niclab/progress.h"

namespace fs = std::filesystem;

namespace niclab::matrix {
namespace {

Result<std::string> git(const fs::path &root, std::vector<std::string> words) {
    std::vector<std::string> argv = {"git", "-C", root.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    ProcessOptions options;
    options.limit = std::chrono::minutes(5);
    ProcessResult ended = NICLAB_TRY(run_process(argv, options));
    if (ended.exit_code != 0)
        return Error{
            fmt::format("git {} failed: {}", words.front(), ended.err.substr(0, ended.err.find('\n')))};
    while (ended.out.ends_with('\n'))
        ended.out.pop_back();
    return ended.out;
}

std::string short_name(const std::string &commit) { return commit.substr(0, 12); }

/// The commit nearest to the middle that has not said "unknown"; nothing when all between have.
std::optional<size_t> nearest_to_middle(size_t good, size_t bad, const std::vector<bool> &silent) {
    size_t middle = good + (bad - good) / 2;
    for (size_t away = 0; away < bad - good; ++away) {
        if (middle + away < bad && middle + away > good && !silent[middle + away]) return middle + away;
        if (middle >= good + away + 1 && !silent[middle - away]) return middle - away;
    }
    return std::nullopt;
}

Status check_ends(const std::vector<std::string> &commits, const Ask &ask) {
    switch (NICLAB_TRY(ask(commits.front()))) {
    case Answer::bad:
        return Error{
            fmt::format("{} is not good: the cell fails there already", short_name(commits.front()))};
    case Answer::unknown:
        return Error{
            fmt::format("{} cannot be called good: the cell cannot run there", short_name(commits.front()))};
    case Answer::good:
        break;
    }
    switch (NICLAB_TRY(ask(commits.back()))) {
    case Answer::good:
        return Error{fmt::format("{} is not bad: the cell passes there", short_name(commits.back()))};
    case Answer::unknown:
        return Error{
            fmt::format("{} cannot be called bad: the cell cannot run there", short_name(commits.back()))};
    case Answer::bad:
        break;
    }
    return {};
}

} // namespace

Result<FirstBad> find_first_bad(const std::vector<std::string> &commits, const Ask &ask) {
    FirstBad found;
    auto counted = [&](const std::string &commit) {
        ++found.asked;
        return ask(commit);
    };
    NICLAB_TRY(check_ends(commits, counted));
    size_t good = 0, bad = commits.size() - 1;
    std::vector<bool> silent(commits.size());
    while (auto next = nearest_to_middle(good, bad, silent)) {
        switch (NICLAB_TRY(counted(commits[*next]))) {
        case Answer::good:
            good = *next;
            break;
        case Answer::bad:
            bad = *next;
            break;
        case Answer::unknown:
            silent[*next] = true;
            break;
        }
    }
    found.commits.assign(commits.begin() + static_cast<std::ptrdiff_t>(good) + 1,
                         commits.begin() + static_cast<std::ptrdiff_t>(bad) + 1);
    return found;
}

Result<std::vector<std::string>> commits_between(const fs::path &root, const std::string &good,
                                                 const std::string &bad) {
    std::map<std::string, std::string> whole;
    for (const std::string &name : {good, bad}) {
        auto commit = git(root, {"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
        if (!commit.ok()) return Error{fmt::format("'{}' names no commit of this clone", name)};
        whole[name] = *commit;
    }
    if (whole[good] == whole[bad]) return Error{"GOOD and BAD are the same commit"};
    std::string list =
        NICLAB_TRY(git(root, {"rev-list", "--first-parent", "--reverse", whole[good] + ".." + whole[bad]}));
    std::vector<std::string> commits = {whole[good]};
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line);)
        commits.push_back(line);
    if (!git(root, {"merge-base", "--is-ancestor", whole[good], whole[bad]}).ok())
        return Error{fmt::format("{} did not come before {}; the first named is the good one", good, bad)};
    return commits;
}

std::string described(const fs::path &root, const std::string &commit) {
    auto line = git(root, {"show", "--no-patch", "--format=%h %s", "--abbrev=12", commit});
    return line.ok() ? *line : commit;
}

Status Worktree::check_out(const std::string &commit) {
    fs::path tree = folder_ / "tree";
    std::error_code failed;
    if (fs::exists(tree / ".git", failed)) {
        auto out = git(tree, {"checkout", "--quiet", "--detach", "--force", commit});
        return out.ok() ? Status() : Status(out.error());
    }
    fs::create_directories(folder_, failed);
    (void)git(root_, {"worktree", "prune"}); // its folder may have been deleted
    auto made = git(root_, {"worktree", "add", "--quiet", "--force", "--detach", tree.string(), commit});
    return made.ok() ? Status() : Status(made.error());
}

Result<Answer> Worktree::keep(const std::string &commit, const Result<CellResult> &ran,
                              const fs::path &logs) {
    if (Lifeline::interrupted()) return Lifeline::interruption();
    if (!ran.ok()) {
        progress(fmt::format("{} says nothing: {}", short_name(commit),
                             ran.why().substr(0, ran.why().find('\n'))));
        return Answer::unknown;
    }
    Night night;
    night.info.kind = NightKind::bisect;
    night.info.began = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    night.info.commit = commit;
    CellRow row;
    row.name = cell_.name();
    night.cells.push_back(row);
    NICLAB_TRY(store_.begin(night));
    NICLAB_TRY(store_.set_running(night.cells[0].id, logs.string()));
    NICLAB_TRY(store_.finish(night.cells[0].id, *ran));
    NICLAB_TRY(store_.end_night(night.info.id, night.info.began + static_cast<std::int64_t>(ran->seconds)));
    NICLAB_TRY(write_results(logs, row.name, *ran));
    NICLAB_TRY(write_log_pages(logs, row.name));
    progress(fmt::format("{} is {}{}", short_name(commit), ran->passed ? "good" : "bad: ", ran->why));
    return ran->passed ? Answer::good : Answer::bad;
}

Result<Answer> Worktree::ask(const std::string &commit) {
    if (auto known = NICLAB_TRY(store_.known(cell_.name(), commit)); known) {
        progress(
            fmt::format("{} is {}, as an earlier run says", short_name(commit), *known ? "good" : "bad"));
        return *known ? Answer::good : Answer::bad;
    }
    progress(fmt::format("{} is tried", described(root_, commit)));
    NICLAB_TRY(check_out(commit));
    fs::path tree = folder_ / "tree", logs = folder_ / "logs" / short_name(commit);
    // A commit whose suites do not ask for the machine would run on another one than the cell's.
    Recipe recipe = recipe_of(cell_);
    auto lab = read_file(tree / "tests/scenarios/lab.cc");
    if (!recipe.environment.empty() &&
        (!lab.ok() || lab->find("set_iommu_from_environment") == std::string::npos))
        return keep(commit, Error{"its suites take no machine"}, logs);
    return keep(commit, Workplace(tree, plan_).run(cell_, logs), logs);
}

} // namespace niclab::matrix
