// SPDX-License-Identifier: GPL-2.0-or-later
// Logs that grow, processes that must end, and what dead runs leave.
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "niclab/console_log.h"
#include "niclab/leftovers.h"
#include "niclab/paths.h"
#include "niclab/process.h"
#include "support/marked_process.h"
#include "support/temp_folder.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InFolder : public ::testing::Test {
  protected:
    test::TempFolder temporary_;
    fs::path folder_ = temporary_.path();
};

using ConsoleLogTest = InFolder;

TEST_F(ConsoleLogTest, APanicIsFoundThoughTheLineComesInPieces) {
    std::ofstream out(folder_ / "console");
    ConsoleLog log(folder_ / "console");
    EXPECT_EQ(log.find_panic(), std::nullopt);
    out << "[ 1.0] fine\n[ 2.0] Kernel panic - not" << std::flush;
    EXPECT_EQ(log.find_panic(), std::nullopt);
    out << " syncing: No init\r\n[ 2.1] more\n" << std::flush;
    EXPECT_EQ(log.find_panic(), "Kernel panic - not syncing: No init");
    EXPECT_EQ(log.find_panic(), "Kernel panic - not syncing: No init");
}

TEST_F(ConsoleLogTest, TheLastLineIsTheLastThatSaysSomething) {
    ConsoleLog log(folder_ / "console");
    EXPECT_EQ(log.last_line(), "");
    EXPECT_EQ(log.size(), 0u);
    std::ofstream(folder_ / "console") << std::string(5000, 'x') << "\nfirst\r\nlast \r\n\n";
    EXPECT_EQ(log.last_line(), "last");
    EXPECT_EQ(log.text(5001), "first\r\nlast \r\n\n");
}

TEST(HostProcess, GivesStatusOutputAndErrorLines) {
    std::vector<std::string> lines;
    ProcessOptions options;
    options.on_error_line = [&](const std::string &line) { lines.push_back(line); };
    auto ended = run_process({"sh", "-c", "echo out; echo one >&2; echo two >&2; exit 3"}, options);
    ASSERT_TRUE(ended.ok()) << ended.why();
    EXPECT_EQ(ended->exit_code, 3);
    EXPECT_EQ(ended->out, "out\n");
    EXPECT_THAT(lines, ElementsAre("one", "two"));
}

TEST(HostProcess, AMissingProgramIsNamed) {
    auto ended = run_process({"no-such-program"});
    EXPECT_FALSE(ended.ok());
    EXPECT_THAT(ended.why(), HasSubstr("no-such-program"));
}

TEST(HostProcess, AtTheDeadlineTheWholeGroupEnds) {
    ProcessOptions options;
    options.limit = 300ms;
    std::vector<std::string> lines;
    options.on_error_line = [&](const std::string &line) { lines.push_back(line); };
    auto ended = run_process({"sh", "-c", "sleep 100 & echo $! >&2; wait"}, options);
    EXPECT_FALSE(ended.ok());
    EXPECT_THAT(ended.why(), HasSubstr("did not end"));
    ASSERT_EQ(lines.size(), 1u);
    // The grandchild is init's now, and a zombie at most once the signal has got to it.
    auto lives = [&] {
        auto stat = read_file("/proc/" + lines[0] + "/stat");
        return stat.ok() && !stat->empty() && stat->find(") Z ") == std::string::npos;
    };
    for (Deadline deadline = Deadline::in(10s); lives() && !deadline.expired();)
        usleep(1000);
    EXPECT_FALSE(lives());
}

using test::start_marked;
using Leftovers = InFolder;

TEST_F(Leftovers, AFolderIsStaleOnlyWhenItsOwnerIsGone) {
    fs::create_directory(folder_ / process_identity(getpid()));
    fs::create_directory(folder_ / (std::to_string(getpid()) + "-1")); // our number, another start
    fs::create_directory(folder_ / "1-1");
    fs::create_directory(folder_ / "something-else");
    auto stale = stale_folders(folder_);
    EXPECT_THAT(
        stale, ::testing::UnorderedElementsAre(folder_ / (std::to_string(getpid()) + "-1"), folder_ / "1-1"));
}

TEST_F(Leftovers, SweepEndsTheProcessesOfThatFolderOnly) {
    fs::path dead = folder_ / "12-3", other = folder_ / "12-34";
    fs::create_directories(dead / "libvirt");
    fs::create_directory(other);
    pid_t ours = start_marked(dead), theirs = start_marked(other);
    EXPECT_THAT(processes_of(dead), ElementsAre(ours));

    // sweep() waits for the end, which comes when the parent has taken the status.
    std::signal(SIGCHLD, SIG_IGN);
    EXPECT_TRUE(sweep(dead));
    EXPECT_FALSE(fs::exists(dead));
    EXPECT_EQ(kill(ours, 0), -1);
    EXPECT_EQ(kill(theirs, 0), 0);
    EXPECT_TRUE(sweep(other));
    std::signal(SIGCHLD, SIG_DFL);
}

/// Until process `pid` ignores the signal (proc(5), "SigIgn"), or 10 s have passed.
void await_ignored(pid_t pid, int number) {
    for (Deadline deadline = Deadline::in(10s); !deadline.expired(); usleep(1000)) {
        auto status = read_file("/proc/" + std::to_string(pid) + "/status");
        size_t at = status.ok() ? status->find("SigIgn:") : std::string::npos;
        if (at != std::string::npos && std::stoull(status->substr(at + 7), nullptr, 16) >> (number - 1) & 1)
            return;
    }
    FAIL() << "signal " << number << " is not ignored";
}

// The owner's end is the end of the reaper's input; no signal to the reaper comes before it.
TEST_F(Leftovers, TheReaperEndsWhatItsOwnerLeft) {
    fs::path owned = folder_ / "12-3";
    fs::create_directory(owned);
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_t reaper = fork();
    if (reaper == 0) {
        dup2(ends[0], 0);
        execl(reaper_program().c_str(), "niclab-reaper", nullptr);
        _exit(127);
    }
    close(ends[0]);
    std::string line = owned.string() + "\n";
    ASSERT_EQ(write(ends[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    pid_t left = start_marked(owned);
    await_ignored(reaper, SIGTERM);
    kill(reaper, SIGTERM);

    close(ends[1]);
    int status = 0;
    EXPECT_EQ(waitpid(left, &status, 0), left);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    EXPECT_EQ(waitpid(reaper, &status, 0), reaper);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_FALSE(fs::exists(owned));
}

TEST(ProcessIdentity, OfAProcessThatIsNotThereIsEmpty) {
    EXPECT_EQ(process_identity(0x7ffffff0), "");
    EXPECT_EQ(process_identity(getpid()), process_identity(getpid()));
    EXPECT_THAT(process_identity(getpid()), ::testing::StartsWith(std::to_string(getpid()) + "-"));
}

} // namespace
} // namespace niclab
