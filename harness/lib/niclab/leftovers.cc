// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/leftovers.h"

#include <charconv>
#include <csignal>
#include <fstream>
#include <iterator>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "niclab/deadline.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

std::string slurp(const fs::path &path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/// The path must end where the folder's name ends: ".../12-3" is not a part of ".../12-34".
bool mentions(const std::string &text, const std::string &folder) {
    for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at + 1)) {
        size_t end = at + folder.size();
        if (end == text.size() || text[end] == '/' || text[end] == '\0') return true;
    }
    return false;
}

bool belongs(pid_t pid, const std::string &folder) {
    fs::path proc = "/proc/" + std::to_string(pid);
    return mentions(slurp(proc / "cmdline"), folder) ||
           mentions(slurp(proc / "environ"), std::string(kOwnerVariable) + "=" + folder);
}

/// A handle keeps the number from being reused between the check, the signal and the wait.
class ProcessHandle {
  public:
    explicit ProcessHandle(pid_t pid) : fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
    ~ProcessHandle() {
        if (fd_ >= 0) close(fd_);
    }
    ProcessHandle(const ProcessHandle &) = delete;
    ProcessHandle &operator=(const ProcessHandle &) = delete;

    bool valid() const { return fd_ >= 0; }
    void kill() const { syscall(SYS_pidfd_send_signal, fd_, SIGKILL, nullptr, 0); }
    bool wait(Milliseconds limit) const {
        pollfd ended{fd_, POLLIN, 0};
        return poll(&ended, 1, static_cast<int>(limit.count())) == 1;
    }

  private:
    int fd_;
};

} // namespace

std::string process_identity(pid_t pid) {
    std::string stat = slurp("/proc/" + std::to_string(pid) + "/stat");
    // proc(5): the second field, in parentheses, may hold spaces; the start time is field 22.
    size_t at = stat.rfind(')');
    if (at == std::string::npos) return {};
    for (int field = 2; field < 22; ++field) {
        at = stat.find(' ', at + 1);
        if (at == std::string::npos) return {};
    }
    return std::to_string(pid) + "-" + stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

std::vector<fs::path> stale_folders(const fs::path &state_root) {
    std::vector<fs::path> stale;
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(state_root, failed)) {
        std::string identity = entry.path().filename();
        pid_t pid = 0;
        auto [end, error] = std::from_chars(identity.data(), identity.data() + identity.size(), pid);
        if (error != std::errc() || *end != '-') continue;
        if (process_identity(pid) != identity) stale.push_back(entry.path());
    }
    return stale;
}

std::vector<pid_t> processes_of(const fs::path &folder) {
    std::vector<pid_t> found;
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator("/proc", failed)) {
        std::string digits = entry.path().filename();
        pid_t pid = 0;
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
        if (error != std::errc() || *end != '\0' || pid == getpid()) continue;
        if (belongs(pid, folder)) found.push_back(pid);
    }
    return found;
}

bool sweep(const fs::path &folder) {
    Deadline deadline = Deadline::in(std::chrono::seconds(10));
    // A process may start another one while we look, hence until none is found.
    for (auto pids = processes_of(folder); !pids.empty() && !deadline.expired();
         pids = processes_of(folder)) {
        for (pid_t pid : pids) {
            ProcessHandle process(pid);
            if (!process.valid() || !belongs(pid, folder)) continue;
            process.kill();
            process.wait(deadline.left());
        }
    }
    std::error_code failed;
    fs::remove_all(folder, failed);
    return !failed && processes_of(folder).empty();
}

} // namespace niclab
