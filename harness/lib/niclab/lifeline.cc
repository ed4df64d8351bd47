// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/lifeline.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "niclab/leftovers.h"
#include "niclab/paths.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

/// The second request does not wait for an orderly end: the reaper ends the rest.
void on_signal(int number) {
    if (g_signal.exchange(number) != 0) _exit(128 + number);
}

/// A signal that the caller's shell chose to ignore (nohup) stays ignored.
void take_over_signals() {
    for (int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction old {};
        sigaction(number, nullptr, &old);
        if (old.sa_handler != SIG_DFL) continue;
        struct sigaction ours {};
        ours.sa_handler = on_signal;
        sigaction(number, &ours, nullptr);
    }
}

struct Spawned {
    int input;
    pid_t pid;
};

/// The reaper gets a session of its own, so that a signal to our terminal or process group does not reach it,
/// and none of our outputs, so that a reader of ours sees the end of file when we end.
Result<Spawned> spawn_reaper() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Error{std::string("cannot make a pipe: ") + std::strerror(errno)};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[0], 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::string program = reaper_program();
    char *const argv[] = {program.data(), nullptr};
    char *const environment[] = {nullptr};
    pid_t pid = 0;
    int failed = posix_spawn(&pid, program.c_str(), &files, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(ends[0]);
    if (failed) {
        close(ends[1]);
        return Error{"cannot start " + program + ": " + std::strerror(failed)};
    }
    return Spawned{ends[1], pid};
}

} // namespace

Result<Lifeline *> Lifeline::get() {
    static std::mutex mutex;
    static std::unique_ptr<Lifeline> ours;
    std::lock_guard lock(mutex);
    if (ours) return ours.get();
    fs::path root = NICLAB_TRY(state_root());
    for (const fs::path &stale : stale_folders(root))
        sweep(stale);
    fs::path folder = root / process_identity(getpid());
    std::error_code failed;
    fs::create_directory(folder, failed);
    if (failed) return Error{"cannot make " + folder.string() + ": " + failed.message()};
    Spawned reaper = NICLAB_TRY(spawn_reaper());
    std::string line = folder.string() + "\n";
    if (write(reaper.input, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        return Error{std::string("the reaper does not listen: ") + std::strerror(errno)};
    take_over_signals();
    ours.reset(new Lifeline(folder, reaper.input, reaper.pid));
    return ours.get();
}

Lifeline::~Lifeline() {
    close(reaper_input_);
    waitpid(reaper_pid_, nullptr, 0);
}

int Lifeline::interrupted() { return g_signal.load(); }

Error Lifeline::interruption() {
    return Error{std::string("interrupted by SIG") + sigabbrev_np(interrupted())};
}

} // namespace niclab
