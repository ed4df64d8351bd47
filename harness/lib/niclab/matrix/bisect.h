// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the first commit at which a cell fails.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "niclab/matrix/runner.h"
#include "niclab/matrix/store.h"

namespace niclab::matrix {

enum class Answer {
    good,
    bad,
    unknown, ///< that commit says nothing: it does not build
};

/// Asked of a commit; an error ends the search.
using Ask = std::function<Result<Answer>(const std::string &commit)>;

struct FirstBad {
    std::vector<std::string> commits; ///< one, or several when those between say nothing
    unsigned asked = 0;
};

/// `commits` from the good one to the bad one, both with them. The ends are asked first: a good end that
/// fails, or a bad one that passes, is an error.
Result<FirstBad> find_first_bad(const std::vector<std::string> &commits, const Ask &ask);

/// The commits from `good` to `bad` along the first parents, whole names.
Result<std::vector<std::string>> commits_between(const std::filesystem::path &root, const std::string &good,
                                                 const std::string &bad);
/// "1a2b3c4d5e6f area: what it did".
std::string described(const std::filesystem::path &root, const std::string &commit);

/// Asks by running the cell in a worktree below `folder`, unless the store knows the answer; each new one is
/// kept there.
class Worktree {
  public:
    Worktree(std::filesystem::path root, std::filesystem::path folder, const Plan &plan, Store &store,
             Cell cell)
        : root_(std::move(root)), folder_(std::move(folder)), plan_(plan), store_(store),
          cell_(std::move(cell)) {}

    Result<Answer> ask(const std::string &commit);

  private:
    Status check_out(const std::string &commit);
    Result<Answer> keep(const std::string &commit, const Result<CellResult> &ran,
                        const std::filesystem::path &logs);

    std::filesystem::path root_, folder_;
    const Plan &plan_;
    Store &store_;
    Cell cell_;
};

} // namespace niclab::matrix
