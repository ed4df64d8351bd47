// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/marks.h"

#include <atomic>
#include <cerrno>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "niclab/lifeline.h"

namespace niclab::bench {
namespace {

constexpr int kPollMs = 100;
constexpr int kSilenceSeconds = 60;
constexpr std::uint32_t kMostCounts = 1u << 24;

Status receive(int connection, void *to, size_t length) {
    char *at = static_cast<char *>(to);
    while (length > 0) {
        ssize_t got = recv(connection, at, length, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) return Error{"the counting plugin went away: QEMU ended"};
        if (got < 0) return system_error("reading from the counting plugin");
        at += got;
        length -= static_cast<size_t>(got);
    }
    return {};
}

} // namespace

Result<Mark> read_mark(int connection) {
    counting::MarkHeader header{};
    NICLAB_TRY(receive(connection, &header, sizeof header));
    if (header.magic != counting::kMarkMagic || header.text_bytes > counting::kLongestText ||
        header.attachment_bytes > counting::kLongestAttachment || header.counts > kMostCounts)
        return Error{"the counting plugin says what is not understood"};
    Mark mark;
    mark.text.resize(header.text_bytes);
    mark.attachment.resize(header.attachment_bytes);
    mark.counts.resize(header.counts);
    NICLAB_TRY(receive(connection, mark.text.data(), mark.text.size()));
    NICLAB_TRY(receive(connection, mark.attachment.data(), mark.attachment.size()));
    NICLAB_TRY(receive(connection, mark.counts.data(), mark.counts.size() * sizeof(counting::AddressCount)));
    return mark;
}

Result<MarkListener> MarkListener::open() {
    static std::atomic<unsigned> serial{0};
    Lifeline *lifeline = NICLAB_TRY(Lifeline::get());
    std::string path = lifeline->folder() / fmt::format("marks-{}", ++serial);
    Descriptor listener = NICLAB_TRY(listen_at(path, /*backlog=*/1));
    return MarkListener(std::move(path), std::move(listener));
}

MarkListener::~MarkListener() {
    if (listener_.open()) unlink(path_.c_str());
}

Result<bool> MarkListener::ready() {
    pollfd waiting{plugin_.open() ? plugin_.get() : listener_.get(), POLLIN, 0};
    if (poll(&waiting, 1, kPollMs) <= 0) return false;
    if (plugin_.open()) return true;
    plugin_ = accept_from(listener_);
    if (!plugin_.open()) return system_error("the counting plugin's connection");
    limit_silence(plugin_, kSilenceSeconds);
    return false;
}

Result<Mark> MarkListener::next(Vm &vm, Milliseconds limit) {
    NICLAB_TRY(vm.until("the bench in the guest", limit, [this] { return ready(); }));
    return read_mark(plugin_.get());
}

Status MarkListener::answer() {
    if (send(plugin_.get(), "", 1, MSG_NOSIGNAL) != 1) return system_error("answering the counting plugin");
    return {};
}

} // namespace niclab::bench
