// SPDX-License-Identifier: GPL-2.0-or-later
// However a run is ended, what it started ends too, and nothing of another run does.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "niclab/deadline.h"
#include "niclab/leftovers.h"
#include "niclab/lifeline.h"
#include "niclab/process.h"
#include "support/marked_process.h"
#include "support/temp_folder.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

using namespace std::chrono_literals;

bool comes_true(const std::function<bool()> &what) {
    for (Deadline deadline = Deadline::in(10s); !deadline.expired(); usleep(5000))
        if (what()) return true;
    return what();
}

constexpr const char *kVictim = "NICLAB_TEST_VICTIM";

/// What a victim does instead of tests: it says where its state is, and waits for processes that do not end.
class VictimsLife : public ::testing::Environment {
  public:
    void SetUp() override {
        if (!std::getenv(kVictim)) return;
        auto lifeline = Lifeline::get();
        std::printf("{%s}\n", lifeline.ok() ? (*lifeline)->folder().c_str() : "");
        std::fflush(stdout);
        ProcessOptions options;
        options.limit = 300s;
        (void)run_process({"sh", "-c", "sleep 300 & sleep 300"}, options);
        std::exit(0);
    }
};
const auto *const victims_life = ::testing::AddGlobalTestEnvironment(new VictimsLife);

/// This very program as a victim, on a terminal of its own.
class Victim {
  public:
    Victim() {
        pid_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
        if (pid_ == 0) {
            setenv(kVictim, "1", /*overwrite=*/1);
            execl("/proc/self/exe", "victim", nullptr);
            _exit(127);
        }
        std::string said;
        char buffer[512];
        for (ssize_t n;
             said.find("}\r\n") == std::string::npos && (n = read(terminal_, buffer, sizeof buffer)) > 0;)
            said.append(buffer, static_cast<size_t>(n));
        size_t at = said.find("{"), end = said.find('}');
        if (at < end) folder_ = said.substr(at + 1, end - at - 1);
    }
    Victim(const Victim &) = delete;
    Victim &operator=(const Victim &) = delete;
    ~Victim() { close_terminal(); }

    void close_terminal() {
        if (terminal_ >= 0) close(terminal_);
        terminal_ = -1;
    }
    void signal(int number) const { kill(pid_, number); }
    void wait() const { waitpid(pid_, nullptr, 0); }
    const fs::path &folder() const { return folder_; }

  private:
    int terminal_ = -1;
    pid_t pid_ = 0;
    fs::path folder_;
};

void expect_nothing_left(const std::function<void(Victim &)> &end) {
    test::TempFolder elsewhere;
    pid_t bystander = test::start_marked(elsewhere.path() / "1-1");
    Victim victim;
    ASSERT_FALSE(victim.folder().empty());
    // The shell and both of what it started.
    ASSERT_TRUE(comes_true([&] { return processes_of(victim.folder()).size() == 3; }));
    end(victim);
    victim.wait();
    EXPECT_TRUE(
        comes_true([&] { return processes_of(victim.folder()).empty() && !fs::exists(victim.folder()); }));
    EXPECT_EQ(kill(bystander, 0), 0);
    kill(bystander, SIGKILL);
    waitpid(bystander, nullptr, 0);
}

TEST(KilledRun, ByTermLeavesNothing) {
    expect_nothing_left([](Victim &victim) { victim.signal(SIGTERM); });
}
TEST(KilledRun, ByKillLeavesNothing) {
    expect_nothing_left([](Victim &victim) { victim.signal(SIGKILL); });
}
TEST(KilledRun, ByCtrlCTwiceLeavesNothing) {
    expect_nothing_left([](Victim &victim) {
        victim.signal(SIGINT);
        victim.signal(SIGINT);
    });
}
TEST(KilledRun, ByAClosedTerminalLeavesNothing) {
    expect_nothing_left([](Victim &victim) { victim.close_terminal(); });
}

} // namespace
} // namespace niclab
