// SPDX-License-Identifier: GPL-2.0-or-later
// zero_copy: takes every frame of one receive queue through an AF_XDP socket and sends it back the way it
// came, out of the memory it came into, until this ends.
//
//   zero_copy INTERFACE QUEUE READY-FILE
//
// READY-FILE appears when frames flow. The socket is bound for zero copy or not at all.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include <linux/if_xdp.h>
#include <net/if.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xdp.h"

namespace {

constexpr std::uint32_t kFrames = 512, kFrameBytes = 4096;

[[noreturn]] void fail(const char *what) {
    std::fprintf(stderr, "zero_copy: %s: %s\n", what, std::strerror(errno));
    std::exit(1);
}

/// One of the four rings that the kernel and this share; each side moves one end only. All have as many
/// places as there are frames, so none is ever too short.
template <class Entry>
class Ring {
  public:
    void open(int socket, std::uint64_t offset, const xdp_ring_offset &places) {
        void *start = mmap(nullptr, places.desc + kFrames * sizeof(Entry), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_POPULATE, socket, static_cast<off_t>(offset));
        if (start == MAP_FAILED) fail("mapping a ring");
        char *bytes = static_cast<char *>(start);
        producer_ = reinterpret_cast<std::uint32_t *>(bytes + places.producer);
        consumer_ = reinterpret_cast<std::uint32_t *>(bytes + places.consumer);
        entries_ = reinterpret_cast<Entry *>(bytes + places.desc);
    }
    void put(const Entry &entry) {
        std::uint32_t at = *producer_;
        entries_[at % kFrames] = entry;
        std::atomic_ref(*producer_).store(at + 1, std::memory_order_release);
    }
    bool take(Entry &entry) {
        std::uint32_t at = *consumer_;
        if (at == std::atomic_ref(*producer_).load(std::memory_order_acquire)) return false;
        entry = entries_[at % kFrames];
        std::atomic_ref(*consumer_).store(at + 1, std::memory_order_release);
        return true;
    }

  private:
    std::uint32_t *producer_ = nullptr, *consumer_ = nullptr;
    Entry *entries_ = nullptr;
};

struct Rings {
    Ring<std::uint64_t> fill, completion;
    Ring<xdp_desc> receive, transmit;
};

/// The rings have to be there, with their sizes, before their places can be asked for.
void open_rings(int socket, Rings &rings) {
    std::uint32_t size = kFrames;
    for (int option : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING})
        if (setsockopt(socket, SOL_XDP, option, &size, sizeof size) != 0) fail("ring");
    xdp_mmap_offsets places{};
    socklen_t length = sizeof places;
    if (getsockopt(socket, SOL_XDP, XDP_MMAP_OFFSETS, &places, &length) != 0) fail("places of the rings");
    rings.fill.open(socket, XDP_UMEM_PGOFF_FILL_RING, places.fr);
    rings.completion.open(socket, XDP_UMEM_PGOFF_COMPLETION_RING, places.cr);
    rings.receive.open(socket, XDP_PGOFF_RX_RING, places.rx);
    rings.transmit.open(socket, XDP_PGOFF_TX_RING, places.tx);
}

void register_memory(int socket) {
    constexpr std::size_t kBytes = std::size_t{kFrames} * kFrameBytes;
    void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("memory");
    xdp_umem_reg area{};
    area.addr = reinterpret_cast<std::uintptr_t>(memory);
    area.len = kBytes;
    area.chunk_size = kFrameBytes;
    if (setsockopt(socket, SOL_XDP, XDP_UMEM_REG, &area, sizeof area) != 0) fail("registering memory");
}

void bind_to(int socket, unsigned interface, std::uint32_t queue) {
    sockaddr_xdp where{};
    where.sxdp_family = AF_XDP;
    where.sxdp_flags = XDP_ZEROCOPY;
    where.sxdp_ifindex = interface;
    where.sxdp_queue_id = queue;
    if (bind(socket, reinterpret_cast<sockaddr *>(&where), sizeof where) != 0) fail("bind");
}

/// Frames of `queue` go to the socket, all others to the stack.
int load_program(int socket, std::uint32_t queue) {
    using xdp::instruction, xdp::kExit, xdp::kMove;
    int map = xdp::make_socket_map(queue + 1);
    if (map < 0) fail("map");
    if (xdp::put_socket(map, queue, socket) != 0) fail("putting the socket into the map");
    const std::vector<bpf_insn> code = {
        instruction(BPF_LDX | BPF_MEM | BPF_W, 2, offsetof(xdp_md, rx_queue_index), 0, 1),
        instruction(BPF_LD | BPF_IMM | BPF_DW, 1, 0, map, BPF_PSEUDO_MAP_FD),
        instruction(0, 0, 0, 0),
        instruction(kMove, 3, 0, XDP_PASS),
        instruction(BPF_JMP | BPF_CALL, 0, 0, BPF_FUNC_redirect_map),
        instruction(kExit, 0, 0, 0),
    };
    int loaded = xdp::load(code);
    if (loaded < 0) fail("loading the program");
    return loaded;
}

[[noreturn]] void send_back(int socket, Rings &rings) {
    for (;;) {
        pollfd ready{socket, POLLIN, 0};
        poll(&ready, 1, -1);
        xdp_desc frame;
        while (rings.receive.take(frame))
            rings.transmit.put({frame.addr, frame.len, 0});
        while (sendto(socket, nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0 &&
               (errno == EAGAIN || errno == EBUSY))
            usleep(100);
        std::uint64_t sent;
        while (rings.completion.take(sent))
            rings.fill.put(sent);
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fputs("usage: zero_copy INTERFACE QUEUE READY-FILE\n", stderr);
        return 2;
    }
    unsigned interface = if_nametoindex(argv[1]);
    if (interface == 0) fail(argv[1]);
    auto queue = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 0));
    int socket = ::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (socket < 0) fail("socket");
    Rings rings;
    register_memory(socket);
    open_rings(socket, rings);
    for (std::uint64_t frame = 0; frame < kFrames; ++frame)
        rings.fill.put(frame * kFrameBytes);
    int program = load_program(socket, queue);
    if (xdp::attach(program, interface) < 0) fail("attaching the program");
    bind_to(socket, interface, queue);
    if (!std::ofstream(argv[3])) fail(argv[3]);
    send_back(socket, rings);
}
