// SPDX-License-Identifier: GPL-2.0-or-later
// load: does counted work in the guest, between marks of the counting plugin.
//
//   load packet|pktgen|stream|rr|udp-rr NAME COUNT --from NS --to NS [--interface IF] [--mac MAC]
//        [--address A] [--size N] [--burst N] [--flows N] [--xdp-drop IF]
//   load note TEXT
//   load publish NAME FILE
//
// The work is done COUNT times to warm up, then COUNT times and twice COUNT times, each in a window of its
// own: the difference of the two windows holds no fixed cost. Prints how many nanoseconds each took: "time
// NAME ONCE TWICE".
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <sched.h>

#include "load.h"
#include "mark.h"

namespace load {
namespace {

[[noreturn]] void usage(const std::string &why) {
    std::fprintf(stderr,
                 "load: %s\n"
                 "usage: load packet|pktgen|stream|rr|udp-rr NAME COUNT --from NS --to NS [--interface IF] "
                 "[--mac MAC]\n"
                 "            [--address A] [--size N] [--burst N] [--flows N] [--xdp-drop IF]\n"
                 "       load note TEXT\n"
                 "       load publish NAME FILE\n",
                 why.c_str());
    std::exit(2);
}

std::uint64_t number(std::string_view text, std::uint64_t max) {
    std::string copy(text);
    char *end = nullptr;
    errno = 0;
    std::uint64_t value = std::strtoull(copy.c_str(), &end, 10);
    if (errno || copy.empty() || *end || copy[0] == '-' || value == 0 || value > max)
        usage("'" + copy + "' is not a number from 1 to " + std::to_string(max));
    return value;
}

void set_option(Options &options, std::string_view key, const char *value) {
    const std::map<std::string_view, std::string Options::*> texts = {
        {"--from", &Options::from}, {"--to", &Options::to},           {"--interface", &Options::interface},
        {"--mac", &Options::mac},   {"--address", &Options::address}, {"--xdp-drop", &Options::xdp_drop}};
    const std::map<std::string_view, unsigned Options::*> numbers = {
        {"--size", &Options::size}, {"--burst", &Options::burst}, {"--flows", &Options::flows}};
    if (auto text = texts.find(key); text != texts.end())
        options.*text->second = value;
    else if (auto found = numbers.find(key); found != numbers.end())
        options.*found->second = static_cast<unsigned>(number(value, 1 << 20));
    else
        usage("unknown option " + std::string(key));
}

Options parse(int argc, char **argv) {
    if (argc < 4) usage("a load has a name and a count");
    Options options;
    options.name = argv[2];
    options.count = number(argv[3], UINT32_MAX);
    for (int at = 4; at < argc; at += 2) {
        if (at + 1 >= argc) usage(std::string(argv[at]) + " needs a value");
        set_option(options, argv[at], argv[at + 1]);
    }
    if (options.from.empty() || options.to.empty()) usage("--from and --to are needed");
    return options;
}

Work prepare(std::string_view verb, const Options &options) {
    const std::map<std::string_view, Work (*)(const Options &)> works = {{"packet", packet_socket},
                                                                         {"pktgen", packet_generator},
                                                                         {"stream", tcp_stream},
                                                                         {"rr", tcp_request_response},
                                                                         {"udp-rr", udp_request_response}};
    auto found = works.find(verb);
    if (found == works.end()) usage("there is no load '" + std::string(verb) + "'");
    return found->second(options);
}

/// Interrupts and deferred work of what was sent shall come inside the window. Virtual time jumps over the
/// pause.
void settle() {
    timespec pause{0, 30'000'000};
    nanosleep(&pause, nullptr);
}

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// How many nanoseconds the window took.
std::int64_t run_window(const Options &options, const Work &work, unsigned times) {
    std::string window = options.name + " " + std::to_string(times);
    std::int64_t start = now_ns();
    mark("begin " + window);
    work(times * options.count);
    settle();
    mark("end " + window);
    return now_ns() - start;
}

void run(const Options &options, const Work &work) {
    work(options.count);
    settle();
    std::int64_t once = run_window(options, work, 1), twice = run_window(options, work, 2);
    std::printf("time %s %lld %lld\n", options.name.c_str(), static_cast<long long>(once),
                static_cast<long long>(twice));
}

int publish(const std::string &name, const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) fail(path);
    mark("file " + name, text.view());
    return 0;
}

} // namespace

void fail(const std::string &what) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
    std::exit(1);
}

void enter(const std::string &name_space) {
    int fd = open(("/run/netns/" + name_space).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) fail("entering the namespace " + name_space);
}

} // namespace load

int main(int argc, char **argv) {
    std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb == "note" && argc == 3) {
        mark(std::string("note ") + argv[2]);
        return 0;
    }
    if (verb == "publish" && argc == 4) return load::publish(argv[2], argv[3]);
    load::Options options = load::parse(argc, argv);
    if (!options.xdp_drop.empty()) {
        load::enter(options.to);
        load::drop_by_xdp(options.xdp_drop);
    }
    load::enter(options.from);
    load::run(options, load::prepare(verb, options));
    return 0;
}
