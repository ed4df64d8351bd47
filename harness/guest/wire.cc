// SPDX-License-Identifier: GPL-2.0-or-later
// wire: raw frames on one interface (packet(7)).
//
//   wire send INTERFACE HEX [--count N] [--gap-us N] [--vary OFFSET] [--checksum START:OFFSET]
//                           [--gso tcp4|tcp6|udp --gso-size N --header-length N]
//   wire capture INTERFACE [--filter WORD[,WORD...]] [--count N] [--for-ms N] [--ready FILE]
//   wire await FILE [--for-ms N]
//
// A frame to send is written in hex, or read as hex from standard input for "-"; --vary gives the 32 bits at
// OFFSET another value in every frame. --checksum and --gso leave that work to the card, as the network stack
// would. Capture makes FILE when it listens (await waits for it), and at its end prints one JSON array of the
// different frames with how often each came. Filter words: ethertype=N, src=MAC, dst=MAC, outgoing (frames
// this machine sent, which are left out otherwise).
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t kLargestFrame = 1 << 18; // a large send

/// What packet(7) wants before a frame under PACKET_VNET_HDR: virtio 1.2, 5.1.6 "Device Operation". The
/// kernel's own header for it is not C++, and Debian 12's does not know UDP segmentation.
struct Offload {
    std::uint8_t flags = 0;
    std::uint8_t gso_type = 0;
    std::uint16_t hdr_len = 0;
    std::uint16_t gso_size = 0;
    std::uint16_t csum_start = 0;
    std::uint16_t csum_offset = 0;
};
constexpr std::uint8_t kNeedsChecksum = 1;
constexpr std::uint8_t kGsoTcp4 = 1;
constexpr std::uint8_t kGsoTcp6 = 4;
constexpr std::uint8_t kGsoUdp = 5;

struct Filter {
    std::optional<unsigned> ethertype;
    std::optional<Bytes> src, dst;
    bool outgoing = false;
};

enum class Verb { send, capture, await };

struct Options {
    Verb verb = Verb::send;
    std::string subject; ///< interface, or the file to wait for
    Bytes frame;
    Filter filter;
    std::string ready;
    std::uint64_t count = 1;
    unsigned gap_us = 0;
    unsigned for_ms = 5000;
    std::optional<unsigned> vary;
    Offload offload;
};

[[noreturn]] void usage(const std::string &why) {
    std::fprintf(
        stderr,
        "wire: %s\n"
        "usage: wire send INTERFACE HEX [--count N] [--gap-us N] [--vary OFFSET] [--checksum START:OFFSET]\n"
        "                 [--gso tcp4|tcp6|udp --gso-size N --header-length N]\n"
        "       wire capture INTERFACE [--filter WORD[,WORD...]] [--count N] [--for-ms N] [--ready FILE]\n"
        "       wire await FILE [--for-ms N]\n",
        why.c_str());
    std::exit(2);
}

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "wire: %s: %s\n", what.c_str(), std::strerror(errno));
    std::exit(1);
}

std::uint64_t number(std::string_view text, std::uint64_t max) {
    std::string copy(text);
    char *end = nullptr;
    errno = 0;
    std::uint64_t value = std::strtoull(copy.c_str(), &end, 0);
    if (errno || copy.empty() || *end || copy[0] == '-' || value > max)
        usage("'" + copy + "' is not a number up to " + std::to_string(max));
    return value;
}

/// Hex digits; blanks and colons between bytes are for the reader.
Bytes bytes_of(std::string_view text) {
    Bytes bytes;
    unsigned value = 0, digits = 0;
    for (char c : text) {
        if (c == ' ' || c == ':' || c == '\n') continue;
        const char *alphabet = "0123456789abcdef";
        const char *digit = std::strchr(alphabet, c | (c >= 'A' ? 0x20 : 0));
        if (!digit || !c) usage("'" + std::string(text) + "' is not hex");
        value = value << 4 | static_cast<unsigned>(digit - alphabet);
        if (++digits % 2 == 0) {
            bytes.push_back(static_cast<unsigned char>(value));
            value = 0;
        }
    }
    if (digits % 2) usage("an odd number of hex digits");
    return bytes;
}

std::string standard_input() {
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = read(0, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    return text;
}

Bytes mac_of(std::string_view text) {
    Bytes mac = bytes_of(text);
    if (mac.size() != ETH_ALEN) usage("'" + std::string(text) + "' is not a MAC address");
    return mac;
}

Filter filter_of(std::string_view text) {
    Filter filter;
    while (!text.empty()) {
        std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(item.size() + 1, text.size()));
        std::string_view value = item.substr(std::min(item.find('=') + 1, item.size()));
        if (item == "outgoing")
            filter.outgoing = true;
        else if (item.rfind("ethertype=", 0) == 0)
            filter.ethertype = static_cast<unsigned>(number(value, 0xffff));
        else if (item.rfind("src=", 0) == 0)
            filter.src = mac_of(value);
        else if (item.rfind("dst=", 0) == 0)
            filter.dst = mac_of(value);
        else
            usage("unknown filter word '" + std::string(item) + "'");
    }
    return filter;
}

void set_checksum(Offload &offload, std::string_view text) {
    std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) usage("--checksum wants START:OFFSET");
    offload.flags = kNeedsChecksum;
    offload.csum_start = static_cast<std::uint16_t>(number(text.substr(0, colon), 0xffff));
    offload.csum_offset = static_cast<std::uint16_t>(number(text.substr(colon + 1), 0xffff));
}

unsigned char gso_of(std::string_view text) {
    if (text == "tcp4") return kGsoTcp4;
    if (text == "tcp6") return kGsoTcp6;
    if (text == "udp") return kGsoUdp;
    usage("'" + std::string(text) + "' is not tcp4, tcp6 or udp");
}

void set_option(Options &options, std::string_view key, std::string_view value) {
    if (key == "--count")
        options.count = number(value, UINT32_MAX);
    else if (key == "--for-ms")
        options.for_ms = static_cast<unsigned>(number(value, 3'600'000));
    else if (key == "--filter")
        options.filter = filter_of(value);
    else if (key == "--ready")
        options.ready = value;
    else if (key == "--gap-us")
        options.gap_us = static_cast<unsigned>(number(value, 10'000'000));
    else if (key == "--vary")
        options.vary = static_cast<unsigned>(number(value, kLargestFrame));
    else if (key == "--checksum")
        set_checksum(options.offload, value);
    else if (key == "--gso")
        options.offload.gso_type = gso_of(value);
    else if (key == "--gso-size")
        options.offload.gso_size = static_cast<std::uint16_t>(number(value, 0xffff));
    else if (key == "--header-length")
        options.offload.hdr_len = static_cast<std::uint16_t>(number(value, 0xffff));
    else
        usage("unknown option " + std::string(key));
}

Options parse(int argc, char **argv) {
    Options options;
    std::vector<std::string_view> words(argv + 1, argv + argc);
    const std::map<std::string_view, Verb> verbs = {
        {"send", Verb::send}, {"capture", Verb::capture}, {"await", Verb::await}};
    if (words.size() < 2 || !verbs.contains(words[0]))
        usage("say send or capture and an interface, or await and a file");
    options.verb = verbs.at(words[0]);
    options.subject = words[1];
    std::size_t at = 2;
    if (options.verb == Verb::send) {
        if (words.size() < 3) usage("send needs a frame");
        options.frame = bytes_of(words[at] == "-" ? standard_input() : std::string(words[at]));
        ++at;
    }
    for (; at < words.size(); at += 2) {
        if (at + 1 >= words.size()) usage(std::string(words[at]) + " needs a value");
        set_option(options, words[at], words[at + 1]);
    }
    if (options.vary && *options.vary + 4 > options.frame.size())
        usage("the 32 bits to vary do not lie inside the frame");
    return options;
}

int open_socket(const Options &options, int protocol) {
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(static_cast<std::uint16_t>(protocol)));
    if (fd < 0) fail("packet socket");
    sockaddr_ll here{};
    here.sll_family = AF_PACKET;
    here.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
    here.sll_ifindex = static_cast<int>(if_nametoindex(options.subject.c_str()));
    if (here.sll_ifindex == 0) fail(options.subject);
    if (bind(fd, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0) fail("bind to " + options.subject);
    return fd;
}

/// An odd step reaches every value once. A large one changes many bits each time: of values that differ in a
/// few low bits only, a linear hash such as Toeplitz with an unlucky key may give all the same queue.
void vary(Bytes &frame, unsigned offset) {
    constexpr std::uint32_t kStep = 0x9e3779b1;
    std::uint32_t value;
    std::memcpy(&value, frame.data() + offset, 4);
    value = htonl(ntohl(value) + kStep);
    std::memcpy(frame.data() + offset, &value, 4);
}

int send_frames(Options &options) {
    int fd = open_socket(options, 0);
    bool offload = options.offload.flags || options.offload.gso_type;
    int on = 1;
    if (offload && setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0) fail("PACKET_VNET_HDR");
    for (std::uint64_t i = 0; i < options.count; ++i) {
        iovec parts[2] = {{&options.offload, sizeof options.offload},
                          {options.frame.data(), options.frame.size()}};
        msghdr message{};
        message.msg_iov = offload ? parts : parts + 1;
        message.msg_iovlen = offload ? 2 : 1;
        // A full transmit queue is not an error of the frame.
        while (sendmsg(fd, &message, 0) < 0) {
            if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR) fail("send");
            usleep(1000);
        }
        if (options.vary) vary(options.frame, *options.vary);
        if (options.gap_us) usleep(options.gap_us);
    }
    std::printf("{\"sent\":%" PRIu64 "}\n", options.count);
    return 0;
}

/// All that makes two received frames the same.
struct Seen {
    Bytes bytes;
    std::size_t length;
    std::optional<unsigned> tci, tpid;
    std::string checksum;
    std::string type;
    auto fields() const { return std::tie(bytes, length, tci, tpid, checksum, type); }
    bool operator<(const Seen &other) const { return fields() < other.fields(); }
};

const char *type_name(unsigned char type) {
    switch (type) {
    case PACKET_HOST:
        return "host";
    case PACKET_BROADCAST:
        return "broadcast";
    case PACKET_MULTICAST:
        return "multicast";
    case PACKET_OTHERHOST:
        return "otherhost";
    case PACKET_OUTGOING:
        return "outgoing";
    default:
        return "other";
    }
}

bool wanted(const Filter &filter, const Seen &frame) {
    if ((frame.type == "outgoing") != filter.outgoing || frame.bytes.size() < ETH_HLEN) return false;
    if (filter.dst && std::memcmp(frame.bytes.data(), filter.dst->data(), ETH_ALEN) != 0) return false;
    if (filter.src && std::memcmp(frame.bytes.data() + ETH_ALEN, filter.src->data(), ETH_ALEN) != 0)
        return false;
    unsigned ethertype = static_cast<unsigned>(frame.bytes[12]) << 8 | frame.bytes[13];
    return !filter.ethertype || *filter.ethertype == ethertype;
}

void take_auxdata(const msghdr &message, Seen &frame) {
    for (cmsghdr *control = CMSG_FIRSTHDR(&message); control;
         control = CMSG_NXTHDR(const_cast<msghdr *>(&message), control)) {
        if (control->cmsg_level != SOL_PACKET || control->cmsg_type != PACKET_AUXDATA) continue;
        tpacket_auxdata data;
        std::memcpy(&data, CMSG_DATA(control), sizeof data);
        frame.length = data.tp_len;
        if (data.tp_status & TP_STATUS_VLAN_VALID) frame.tci = data.tp_vlan_tci;
        if (data.tp_status & TP_STATUS_VLAN_TPID_VALID) frame.tpid = data.tp_vlan_tpid;
        if (data.tp_status & TP_STATUS_CSUMNOTREADY)
            frame.checksum = "partial";
        else if (data.tp_status & TP_STATUS_CSUM_VALID)
            frame.checksum = "valid";
    }
}

std::optional<Seen> receive_one(int fd) {
    static unsigned char buffer[kLargestFrame];
    sockaddr_ll from{};
    iovec part{buffer, sizeof buffer};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(tpacket_auxdata))];
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t length = recvmsg(fd, &message, MSG_DONTWAIT);
    if (length < 0) return std::nullopt;
    Seen frame{Bytes(buffer, buffer + length), static_cast<std::size_t>(length), {}, {}, "none",
               type_name(from.sll_pkttype)};
    take_auxdata(message, frame);
    return frame;
}

std::int64_t now_ms() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

void print(const Seen &frame, std::uint64_t count) {
    std::printf("{\"count\":%" PRIu64 ",\"length\":%zu,\"type\":\"%s\",\"checksum\":\"%s\"", count,
                frame.length, frame.type.c_str(), frame.checksum.c_str());
    if (frame.tci) std::printf(",\"vlan_tci\":%u", *frame.tci);
    if (frame.tpid) std::printf(",\"vlan_tpid\":%u", *frame.tpid);
    std::fputs(",\"hex\":\"", stdout);
    for (unsigned char byte : frame.bytes)
        std::printf("%02x", byte);
    std::fputs("\"}", stdout);
}

int capture(const Options &options) {
    int fd = open_socket(options, ETH_P_ALL);
    int on = 1, room = 8 << 20;
    if (setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on) != 0) fail("PACKET_AUXDATA");
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    if (!options.ready.empty()) std::ofstream(options.ready).put('\n');
    std::vector<Seen> order;
    std::map<Seen, std::uint64_t> counts;
    std::uint64_t total = 0;
    for (std::int64_t end = now_ms() + options.for_ms; total < options.count && now_ms() < end;) {
        pollfd ready{fd, POLLIN, 0};
        poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, end - now_ms())));
        for (auto frame = receive_one(fd); frame && total < options.count; frame = receive_one(fd)) {
            if (!wanted(options.filter, *frame)) continue;
            ++total;
            if (counts[*frame]++ == 0) order.push_back(*frame);
        }
    }
    std::fputs("[", stdout);
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::fputs(i ? ",\n" : "", stdout);
        print(order[i], counts[order[i]]);
    }
    std::fputs("]\n", stdout);
    return 0;
}

int await(const Options &options) {
    for (std::int64_t end = now_ms() + options.for_ms; access(options.subject.c_str(), F_OK) != 0;
         usleep(5000))
        if (now_ms() > end) fail(options.subject);
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    Options options = parse(argc, argv);
    switch (options.verb) {
    case Verb::send:
        return send_frames(options);
    case Verb::capture:
        return capture(options);
    case Verb::await:
        return await(options);
    }
    return 2;
}
