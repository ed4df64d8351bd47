// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/unix_socket.h"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

namespace niclab {
namespace {

Result<sockaddr_un> address_of(const std::string &path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return Error{"the path '" + path + "' is too long for a socket"};
    path.copy(address.sun_path, path.size());
    return address;
}

Descriptor new_socket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

} // namespace

Error system_error(const std::string &what) { return Error{what + ": " + std::strerror(errno)}; }

Result<Descriptor> listen_at(const std::string &path, int backlog) {
    sockaddr_un address = NICLAB_TRY(address_of(path));
    Descriptor fd = new_socket();
    if (!fd.open() || bind(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 ||
        listen(fd.get(), backlog) != 0)
        return system_error("cannot listen at " + path);
    return fd;
}

Result<Descriptor> connect_to(const std::string &path) {
    sockaddr_un address = NICLAB_TRY(address_of(path));
    Descriptor fd = new_socket();
    if (!fd.open() || connect(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
        return system_error("nobody listens at " + path);
    return fd;
}

Descriptor accept_from(const Descriptor &listener) {
    for (;;) {
        Descriptor connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection.open() || (errno != EINTR && errno != ECONNABORTED)) return connection;
    }
}

void limit_silence(const Descriptor &connection, int seconds) {
    timeval limit{.tv_sec = seconds, .tv_usec = 0};
    setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

} // namespace niclab
