// SPDX-License-Identifier: GPL-2.0-or-later
// What came out of cells: read, judged, kept, gone on with, searched. Cells are run by functions of the
// tests.
#include <csignal>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "niclab/matrix/files.h"
#include "niclab/matrix/history.h"
#include "niclab/matrix/night.h"
#include "niclab/paths.h"
#include "support/temp_folder.h"

namespace fs = std::filesystem;

namespace niclab::matrix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TestResult test_of(const std::string &name, Verdict verdict, const std::string &message = "") {
    TestResult test;
    test.name = name;
    test.verdict = verdict;
    test.message = message;
    return test;
}

CellResult result_of(bool passed, std::vector<TestResult> tests = {}) {
    CellResult result;
    result.passed = passed;
    result.why = passed ? "" : "1 of 2 tests failed";
    result.seconds = 60;
    result.tests = std::move(tests);
    return result;
}

// What Google Test prints, with a test that prints no line break and one with a parameter.
constexpr const char *kLog = R"([==========] Running 5 tests from 1 test suite.
[ RUN      ] Ping.Comes
[       OK ] Ping.Comes (12 ms)
[ RUN      ] Ping.Fails
some noise
../lab.cc:7: Failure
Expected equality of these values:
  1
half a line[  FAILED  ] Ping.Fails (1500 ms)
[ RUN      ] Sizes/Ping.Of/0
x.cc:9: Failure
Failed
[  FAILED  ] Sizes/Ping.Of/0, where GetParam() = 60 (3 ms)
[ RUN      ] Ping.Waits
x.cc:3: Skipped
no debug kernel

[  SKIPPED ] Ping.Waits (0 ms)
[ RUN      ] Ping.Dies
last words
)";

TEST(MatrixResult, ALogTellsEachTestAndThatOneDied) {
    std::vector<TestResult> tests = read_test_log(kLog);
    ASSERT_THAT(tests, SizeIs(5));
    EXPECT_EQ(tests[0].verdict, Verdict::passed);
    EXPECT_EQ(tests[0].seconds, 0.012);
    EXPECT_EQ(tests[1].name, "Ping.Fails");
    EXPECT_EQ(tests[1].verdict, Verdict::failed);
    EXPECT_EQ(tests[1].line, 6u);
    EXPECT_EQ(tests[1].seconds, 1.5);
    EXPECT_EQ(tests[1].message,
              "../lab.cc:7: Failure\nExpected equality of these values:\n  1\nhalf a line\n");
    EXPECT_EQ(tests[2].verdict, Verdict::failed);
    EXPECT_EQ(tests[2].name, "Sizes/Ping.Of/0");
    EXPECT_EQ(tests[3].verdict, Verdict::skipped);
    EXPECT_THAT(tests[3].message, HasSubstr("no debug kernel"));
    EXPECT_EQ(tests[4].verdict, Verdict::failed);
    EXPECT_THAT(tests[4].message, StartsWith("the program ended in this test\nlast words"));
    EXPECT_THAT(read_test_log(""), IsEmpty());
}

class Judged : public testing::Test {
  protected:
    CellResult judged(std::vector<TestResult> tests, const std::vector<Ended> &ended = {{"program", 0, 0}}) {
        CellResult result;
        result.tests = std::move(tests);
        judge(result, ended, plan_, *cell_named("unit"));
        return result;
    }
    Plan plan_;
};

TEST_F(Judged, ACellThatRanNothingFailed) {
    EXPECT_EQ(judged({}).why, "it ran nothing");
    CellResult skipped = judged({test_of("A.B", Verdict::skipped)});
    EXPECT_FALSE(skipped.passed);
    EXPECT_THAT(skipped.why, HasSubstr("ran nothing: all 1 tests were skipped"));
    EXPECT_TRUE(judged({test_of("A.B", Verdict::skipped), test_of("A.C", Verdict::passed)}).passed);
}

TEST_F(Judged, AProgramThatEndsBadlyThoughNoTestFailedFails) {
    CellResult result = judged({test_of("A.B", Verdict::passed)}, {{"one", 0, 0}, {"two", 139, 0}});
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.why, "two ended with status 139 though no test failed");
}

TEST_F(Judged, AQuarantinedFailureExcusesItselfAndNoOther) {
    plan_.quarantine.push_back({"A.*", {}, "slow host", "2027-01-31"});
    std::vector<TestResult> tests = {test_of("A.B", Verdict::failed, "lines"),
                                     test_of("C.D", Verdict::passed)};
    CellResult result = judged(tests, {{"program", 1, 1}});
    EXPECT_TRUE(result.passed) << result.why;
    EXPECT_EQ(result.tests[0].verdict, Verdict::quarantined);
    EXPECT_EQ(result.tests[0].message, "slow host (until 2027-01-31)\nlines");
    tests.push_back(test_of("C.E", Verdict::failed));
    result = judged(tests, {{"program", 1, 2}});
    EXPECT_EQ(result.why, "1 of 3 tests failed");
}

TEST(MatrixFiles, OtherProgramsCanReadThem) {
    CellResult result = result_of(false, {test_of("A.Good", Verdict::passed),
                                          test_of("A.Bad<1>", Verdict::failed, "1 < 2 & \"3\"\nmore\x01"),
                                          test_of("A.Later", Verdict::skipped, "no time\n"),
                                          test_of("A.Known", Verdict::quarantined, "why (until x)\n")});
    EXPECT_EQ(as_ktap("unit", result),
              "KTAP version 1\n1..1\n    KTAP version 1\n    1..4\n    ok 1 A.Good\n    not ok 2 A.Bad<1>\n"
              "    ok 3 A.Later # SKIP no time\n    not ok 4 A.Known # XFAIL why (until x)\nnot ok 1 unit\n# "
              "1 of 2 tests failed\n");
    std::string junit = as_junit("unit", result);
    EXPECT_THAT(junit, HasSubstr("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\""));
    EXPECT_THAT(junit, HasSubstr("<failure message=\"1 &lt; 2 &amp; &quot;3&quot;\">1 &lt; 2 &amp; "
                                 "&quot;3&quot;\nmore\xef\xbf\xbd</failure>"));
    EXPECT_THAT(as_junit("unit", result_of(false)), HasSubstr("errors=\"1\""));
    EXPECT_EQ(as_json("unit", result)["tests"][1]["verdict"], "failed");
}

TEST(MatrixFiles, LogPagesHaveAnAnchorForEachLineAndRunNoScript) {
    test::TempFolder folder;
    ASSERT_TRUE(write_file(folder.path() / "log.txt", "one\n<script>alert(1)</script>\n\xff three").ok());
    fs::create_directories(folder.path() / "runs/a");
    ASSERT_TRUE(write_file(folder.path() / "runs/a/console.log", "[ 1.0] boot\n").ok());
    ASSERT_TRUE(write_log_pages(folder.path(), "unit").ok());
    std::string page = *read_file(folder.path() / "log.html");
    EXPECT_THAT(
        page, HasSubstr("<span id=\"L2\"><a href=\"#L2\">2</a>&lt;script&gt;alert(1)&lt;/script&gt;</span>"));
    EXPECT_THAT(page, HasSubstr("\xef\xbf\xbd three"));
    EXPECT_THAT(page, testing::Not(HasSubstr("<script")));
    EXPECT_THAT(*read_file(folder.path() / "runs/a/console.html"), HasSubstr("id=\"L1\""));
}

class Kept : public testing::Test {
  protected:
    std::unique_ptr<Store> open() {
        auto store = Store::open(file_);
        if (!store.ok()) throw std::runtime_error(store.why());
        return store.take();
    }
    Night begun(Store &store, const std::vector<std::string> &cells, const std::string &commit = "c0",
                bool dirty = false) {
        Plan plan;
        for (const std::string &name : cells)
            plan.cells.push_back({*cell_named(name), 3, {}});
        plan.pruned.push_back({"cosim", "no time"});
        Night night = new_night(plan, "night.yaml", "text", {commit, dirty}, {{"host_kernel", "6.9"}});
        if (Status kept = store.begin(night); !kept.ok()) throw std::runtime_error(kept.why());
        return night;
    }
    NightOptions with(RunCell run, unsigned jobs = 1) {
        return {folder_.path() / "nights", jobs, std::move(run)};
    }

    test::TempFolder folder_;
    fs::path file_ = folder_.path() / "deep/nights.sqlite";
};
using MatrixStore = Kept;
using MatrixNight = Kept;

TEST_F(MatrixStore, GivesBackWhatItKeptToTheNextProcess) {
    {
        auto store = open();
        Night night = begun(*store, {"unit", "demo/6.1"});
        CellResult result =
            result_of(false, {test_of("A.B", Verdict::failed, std::string("zero\0byte \xff", 11))});
        result.tests[0].line = 7;
        result.measurements.push_back({"tx-60", "instructions", 1234.5});
        result.environment["qemu"] = "9";
        ASSERT_TRUE(store->set_running(night.cells[0].id, "/logs").ok());
        ASSERT_TRUE(store->finish(night.cells[0].id, result).ok());
    }
    auto last = open()->last_night();
    ASSERT_TRUE(last.ok() && last->has_value()) << last.why();
    const Night &night = **last;
    EXPECT_EQ(night.info.plan_text, "text");
    EXPECT_EQ(night.info.environment["host_kernel"], "6.9");
    EXPECT_EQ(night.info.ended, 0);
    EXPECT_EQ(night.pruned[0].reason, "no time");
    ASSERT_THAT(night.cells, SizeIs(2));
    const CellRow &cell = night.cells[0];
    EXPECT_EQ(cell.state, CellState::done);
    EXPECT_EQ(cell.folder, "/logs");
    EXPECT_EQ(cell.result.tests[0].message, std::string("zero\0byte \xff", 11));
    EXPECT_EQ(cell.result.tests[0].line, 7u);
    EXPECT_EQ(cell.result.measurements[0].value, 1234.5);
    EXPECT_EQ(night.cells[1].state, CellState::waiting);
}

TEST_F(MatrixStore, RefusesFilesThatAreNotItsOwn) {
    { open(); }
    sqlite3 *other = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "PRAGMA user_version = 99", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(other);
    EXPECT_THAT(Store::open(file_).why(), HasSubstr("version 99, and this niclab knows version 1"));

    fs::path text = folder_.path() / "text";
    std::ofstream(text) << "this is no database, but long enough to be looked at by SQLite as if it were one";
    EXPECT_THAT(Store::open(text).why(), HasSubstr("is not a file of results"));
    fs::path foreign = folder_.path() / "foreign";
    ASSERT_EQ(sqlite3_open(foreign.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "CREATE TABLE mine (a)", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(other);
    EXPECT_THAT(Store::open(foreign).why(), HasSubstr("another program's file"));
    EXPECT_THAT(Store::open(folder_.path()).why(), HasSubstr("cannot be written"));
}

// Where a file may grow no more, what was kept stays whole.
TEST_F(MatrixStore, AFullDiskIsOneSentenceAndKeepsWhatWasThere) {
    auto store = open();
    Night night = begun(*store, {"unit", "demo/6.1"});
    ASSERT_TRUE(store->finish(night.cells[0].id, result_of(true, {test_of("A.B", Verdict::passed)})).ok());
    auto fill = [&] {
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit{fs::file_size(file_), fs::file_size(file_)};
        setrlimit(RLIMIT_FSIZE, &limit);
        Status kept = store->finish(
            night.cells[1].id, result_of(true, {test_of("C.D", Verdict::passed, std::string(200'000, 'x'))}));
        fmt::print(stderr, "said: {}\n", kept.why());
        std::exit(kept.ok() ? 0 : 3);
    };
    EXPECT_EXIT(fill(), testing::ExitedWithCode(3), "said: .*nights.sqlite.*kept");
    auto last = store->last_night();
    ASSERT_TRUE(last.ok()) << last.why();
    EXPECT_EQ((*last)->cells[0].result.tests[0].name, "A.B");
    EXPECT_EQ((*last)->cells[1].state, CellState::waiting);
}

TEST_F(MatrixNight, GoesOnWhereItWasCutOff) {
    auto store = open();
    Night night = begun(*store, {"unit", "demo/6.1", "demo/6.12"});
    std::vector<std::string> ran;
    RunCell run = [&](const Cell &cell, const fs::path &) -> Result<CellResult> {
        ran.push_back(cell.name());
        if (cell.name() == "demo/6.1") return Error{"it does not build"};
        return result_of(true, {test_of("A.B", Verdict::passed)});
    };
    // As after kill -9 in the second cell.
    ASSERT_TRUE(store->finish(night.cells[0].id, result_of(true)).ok());
    ASSERT_TRUE(store->set_running(night.cells[1].id, "x").ok());
    auto resumed = night_to_resume(*store, "text", {"c0", false});
    ASSERT_TRUE(resumed.ok()) << resumed.why();
    Status ended = run_night(*resumed, *store, with(run));
    ASSERT_TRUE(ended.ok()) << ended.why();
    EXPECT_THAT(ran, ElementsAre("demo/6.1", "demo/6.12"));
    auto last = store->last_night();
    EXPECT_NE((*last)->info.ended, 0);
    EXPECT_EQ((*last)->cells[1].result.why, "it does not build");
    EXPECT_TRUE((*last)->cells[2].result.passed);
    EXPECT_TRUE(fs::exists(fs::path((*last)->cells[2].folder) / "junit.xml"));
    EXPECT_THAT(night_to_resume(*store, "text", {"c0", false}).why(), HasSubstr("came to its end"));
}

TEST_F(MatrixNight, AnotherFileOrCommitIsNotGoneOnWith) {
    auto store = open();
    EXPECT_THAT(night_to_resume(*store, "text", {"c0", false}).why(), HasSubstr("no night to resume"));
    begun(*store, {"unit"});
    EXPECT_THAT(night_to_resume(*store, "other", {"c0", false}).why(),
                HasSubstr("night.yaml is not what it was"));
    EXPECT_THAT(night_to_resume(*store, "text", {"c1", false}).why(), HasSubstr("began at commit c0"));
    EXPECT_THAT(night_to_resume(*store, "text", {"c0", true}).why(), HasSubstr("began at commit c0"));
}

TEST_F(MatrixNight, SeveralJobsRunEachCellOnce) {
    auto store = open();
    std::vector<std::string> cells = {"unit", "cosim", "selftests", "counting", "demo/6.1", "demo/6.12"};
    Night night = begun(*store, cells);
    std::mutex mutex;
    std::multiset<std::string> ran;
    ASSERT_TRUE(run_night(night, *store,
                          with(
                              [&](const Cell &cell, const fs::path &) -> Result<CellResult> {
                                  std::lock_guard lock(mutex);
                                  ran.insert(cell.name());
                                  return result_of(true);
                              },
                              3))
                    .ok());
    EXPECT_EQ(ran, std::multiset<std::string>(cells.begin(), cells.end()));
}

Night night_with(const std::string &commit, bool dirty, const std::vector<TestResult> &tests, bool passed) {
    static std::int64_t number = 0;
    Night night;
    night.info.id = ++number;
    night.info.commit = commit;
    night.info.dirty = dirty;
    CellRow row;
    row.name = "unit";
    row.state = CellState::done;
    row.result = result_of(passed, tests);
    night.cells.push_back(row);
    return night;
}

TEST(MatrixHistory, AFlakeChangesItsVerdictWhileTheCommitStays) {
    auto good = test_of("A.B", Verdict::passed), bad = test_of("A.B", Verdict::failed);
    EXPECT_THAT(find_flakes({night_with("c0", false, {good}, true), night_with("c1", false, {bad}, false)}),
                IsEmpty());
    EXPECT_THAT(find_flakes({night_with("c0", true, {good}, true), night_with("c0", true, {bad}, false)}),
                IsEmpty());
    EXPECT_THAT(find_flakes({night_with("c0", false, {good}, true),
                             night_with("c0", false, {test_of("A.B", Verdict::skipped)}, true)}),
                IsEmpty());
    EXPECT_THAT(find_flakes({night_with("c0", false, {good}, true), night_with("c0", false, {bad}, false),
                             night_with("c0", false, {good}, true)}),
                ElementsAre(Flake{"unit", "A.B", "c0", 2, 1}));
    EXPECT_THAT(find_flakes({night_with("c0", false, {}, true), night_with("c0", false, {}, false)}),
                ElementsAre(Flake{"unit", "", "c0", 1, 1}));
}

TEST(MatrixHistory, WhatFailedBeforeIsNotNew) {
    auto bad = test_of("A.B", Verdict::failed), worse = test_of("A.C", Verdict::failed);
    EXPECT_THAT(
        newly_failed({night_with("c0", false, {bad}, false), night_with("c1", false, {bad, worse}, false)}),
        ElementsAre("unit A.C"));
}

} // namespace
} // namespace niclab::matrix
