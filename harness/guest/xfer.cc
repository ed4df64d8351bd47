// SPDX-License-Identifier: GPL-2.0-or-later
// xfer: sends or receives a pattern over TCP and reports bytes, speed and digest as one line of JSON.
//
//   xfer receive [--bytes N] [--seed N] [--port N] [--wait SECONDS]
//   xfer send ADDRESS [--bytes N] [--seed N] [--port N] [--wait SECONDS]
//
// The receiver makes the pattern itself and compares every byte; the digests let a third party compare both
// ends.
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pattern.h"

namespace {

constexpr std::size_t kChunk = 128 * 1024;

struct Options {
    bool send = false;
    std::string address;
    std::uint64_t bytes = 64u << 20;
    std::uint64_t seed = 1;
    std::uint16_t port = 5201;
    unsigned wait = 20;
};

struct Outcome {
    std::uint64_t bytes = 0;
    std::uint64_t digest = 0;
    double seconds = 0;
    std::string error;
};

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

[[noreturn]] void usage(const std::string &why) {
    std::fprintf(
        stderr,
        "xfer: %s\nusage: xfer receive|send ADDRESS [--bytes N] [--seed N] [--port N] [--wait SECONDS]\n",
        why.c_str());
    std::exit(2);
}

std::uint64_t number(const char *text, std::uint64_t max) {
    char *end = nullptr;
    errno = 0;
    std::uint64_t value = std::strtoull(text, &end, 0);
    if (errno || end == text || *end || *text == '-' || value > max)
        usage(std::string("'") + text + "' is not a number up to " + std::to_string(max));
    return value;
}

Options parse(int argc, char **argv) {
    Options options;
    int at = 1;
    std::string_view verb = at < argc ? argv[at++] : "";
    options.send = verb == "send";
    if (!options.send && verb != "receive") usage("say send or receive");
    if (options.send) {
        if (at >= argc) usage("send needs an address");
        options.address = argv[at++];
    }
    for (; at < argc; at += 2) {
        std::string_view key = argv[at];
        if (at + 1 >= argc) usage(std::string(key) + " needs a value");
        const char *value = argv[at + 1];
        if (key == "--bytes")
            options.bytes = number(value, UINT64_MAX / 2);
        else if (key == "--seed")
            options.seed = number(value, UINT64_MAX);
        else if (key == "--port")
            options.port = static_cast<std::uint16_t>(number(value, 65535));
        else if (key == "--wait")
            options.wait = static_cast<unsigned>(number(value, 3600));
        else
            usage("unknown option " + std::string(key));
    }
    if (options.bytes % 8) usage("--bytes must be a multiple of 8");
    return options;
}

sockaddr_in6 endpoint(const Options &options) {
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(options.port);
    // One socket family for both: an IPv4 address is written as ::ffff:a.b.c.d.
    std::string text =
        options.address.find(':') == std::string::npos ? "::ffff:" + options.address : options.address;
    if (!options.address.empty() && inet_pton(AF_INET6, text.c_str(), &to.sin6_addr) != 1)
        usage("'" + options.address + "' is not an address");
    return to;
}

std::string system_error(const char *what) { return std::string(what) + ": " + std::strerror(errno); }

/// A receiver that is not there yet refuses; try again until the time is up.
int connect_to(const Options &options, std::string &error) {
    sockaddr_in6 to = endpoint(options);
    for (double end = now() + options.wait;;) {
        int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, reinterpret_cast<sockaddr *>(&to), sizeof to) == 0) return fd;
        error = system_error("connect");
        close(fd);
        if (now() > end) return -1;
        usleep(50'000);
    }
}

int accept_one(const Options &options, std::string &error) {
    sockaddr_in6 here = endpoint(options);
    int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0 || listen(listener, 1) != 0) {
        error = system_error("listen");
        return -1;
    }
    pollfd ready{listener, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(options.wait) * 1000) != 1) {
        error = "nobody connected within " + std::to_string(options.wait) + " s";
        return -1;
    }
    int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) error = system_error("accept");
    close(listener);
    return fd;
}

/// A peer that falls silent shall not hold us for ever.
void bound_silence(int fd, unsigned seconds) {
    timeval limit{static_cast<time_t>(seconds), 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool send_all(int fd, const unsigned char *data, std::size_t length, std::string &error) {
    while (length > 0) {
        ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) {
            error = system_error("send");
            return false;
        }
        data += sent;
        length -= static_cast<std::size_t>(sent);
    }
    return true;
}

Outcome send_pattern(int fd, const Options &options) {
    static unsigned char buffer[kChunk];
    Outcome outcome;
    pattern::Digest digest;
    double start = now();
    while (outcome.bytes < options.bytes && outcome.error.empty()) {
        std::size_t length = std::min<std::uint64_t>(kChunk, options.bytes - outcome.bytes);
        pattern::fill(buffer, length / 8, options.seed, outcome.bytes / 8);
        digest.add(buffer, length / 8);
        if (send_all(fd, buffer, length, outcome.error)) outcome.bytes += length;
    }
    shutdown(fd, SHUT_WR);
    // The receiver closes when it has everything: only then is the time that of a whole transfer.
    char end;
    if (outcome.error.empty() && recv(fd, &end, 1, 0) < 0)
        outcome.error = system_error("waiting for the receiver's close");
    outcome.seconds = now() - start;
    outcome.digest = digest.value();
    return outcome;
}

std::string difference(const unsigned char *got, std::size_t words, std::uint64_t seed, std::uint64_t first) {
    for (std::size_t i = 0; i < words; ++i) {
        std::uint64_t value, expected = pattern::word(seed, first + i);
        std::memcpy(&value, got + 8 * i, 8);
        if (value == expected) continue;
        char text[120];
        std::snprintf(text, sizeof text, "byte %" PRIu64 ": got %016" PRIx64 ", expected %016" PRIx64,
                      (first + i) * 8, value, expected);
        return text;
    }
    return {};
}

Outcome receive_pattern(int fd, const Options &options) {
    static unsigned char buffer[kChunk];
    Outcome outcome;
    pattern::Digest digest;
    double start = now();
    std::size_t held = 0;
    for (;;) {
        ssize_t got = recv(fd, buffer + held, kChunk - held, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) outcome.error = system_error("receive");
        if (got <= 0) break;
        held += static_cast<std::size_t>(got);
        std::size_t words = held / 8;
        if (outcome.error.empty()) outcome.error = difference(buffer, words, options.seed, outcome.bytes / 8);
        digest.add(buffer, words);
        outcome.bytes += words * 8;
        held -= words * 8;
        std::memmove(buffer, buffer + words * 8, held);
    }
    outcome.seconds = now() - start;
    outcome.bytes += held;
    outcome.digest = digest.value();
    if (outcome.error.empty() && outcome.bytes != options.bytes)
        outcome.error = "the stream ended after " + std::to_string(outcome.bytes) + " bytes";
    return outcome;
}

/// Quotes and backslashes do not occur in the texts above.
int report(const Options &options, const Outcome &outcome) {
    double rate = outcome.seconds > 0 ? static_cast<double>(outcome.bytes) * 8 / outcome.seconds / 1e6 : 0;
    std::printf("{\"role\":\"%s\",\"bytes\":%" PRIu64
                ",\"seconds\":%.6f,\"mbit_per_second\":%.1f,\"digest\":\"%016" PRIx64
                "\",\"error\":\"%s\"}\n",
                options.send ? "send" : "receive", outcome.bytes, outcome.seconds, rate, outcome.digest,
                outcome.error.c_str());
    return outcome.error.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
    Options options = parse(argc, argv);
    Outcome outcome;
    int fd = options.send ? connect_to(options, outcome.error) : accept_one(options, outcome.error);
    if (fd >= 0) {
        bound_silence(fd, options.wait);
        outcome = options.send ? send_pattern(fd, options) : receive_pattern(fd, options);
        close(fd);
    }
    return report(options, outcome);
}
