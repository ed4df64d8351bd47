// SPDX-License-Identifier: GPL-2.0-or-later
// Frames out of a packet socket or the kernel's packet generator, and frames dropped by XDP.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"
#include "xdp.h"

namespace load {
namespace {

constexpr unsigned kFramesPerCall = 32;
constexpr unsigned kDiscardPort = 9;

/// An IPv4 packet of UDP to the discard port, without checksums: nobody listens.
std::vector<unsigned char> frame_of(const Options &options) {
    std::vector<unsigned char> frame(options.size);
    if (frame.size() < 42) fail("a frame of less than 42 bytes holds no UDP");
    if (std::sscanf(options.mac.c_str(), "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &frame[0], &frame[1], &frame[2],
                    &frame[3], &frame[4], &frame[5]) != 6)
        fail("'" + options.mac + "' is not a MAC address");
    frame[6] = 0x02;
    frame[12] = 0x08;
    frame[14] = 0x45;
    std::size_t packet = frame.size() - ETH_HLEN;
    frame[16] = static_cast<unsigned char>(packet >> 8);
    frame[17] = static_cast<unsigned char>(packet);
    frame[22] = 64;
    frame[23] = IPPROTO_UDP;
    frame[37] = kDiscardPort;
    return frame;
}

int packet_socket_on(const std::string &interface) {
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    sockaddr_ll here{};
    here.sll_family = AF_PACKET;
    here.sll_protocol = htons(ETH_P_IP);
    here.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    if (fd < 0 || here.sll_ifindex == 0 || bind(fd, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0)
        fail("packet socket on " + interface);
    int room = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
    return fd;
}

void write_line(const std::string &path, const std::string &line) {
    std::ofstream file(path);
    file << line + "\n" << std::flush; // the generator cuts off the last character, whatever it is
    if (!file) fail("the packet generator refuses '" + line + "'");
}

/// "Result: OK: ..." of the last run.
void require_result(const std::string &path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (text.view().find("Result: OK") == std::string_view::npos)
        fail("the packet generator did not end well");
}

} // namespace

Work packet_socket(const Options &options) {
    int fd = packet_socket_on(options.interface);
    auto frame = std::make_shared<std::vector<unsigned char>>(frame_of(options));
    return [fd, frame](std::uint64_t units) {
        iovec part{frame->data(), frame->size()};
        mmsghdr messages[kFramesPerCall] = {};
        for (mmsghdr &message : messages) {
            message.msg_hdr.msg_iov = &part;
            message.msg_hdr.msg_iovlen = 1;
        }
        while (units > 0) {
            int sent = sendmmsg(fd, messages,
                                static_cast<unsigned>(std::min<std::uint64_t>(units, kFramesPerCall)), 0);
            if (sent > 0)
                units -= static_cast<std::uint64_t>(sent);
            else if (errno == ENOBUFS) // a full transmit queue is not an error of the frame
                usleep(100);
            else
                fail("sending");
        }
    };
}

Work packet_generator(const Options &options) {
    const std::string folder = "/proc/self/net/pktgen/";
    const std::string device = folder + options.interface;
    write_line(folder + "kpktgend_0", "rem_device_all");
    write_line(folder + "kpktgend_0", "add_device " + options.interface);
    // One buffer for all frames: what is counted is the driver and what lies under it.
    for (const std::string &line :
         {"pkt_size " + std::to_string(options.size), std::string("clone_skb 100000000"),
          "burst " + std::to_string(options.burst), std::string("delay 0"), "dst_mac " + options.mac,
          std::string("dst 10.77.0.2"), std::string("udp_dst_min 9"), std::string("udp_dst_max 9")})
        write_line(device, line);
    return [folder, device](std::uint64_t units) {
        write_line(device, "count " + std::to_string(units));
        write_line(folder + "pgctrl", "start");
        require_result(device);
    };
}

void drop_by_xdp(const std::string &interface) {
    const bpf_insn program[] = {xdp::instruction(xdp::kMove, 0, 0, XDP_DROP),
                                xdp::instruction(xdp::kExit, 0, 0, 0)};
    int loaded = xdp::load(program);
    if (loaded < 0) fail("loading an XDP program");
    if (xdp::attach(loaded, if_nametoindex(interface.c_str())) < 0) fail("the driver takes no XDP program");
}

} // namespace load
