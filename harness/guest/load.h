// SPDX-License-Identifier: GPL-2.0-or-later
// The loads of the bench, each a kind of work that can be done N times.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace load {

struct Options {
    std::string name;        ///< of the windows
    std::uint64_t count = 0; ///< units of work of the first window
    std::string from, to;    ///< network namespaces
    std::string interface;   ///< that sends, in `from`
    std::string mac;         ///< that frames go to
    std::string address;     ///< of the listening side
    std::string xdp_drop;    ///< interface in `to` that drops what comes
    unsigned size = 60;
    unsigned burst = 1;
    unsigned flows = 1;
};

using Work = std::function<void(std::uint64_t units)>;

/// Each prepares what it needs and gives the work of which only the units are counted.
Work packet_socket(const Options &options); ///< unit: a frame
Work packet_generator(const Options &options);
Work tcp_stream(const Options &options); ///< unit: KiB
Work tcp_request_response(const Options &options);
Work udp_request_response(const Options &options);

/// Has the kernel drop every frame that reaches the interface; for as long as the process lives.
void drop_by_xdp(const std::string &interface);

/// Moves the process into the namespace.
void enter(const std::string &name_space);

[[noreturn]] void fail(const std::string &what);

} // namespace load
