// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "niclab/descriptor.h"
#include "niclab/lifeline.h"

namespace niclab::cli {
namespace {

constexpr char kLeave = 0x1d; // Ctrl-]

/// Raw while it lives: every key, Ctrl-C included, goes to the guest.
class RawTerminal {
  public:
    explicit RawTerminal(int fd) : fd_(fd) {
        tcgetattr(fd_, &before_);
        termios raw = before_;
        cfmakeraw(&raw);
        tcsetattr(fd_, TCSADRAIN, &raw);
    }
    ~RawTerminal() { tcsetattr(fd_, TCSADRAIN, &before_); }
    RawTerminal(const RawTerminal &) = delete;
    RawTerminal &operator=(const RawTerminal &) = delete;

  private:
    int fd_;
    termios before_{};
};

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t written = write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return false;
        bytes.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
    return true;
}

/// Copies what is there; false at the end of either side.
bool copy(int from, int to, bool watch_for_leave) {
    char buffer[4096];
    ssize_t length = read(from, buffer, sizeof buffer);
    if (length < 0) return errno == EINTR || errno == EAGAIN;
    std::string_view bytes(buffer, static_cast<size_t>(length));
    size_t leave = watch_for_leave ? bytes.find(kLeave) : std::string_view::npos;
    return !bytes.empty() && write_all(to, bytes.substr(0, leave)) && leave == std::string_view::npos;
}

} // namespace

Status attach_terminal(const std::string &pty) {
    Descriptor line(open(pty.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!line.open()) return Error{"cannot open " + pty + ": " + std::strerror(errno)};
    RawTerminal guest_side(line.get());
    RawTerminal our_side(STDIN_FILENO);
    write_all(line.get(), "\n"); // asks the guest's shell for a prompt
    pollfd ends[2] = {{STDIN_FILENO, POLLIN, 0}, {line.get(), POLLIN, 0}};
    while (!Lifeline::interrupted()) {
        if (poll(ends, 2, /*ms=*/200) < 0 && errno != EINTR)
            return Error{std::string("poll: ") + std::strerror(errno)};
        if (ends[0].revents && !copy(STDIN_FILENO, line.get(), /*watch_for_leave=*/true)) break;
        if (ends[1].revents && !copy(line.get(), STDOUT_FILENO, /*watch_for_leave=*/false)) break;
    }
    return {};
}

} // namespace niclab::cli
