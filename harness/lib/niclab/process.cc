// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "niclab/leftovers.h"
#include "niclab/lifeline.h"

extern char **environ;

namespace niclab {
namespace {

struct Pipe {
    int read = -1;
    int write = -1;
    Pipe() = default;
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    ~Pipe() {
        close_end(read);
        close_end(write);
    }
    bool open() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return false;
        read = ends[0];
        write = ends[1];
        return true;
    }
    static void close_end(int &end) {
        if (end >= 0) close(end);
        end = -1;
    }
};

/// What programs say is read by us, so they say it in one language.
bool is_language(std::string_view variable) {
    return variable.starts_with("LC_") || variable.starts_with("LANG=") || variable.starts_with("LANGUAGE=");
}

std::vector<std::string> marked_environment(const std::string &owner) {
    std::vector<std::string> result;
    for (char **entry = environ; *entry; ++entry)
        if (!is_language(*entry)) result.emplace_back(*entry);
    result.emplace_back("LC_ALL=C.UTF-8");
    result.push_back(std::string(kOwnerVariable) + "=" + owner);
    return result;
}

std::vector<char *> pointers(std::vector<std::string> &strings) {
    std::vector<char *> result;
    result.reserve(strings.size() + 1);
    for (std::string &text : strings)
        result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

Result<pid_t> spawn(std::vector<std::string> argv, const std::string &owner, int out, int err) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, err, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    auto environment = marked_environment(owner);
    pid_t pid = 0;
    int failed = posix_spawnp(&pid, argv[0].c_str(), &files, &attributes, pointers(argv).data(),
                              pointers(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed) return Error{"cannot run " + argv[0] + ": " + std::strerror(failed)};
    return pid;
}

/// Passes whole lines on and keeps everything.
class LineTap {
  public:
    LineTap(std::string &all, const std::function<void(const std::string &)> &on_line)
        : all_(all), on_line_(on_line) {}
    void add(const char *data, size_t length) {
        all_.append(data, length);
        if (!on_line_) return;
        for (size_t end = all_.find('\n', passed_); end != std::string::npos;
             end = all_.find('\n', passed_)) {
            on_line_(all_.substr(passed_, end - passed_));
            passed_ = end + 1;
        }
    }

  private:
    std::string &all_;
    const std::function<void(const std::string &)> &on_line_;
    size_t passed_ = 0;
};

/// Reads both pipes until their writers are gone.
Status collect(Pipe &out, Pipe &err, const Deadline &deadline, const ProcessOptions &options,
               const std::string &program, ProcessResult &result) {
    const std::function<void(const std::string &)> nobody;
    LineTap taps[] = {{result.out, nobody}, {result.err, options.on_error_line}};
    std::array<pollfd, 2> ends{{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        if (Lifeline::interrupted()) return Lifeline::interruption();
        if (deadline.expired())
            return Error{program + " did not end within " + std::to_string(deadline.limit().count() / 1000) +
                         " s"};
        poll(ends.data(), ends.size(),
             static_cast<int>(std::min(deadline.left(), Milliseconds(200)).count()));
        for (size_t i = 0; i < ends.size(); ++i) {
            if (ends[i].fd < 0 || !ends[i].revents) continue;
            char buffer[65536];
            ssize_t length = read(ends[i].fd, buffer, sizeof buffer);
            if (length > 0)
                taps[i].add(buffer, static_cast<size_t>(length));
            else if (length == 0 || errno != EINTR)
                ends[i].fd = -1;
        }
    }
    return {};
}

} // namespace

Result<ProcessResult> run_process(const std::vector<std::string> &argv, const ProcessOptions &options) {
    Lifeline *lifeline = NICLAB_TRY(Lifeline::get());
    Pipe out, err;
    if (!out.open() || !err.open()) return Error{std::string("cannot make a pipe: ") + std::strerror(errno)};
    pid_t pid = NICLAB_TRY(spawn(argv, lifeline->folder(), out.write, err.write));
    Pipe::close_end(out.write);
    Pipe::close_end(err.write);
    ProcessResult result;
    Status collected = collect(out, err, Deadline::in(options.limit), options, argv[0], result);
    if (!collected.ok()) kill(-pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!collected.ok()) return collected.error();
    result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return result;
}

} // namespace niclab
