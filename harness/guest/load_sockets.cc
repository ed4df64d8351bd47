// SPDX-License-Identifier: GPL-2.0-or-later
// TCP and UDP between the two namespaces. One thread is both ends, so that no scheduling is counted.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

namespace load {
namespace {

constexpr std::uint16_t kPort = 5301;
constexpr std::size_t kChunk = 64 * 1024;

sockaddr_in endpoint(const Options &options) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(kPort);
    if (inet_pton(AF_INET, options.address.c_str(), &to.sin_addr) != 1)
        fail("'" + options.address + "' is not an address");
    return to;
}

/// A socket of the namespace; the process ends up there.
int socket_in(const std::string &name_space, int type) {
    enter(name_space);
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("socket");
    return fd;
}

int bound_socket(const Options &options, int type) {
    int fd = socket_in(options.to, type);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in here = endpoint(options);
    if (bind(fd, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0) fail("bind");
    return fd;
}

void connect_to(int fd, const Options &options) {
    sockaddr_in to = endpoint(options);
    if (connect(fd, reinterpret_cast<sockaddr *>(&to), sizeof to) != 0) fail("connect");
}

struct Flow {
    int from, to;
};

std::vector<Flow> tcp_flows(const Options &options) {
    int listener = bound_socket(options, SOCK_STREAM);
    if (listen(listener, static_cast<int>(options.flows)) != 0) fail("listen");
    std::vector<Flow> flows;
    for (unsigned i = 0; i < options.flows; ++i) {
        Flow flow{socket_in(options.from, SOCK_STREAM), -1};
        connect_to(flow.from, options);
        flow.to = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (flow.to < 0) fail("accept");
        int on = 1;
        for (int fd : {flow.from, flow.to})
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        flows.push_back(flow);
    }
    return flows;
}

/// Bytes that passed, or 0 when the call would have to wait.
std::uint64_t passed(ssize_t result, const char *what) {
    if (result > 0) return static_cast<std::uint64_t>(result);
    if (result == 0 || (errno != EAGAIN && errno != EINTR)) fail(what);
    return 0;
}

class Stream {
  public:
    explicit Stream(const Options &options) : buffer_(kChunk), flows_(tcp_flows(options)) {}

    void carry(std::uint64_t bytes) {
        std::uint64_t to_send = bytes, to_receive = bytes;
        while (to_receive > 0) {
            std::uint64_t moved = 0;
            for (const Flow &flow : flows_) {
                std::uint64_t sent = send_some(flow, to_send);
                std::uint64_t received = receive_some(flow, to_receive);
                to_send -= sent;
                to_receive -= received;
                moved += sent + received;
            }
            if (moved == 0) wait(to_send > 0);
        }
    }

  private:
    std::uint64_t send_some(const Flow &flow, std::uint64_t limit) {
        if (limit == 0) return 0;
        return passed(send(flow.from, buffer_.data(), std::min<std::uint64_t>(limit, kChunk),
                           MSG_DONTWAIT | MSG_NOSIGNAL),
                      "send");
    }
    std::uint64_t receive_some(const Flow &flow, std::uint64_t limit) {
        if (limit == 0) return 0;
        return passed(recv(flow.to, buffer_.data(), std::min<std::uint64_t>(limit, kChunk), MSG_DONTWAIT),
                      "recv");
    }
    void wait(bool sending) {
        std::vector<pollfd> fds;
        for (const Flow &flow : flows_) {
            fds.push_back({flow.to, POLLIN, 0});
            if (sending) fds.push_back({flow.from, POLLOUT, 0});
        }
        if (poll(fds.data(), fds.size(), 10'000) <= 0) fail("nothing moved for ten seconds");
    }

    std::vector<char> buffer_;
    std::vector<Flow> flows_;
};

void send_whole(int fd, const std::vector<char> &message) {
    if (send(fd, message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size()))
        fail("send");
}

void receive_whole(int fd, std::vector<char> &message) {
    for (std::size_t got = 0; got < message.size();)
        got += passed(recv(fd, message.data() + got, message.size() - got, 0), "recv");
}

Work request_response(std::vector<Flow> flows, unsigned size) {
    auto message = std::make_shared<std::vector<char>>(size);
    return [flows = std::move(flows), message](std::uint64_t units) {
        for (std::uint64_t i = 0; i < units; ++i) {
            const Flow &flow = flows[i % flows.size()];
            send_whole(flow.from, *message);
            receive_whole(flow.to, *message);
            send_whole(flow.to, *message);
            receive_whole(flow.from, *message);
        }
    };
}

} // namespace

Work tcp_stream(const Options &options) {
    auto stream = std::make_shared<Stream>(options);
    return [stream](std::uint64_t units) { stream->carry(units * 1024); };
}

Work tcp_request_response(const Options &options) {
    return request_response(tcp_flows(options), options.size);
}

Work udp_request_response(const Options &options) {
    int server = bound_socket(options, SOCK_DGRAM);
    int client = socket_in(options.from, SOCK_DGRAM);
    connect_to(client, options);
    char first = 0;
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    if (send(client, &first, 1, 0) != 1 ||
        recvfrom(server, &first, 1, 0, reinterpret_cast<sockaddr *>(&peer), &length) != 1 ||
        connect(server, reinterpret_cast<sockaddr *>(&peer), length) != 0)
        fail("the first datagram");
    return request_response({{client, server}}, options.size);
}

} // namespace load
