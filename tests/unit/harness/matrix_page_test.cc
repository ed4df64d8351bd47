// SPDX-License-Identifier: GPL-2.0-or-later
// The page of nights: what stands in it, and what Chromium shows of it in both themes, wide and narrow.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/base64.h"
#include "niclab/matrix/page.h"
#include "niclab/paths.h"
#include "niclab/process.h"
#include "support/temp_folder.h"

namespace fs = std::filesystem;

namespace niclab::matrix {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char *kBench = "bench/6.1/niclab/connectx/intel/lazy";
constexpr const char *kOurs = "scenarios/6.1/niclab/connectx/intel/lazy";
constexpr const char *kStock = "scenarios/6.1/mlx5_core/connectx/none";

TestResult test_of(const std::string &name, Verdict verdict, const std::string &message = "",
                   size_t line = 0) {
    TestResult test;
    test.name = name;
    test.verdict = verdict;
    test.message = message;
    test.line = line;
    return test;
}

CellRow cell_of(const fs::path &folder, const std::string &name, std::vector<TestResult> tests,
                const std::string &why = "") {
    CellRow cell;
    cell.name = name;
    cell.state = CellState::done;
    cell.expected_minutes = 4;
    cell.folder = folder / "nights/1" / name;
    cell.result.passed = why.empty();
    cell.result.why = why;
    cell.result.seconds = 150;
    cell.result.tests = std::move(tests);
    return cell;
}

/// Three nights, the first two at one commit; in the last one a cell fails, with text in it that wants to be
/// HTML.
std::vector<Night> three_nights(const fs::path &folder) {
    std::vector<Night> nights(3);
    auto good = test_of("Queues.Few", Verdict::passed);
    auto excused = test_of("Link.Slow", Verdict::quarantined, "slow host (until 2027-01-31)\nlines", 9);
    for (size_t i = 0; i < nights.size(); ++i) {
        Night &night = nights[i];
        night.info.id = static_cast<std::int64_t>(i) + 1;
        night.info.began = 1'780'000'000 + static_cast<std::int64_t>(i) * 86'400;
        night.info.ended = night.info.began + 3600;
        night.info.commit = i < 2 ? "aaaaaaaaaaaa1111" : "bbbbbbbbbbbb2222";
        night.info.environment = {{"host_kernel", "6.9 <b>"}};
        night.pruned = {{"cosim", "no time"}};
        bool flicker = i == 1;
        night.cells.push_back(cell_of(
            folder, kStock, {test_of("Ping.Comes", flicker ? Verdict::failed : Verdict::passed), good},
            flicker ? "1 of 2 tests failed" : ""));
        CellRow bench = cell_of(folder, kBench, {test_of("tx-60", Verdict::passed)});
        bench.result.measurements = {{"tx-60", "instructions", i < 2 ? 2000.0 : 1500.0}};
        night.cells.push_back(bench);
        night.cells.push_back(cell_of(folder, kOurs, {good, excused}));
    }
    std::string long_line(300, 'x');
    CellRow &ours = nights.back().cells.back();
    ours = cell_of(folder, kOurs,
                   {test_of("Queues.Few", Verdict::failed,
                            "lab.cc:7: Failure\n<script>document.title='taken'</script>\n" + long_line, 42),
                    excused},
                   "1 of 2 tests failed");
    ours.result.environment["complaints"] = {
        {{"fingerprint", "oops nic_tx_arm"}, {"text", "BUG: kernel NULL pointer\n<img src=x>"}}};
    CellRow waiting;
    waiting.name = "selftests";
    waiting.expected_minutes = 9;
    nights.back().cells.push_back(waiting);
    return nights;
}

TEST(MatrixPage, VerdictsComeFirstAndEverythingIsEscaped) {
    std::string page = report_page(three_nights("/x"), "/x/nightly.html");
    for (const char *text : {"✗ 1 of 4 cells failed", "oops nic_tx_arm", "lab.cc:7: Failure",
                             "slow host (until 2027-01-31)", "▼ 25.0 %", "… not run", "6.9 &lt;b&gt;",
                             "no time", "&lt;script&gt;document.title=&#39;taken&#39;&lt;/script&gt;",
                             "href=\"nights/1/scenarios/6.1/niclab/connectx/intel/lazy/log.html#L42\""})
        EXPECT_THAT(page, HasSubstr(text));
    for (const char *text : {"<script", "<img", "<b>\n", "http:", "https:", " src=\"", "@import"})
        EXPECT_THAT(page, Not(HasSubstr(text)));
    EXPECT_LT(page.find("Queues.Few"), page.find("<h2>Matrix"));
    EXPECT_LT(page.find("oops nic_tx_arm"), page.find("Queues.Few"));
}

TEST(MatrixPage, ANewFailureAndAFlakeAreToldApart) {
    std::string page = report_page(three_nights("/x"), "/x/nightly.html");
    EXPECT_THAT(page, HasSubstr("<b>Queues.Few</b> <span class=\"tag bad\">new</span>"));
    EXPECT_THAT(page, HasSubstr("<th>scenarios/6.1/mlx5_core/connectx/none</th><td "
                                "class=\"text\">Ping.Comes</td><td>aaaaaaaaaaaa</td>"));
}

TEST(MatrixPage, OneNightAloneHasNoTrendAndNothingBeforeIt) {
    std::vector<Night> nights = three_nights("/x");
    std::string page = report_page({nights.front()}, "/x/nightly.html");
    EXPECT_THAT(page, HasSubstr("✓ all 3 cells passed"));
    EXPECT_THAT(page, HasSubstr("first measured"));
    EXPECT_THAT(page, Not(HasSubstr("<h2>Trend")));
}

TEST(MatrixPage, LinksSurviveOddFolders) {
    CellRow cell = cell_of("/x/a b#c", "unit", {});
    EXPECT_EQ(parts::log_link(cell, "/x", 3), "a%20b%23c/nights/1/unit/log.html#L3");
}

/// What Chromium shows of a page in a frame of that width.
class Browser : public testing::Test {
  protected:
    void SetUp() override {
        auto found = run_process({"sh", "-c", "command -v chromium"});
        if (!found.ok() || found->exit_code != 0)
            GTEST_SKIP() << "Chromium is not installed; make setup does that";
        page_ = folder_.path() / "nightly.html";
        ASSERT_TRUE(write_file(page_, report_page(three_nights(folder_.path()), page_)).ok());
    }

    nlohmann::json shown(int width, bool dark) {
        // The frame's own script, so that the page is looked at as it is. Narrow windows exist only as
        // frames.
        std::ofstream(folder_.path() / "frame.html") << fmt::format(
            R"(<!doctype html><meta charset="utf-8"><style>:root{{color-scheme:light dark}}iframe{{width:{}px;height:800px;border:0}}</style>
<iframe id="f" src="nightly.html"></iframe><pre id="out"></pre><script>
f.onload=()=>{{const w=f.contentWindow,d=w.document,c=w.getComputedStyle(d.body);
const rect=w.document.querySelector('svg rect.new').getBoundingClientRect();
out.textContent='<<'+btoa(unescape(encodeURIComponent(JSON.stringify({{width:w.innerWidth,needs:d.documentElement.scrollWidth,
background:c.backgroundColor,color:c.color,title:d.title,text:d.body.innerText,links:[...d.links].map(a=>a.getAttribute('href')),
fetched:w.performance.getEntriesByType('resource').length,bar:rect.width}}))))+'>>'}}</script>)",
            width);
        ProcessOptions options;
        options.limit = std::chrono::minutes(3);
        auto ended = run_process({"chromium", "--headless", "--no-sandbox", "--disable-gpu",
                                  "--allow-file-access-from-files", "--window-size=1400,900",
                                  "--user-data-dir=" + (folder_.path() / "profile").string(),
                                  fmt::format("--blink-settings=preferredColorScheme={}", dark ? 0 : 1),
                                  "--dump-dom", "file://" + (folder_.path() / "frame.html").string()},
                                 options);
        if (!ended.ok()) throw std::runtime_error(ended.why());
        size_t from = ended->out.find("&lt;&lt;"), to = ended->out.find("&gt;&gt;");
        if (from == std::string::npos || to == std::string::npos)
            throw std::runtime_error("Chromium shows no frame: " + ended->out + ended->err);
        return nlohmann::json::parse(base64_decode(ended->out.substr(from + 8, to - from - 8)));
    }

    /// Red of "rgb(246, 247, 249)", as a measure of how bright it is.
    static int red(const nlohmann::json &colour) { return std::atoi(colour.get<std::string>().c_str() + 4); }

    test::TempFolder folder_;
    fs::path page_;
};
using MatrixPageInChromium = Browser;

TEST_F(MatrixPageInChromium, FollowsTheThemeFitsAPhoneAndFetchesNothing) {
    for (bool dark : {false, true})
        for (int width : {390, 1200}) {
            SCOPED_TRACE(fmt::format("{} px, {}", width, dark ? "dark" : "light"));
            nlohmann::json seen = shown(width, dark);
            EXPECT_EQ(seen["width"], width);
            EXPECT_LE(seen["needs"].get<int>(), width) << "the page is wider than the window";
            EXPECT_EQ(red(seen["background"]) > 128, !dark) << seen["background"];
            EXPECT_EQ(red(seen["color"]) > 128, dark) << seen["color"];
            EXPECT_EQ(seen["fetched"], 0);
            EXPECT_EQ(seen["title"], "niclab, night 3");
            EXPECT_GT(seen["bar"].get<double>(), 100);
            std::string text = seen["text"];
            for (const char *part :
                 {"1 of 4 cells failed", "oops nic_tx_arm", "<script>document.title='taken'</script>",
                  "Trend", "1500", "2000", "not run"})
                EXPECT_THAT(text, HasSubstr(part));
            EXPECT_THAT(seen["links"],
                        Contains("nights/1/scenarios/6.1/niclab/connectx/intel/lazy/log.html#L42"));
        }
}

} // namespace
} // namespace niclab::matrix
