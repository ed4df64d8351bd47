// SPDX-License-Identifier: GPL-2.0-or-later
// XDP programs made of a few instructions, so that the guest needs no compiler (bpf(2)).
#pragma once

#include <cstdint>
#include <span>

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace xdp {

inline bpf_insn instruction(unsigned code, unsigned to, std::int16_t offset, std::int32_t value,
                            unsigned from = 0) {
    bpf_insn result{};
    result.code = static_cast<std::uint8_t>(code);
    result.dst_reg = to & 15;
    result.src_reg = from & 15;
    result.off = offset;
    result.imm = value;
    return result;
}
inline constexpr unsigned kMove = BPF_ALU64 | BPF_MOV | BPF_K, kExit = BPF_JMP | BPF_EXIT;

inline int call(bpf_cmd command, bpf_attr &attributes) {
    return static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

/// The program's descriptor, or -1 with errno.
inline int load(std::span<const bpf_insn> code) {
    bpf_attr load{};
    load.prog_type = BPF_PROG_TYPE_XDP;
    load.expected_attach_type = BPF_XDP;
    load.insn_cnt = static_cast<std::uint32_t>(code.size());
    load.insns = reinterpret_cast<std::uintptr_t>(code.data());
    load.license = reinterpret_cast<std::uintptr_t>("GPL");
    return call(BPF_PROG_LOAD, load);
}

/// A map of AF_XDP sockets by receive queue; its descriptor, or -1 with errno.
inline int make_socket_map(std::uint32_t queues) {
    bpf_attr create{};
    create.map_type = BPF_MAP_TYPE_XSKMAP;
    create.key_size = create.value_size = sizeof(std::uint32_t);
    create.max_entries = queues;
    return call(BPF_MAP_CREATE, create);
}
inline int put_socket(int map, std::uint32_t queue, int socket) {
    bpf_attr update{};
    update.map_fd = static_cast<std::uint32_t>(map);
    update.key = reinterpret_cast<std::uintptr_t>(&queue);
    update.value = reinterpret_cast<std::uintptr_t>(&socket);
    return call(BPF_MAP_UPDATE_ELEM, update);
}

/// At the driver's own hook or not at all; it goes with this process. -1 with errno.
inline int attach(int program, unsigned interface) {
    constexpr std::uint32_t kDriverMode = 1u << 2;
    bpf_attr link{};
    link.link_create.prog_fd = static_cast<std::uint32_t>(program);
    link.link_create.target_ifindex = interface;
    link.link_create.attach_type = BPF_XDP;
    link.link_create.flags = kDriverMode;
    return call(BPF_LINK_CREATE, link);
}

} // namespace xdp
