// SPDX-License-Identifier: GPL-2.0-or-later
// The search for the first bad commit: halving, and in a clone whose suite is a script.
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/matrix/bisect.h"
#include "niclab/paths.h"
#include "niclab/process.h"
#include "support/temp_folder.h"

namespace fs = std::filesystem;

namespace niclab::matrix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Commits "0" to "9"; those from `first_bad` on fail, `silent` ones say nothing.
Result<FirstBad> search(int first_bad, std::set<int> silent, unsigned *asked = nullptr) {
    std::vector<std::string> commits;
    for (int i = 0; i < 10; ++i)
        commits.push_back(std::to_string(i));
    return find_first_bad(commits, [=](const std::string &commit) -> Result<Answer> {
        int number = std::stoi(commit);
        if (asked) ++*asked;
        if (silent.contains(number)) return Answer::unknown;
        return number >= first_bad ? Answer::bad : Answer::good;
    });
}

TEST(MatrixBisect, FindsTheFirstBadCommitWhereverItIs) {
    for (int first = 1; first < 10; ++first) {
        auto found = search(first, {});
        ASSERT_TRUE(found.ok()) << found.why();
        EXPECT_THAT(found->commits, ElementsAre(std::to_string(first)));
        EXPECT_LE(found->asked, 2u + 4u);
    }
}

TEST(MatrixBisect, CommitsThatSayNothingAreGoneRound) {
    for (int first = 1; first < 10; ++first)
        for (int mute = 1; mute < 9; ++mute) {
            auto found = search(first, {mute});
            ASSERT_TRUE(found.ok()) << found.why();
            // The silent one can be told from its neighbour only when it is neither the first bad one nor
            // next to it.
            if (mute == first || mute == first - 1)
                EXPECT_THAT(found->commits, testing::Contains(std::to_string(first))) << mute;
            else
                EXPECT_THAT(found->commits, ElementsAre(std::to_string(first))) << mute;
        }
    EXPECT_THAT(search(5, {1, 2, 3, 4, 5, 6, 7, 8})->commits, SizeIs(9));
}

TEST(MatrixBisect, EndsThatAreNotWhatTheyAreCalledAreErrors) {
    EXPECT_THAT(search(0, {}).why(), HasSubstr("0 is not good: the cell fails there already"));
    EXPECT_THAT(search(99, {}).why(), HasSubstr("9 is not bad: the cell passes there"));
    EXPECT_THAT(search(5, {0}).why(), HasSubstr("0 cannot be called good"));
    EXPECT_THAT(search(5, {9}).why(), HasSubstr("9 cannot be called bad"));
}

class Repository : public testing::Test {
  protected:
    void SetUp() override {
        // A suite of a clone that is nothing but scripts: it fails from commit 3 on, and commit 4 does not
        // build.
        git("init -q . && git config user.name t && git config user.email t@example.org && mkdir -p tests");
        for (int i = 0; i < 6; ++i) {
            std::string test = fmt::format("echo '[ RUN      ] A.B'; echo '[  {} ] A.B (1 ms)'; exit {}",
                                           i >= 4 ? "FAILED " : "     OK", i >= 4 ? 1 : 0);
            std::ofstream(root_ / "tests/configure")
                << "#!/bin/sh\nmkdir -p build/asan/tests/unit\ncat >build/asan/tests/unit/t "
                   "<<'X'\n#!/bin/sh\n"
                << test << "\nX\nchmod +x build/asan/tests/unit/t\necho 'rule r\n command = "
                << (i == 2 ? "false" : "true") << "\nbuild tests-unit: r' >build/asan/build.ninja\n";
            fs::permissions(root_ / "tests/configure", fs::perms::owner_all);
            git(fmt::format("add . && git commit --allow-empty -qm 'number {}'", i));
        }
        commits_ = *commits_between(root_, "HEAD~5", "HEAD");
    }
    void git(const std::string &words) {
        auto ended = run_process({"sh", "-c", fmt::format("cd '{}' && git {}", root_.string(), words)});
        if (!ended.ok() || ended->exit_code != 0)
            throw std::runtime_error(words + ": " + (ended.ok() ? ended->err : ended.why()));
    }
    Result<FirstBad> search(Store &store, unsigned &tried) {
        Worktree tree(root_, folder_.path() / "bisect", plan_, store, *cell_named("unit"));
        return find_first_bad(commits_, [&](const std::string &commit) {
            ++tried;
            return tree.ask(commit);
        });
    }
    std::unique_ptr<Store> open() {
        auto store = Store::open(folder_.path() / "nights.sqlite");
        if (!store.ok()) throw std::runtime_error(store.why());
        return store.take();
    }

    test::TempFolder folder_;
    fs::path root_ = [this] {
        fs::create_directories(folder_.path() / "clone");
        return folder_.path() / "clone";
    }();
    Plan plan_;
    std::vector<std::string> commits_;
};
using MatrixBisectIn = Repository;

TEST_F(MatrixBisectIn, AWorktreeFindsTheCommitAndAsksTheStoreTheNextTime) {
    ASSERT_THAT(commits_, SizeIs(6));
    auto store = open();
    unsigned tried = 0;
    auto found = search(*store, tried);
    ASSERT_TRUE(found.ok()) << found.why();
    EXPECT_THAT(found->commits, ElementsAre(commits_[4]));
    EXPECT_EQ(described(root_, commits_[4]), commits_[4].substr(0, 12) + " number 4");
    EXPECT_EQ(*store->known("unit", commits_[3]), std::optional(true));
    EXPECT_EQ(*store->known("unit", commits_[4]), std::optional(false));
    EXPECT_EQ(*store->known("unit", commits_[2]), std::nullopt);
    EXPECT_THAT(*store->nights(10), IsEmpty()) << "a search is no night";
    fs::path logs = folder_.path() / "bisect/logs";
    EXPECT_TRUE(fs::exists(logs / commits_[4].substr(0, 12)));
    fs::remove_all(logs);
    found = search(*store, tried);
    EXPECT_THAT(found->commits, ElementsAre(commits_[4]));
    EXPECT_TRUE(fs::exists(logs / commits_[2].substr(0, 12))) << "what said nothing is tried again";
    EXPECT_FALSE(fs::exists(logs / commits_[4].substr(0, 12)));
}

TEST_F(MatrixBisectIn, CommitsAreCheckedBeforeAnythingRuns) {
    EXPECT_THAT(commits_between(root_, "frob", "HEAD").why(), HasSubstr("'frob' names no commit"));
    EXPECT_THAT(commits_between(root_, "--all", "HEAD").why(), HasSubstr("'--all' names no commit"));
    EXPECT_THAT(commits_between(root_, "HEAD", "HEAD").why(), HasSubstr("same commit"));
    EXPECT_THAT(commits_between(root_, "HEAD", "HEAD~1").why(), HasSubstr("did not come before"));
}

} // namespace
} // namespace niclab::matrix
