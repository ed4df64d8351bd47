// SPDX-License-Identifier: GPL-2.0-or-later
// The same verdicts whatever the language and the time zone; a full disk is called one.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "niclab/paths.h"
#include "niclab/process.h"
#include "niclab/run_folder.h"
#include "niclab/space.h"
#include "support/temp_folder.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// An environment variable for the length of a test.
class Variable {
  public:
    Variable(const char *name, const char *value) : name_(name) {
        if (const char *was = std::getenv(name)) before_ = was;
        setenv(name, value, /*overwrite=*/1);
        tzset();
    }
    Variable(const Variable &) = delete;
    Variable &operator=(const Variable &) = delete;
    ~Variable() {
        before_ ? setenv(name_, before_->c_str(), /*overwrite=*/1) : unsetenv(name_);
        tzset();
    }

  private:
    const char *name_;
    std::optional<std::string> before_;
};

TEST(Language, OfProgramsThatWeReadIsOneWhateverTheCallers) {
    for (const char *language : {"ja_JP.UTF-8", "de_DE.UTF-8", "uk_UA.UTF-8", "C", ""}) {
        Variable lang("LANG", language), all("LC_ALL", language), messages("LC_MESSAGES", language),
            list("LANGUAGE", "de:ja");
        auto ended = run_process({"sh", "-c", "env | grep -E '^(LANG|LC_)' | sort"});
        ASSERT_TRUE(ended.ok()) << ended.why();
        EXPECT_EQ(ended->out, "LC_ALL=C.UTF-8\n") << language;
    }
}

std::string utc(const char *format) {
    char text[64];
    time_t now = time(nullptr);
    tm calendar{};
    gmtime_r(&now, &calendar);
    return std::string(text, strftime(text, sizeof text, format, &calendar));
}

TEST(TimeZone, OfRunsAndLogsIsUtc) {
    for (const char *zone : {"Asia/Kathmandu", ":NPT-5:45", "America/New_York", "UTC"}) {
        Variable where("TZ", zone);
        std::string before = utc("%Y%m%dT%H%M%S"), line_before = utc("%FT%T");
        auto run = RunFolder::create("time-zone");
        ASSERT_TRUE(run.ok()) << run.why();
        run->log("x.log", "words");
        std::string after = utc("%Y%m%dT%H%M%S"), name = run->path().filename(), stamp = name.substr(0, 15);
        EXPECT_LE(before, stamp) << zone;
        EXPECT_LE(stamp, after) << zone;
        EXPECT_GE(read_file(run->file("x.log"))->substr(0, 19), line_before) << zone;
        EXPECT_LE(read_file(run->file("x.log"))->substr(0, 19), utc("%FT%T")) << zone;
        fs::remove_all(run->path());
    }
}

/// Runs `body` where `folder` is a file system of `size`; nobody else sees it, and it goes with the child.
/// The child's sentence comes back.
std::string on_small_disk(const fs::path &folder, const char *size,
                          const std::function<std::string()> &body) {
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    pid_t child = fork();
    if (child == 0) {
        std::string said = "cannot mount";
        if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            mount("tmpfs", folder.c_str(), "tmpfs", 0, (std::string("size=") + size).c_str()) == 0)
            said = body();
        (void)!write(ends[1], said.data(), said.size());
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<size_t>(n));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return said;
}

class SmallDisk : public ::testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
    }
    test::TempFolder temporary_;
    fs::path folder_ = temporary_.path();
};

TEST_F(SmallDisk, IsRefusedBeforeTheStartWithItsName) {
    EXPECT_EQ(
        on_small_disk(folder_, "64m",
                      [&] { return require_space(folder_ / "not/there/yet", kRunBytes, "a run").why(); }),
        "no space: " + (folder_ / "not/there/yet").string() +
            " has 64 MiB free and a run needs 256; free some");
    EXPECT_EQ(
        on_small_disk(folder_, "512m", [&] { return require_space(folder_, kRunBytes, "a run").why(); }), "");
}

TEST_F(SmallDisk, ThatFillsUpIsTheVerdictAndFinishedResultsStay) {
    std::string said = on_small_disk(folder_, "64m", [&]() -> std::string {
        fs::path result = folder_ / "result.json";
        if (!write_file(result, "{}").ok()) return "the first file cannot be written";
        std::ofstream(folder_ / "log") << std::string(100 << 20, 'x');
        Status second = write_file(folder_ / "second.json", std::string(1 << 20, 'y'));
        Status again = write_file(result, std::string(1 << 20, 'z'));
        size_t files = 0;
        for ([[maybe_unused]] const auto &file : fs::directory_iterator(folder_))
            ++files;
        if (again.ok() || *read_file(result) != "{}") return "the finished result was touched";
        if (files != 2) return "half a file is left";
        return second.why() + "\n" + with_space_looked_at("the guest fell silent", {"/", folder_}).what;
    });
    EXPECT_THAT(said, StartsWith("no space: " + folder_.string() + " is full"));
    EXPECT_THAT(said, HasSubstr("\nno space: " + folder_.string() +
                                " is full; free some (seen as: the guest fell silent)"));
}

TEST(Space, WhereThereIsSomeTheCauseKeepsItsWords) {
    EXPECT_EQ(with_space_looked_at("the guest fell silent", {fs::temp_directory_path()}).what,
              "the guest fell silent");
}

} // namespace
} // namespace niclab
