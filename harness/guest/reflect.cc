// SPDX-License-Identifier: GPL-2.0-or-later
// reflect: an XDP program that sends every frame of one interface back the way it came, until this ends.
//
//   reflect INTERFACE READY-FILE [CUT]
//
// READY-FILE appears when the program is attached. CUT bytes are taken off the front of each frame first.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

#include <linux/bpf.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

bpf_insn instruction(unsigned code, unsigned to, std::int16_t offset, std::int32_t value) {
    bpf_insn result{};
    result.code = static_cast<std::uint8_t>(code);
    result.dst_reg = to & 15;
    result.off = offset;
    result.imm = value;
    return result;
}

std::vector<bpf_insn> program(std::int32_t cut) {
    constexpr unsigned kMove = BPF_ALU64 | BPF_MOV | BPF_K, kExit = BPF_JMP | BPF_EXIT;
    std::vector<bpf_insn> code;
    if (cut != 0) { // register 1 still holds the context
        code.push_back(instruction(kMove, 2, 0, cut));
        code.push_back(instruction(BPF_JMP | BPF_CALL, 0, 0, BPF_FUNC_xdp_adjust_head));
        code.push_back(instruction(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0));
        code.push_back(instruction(kMove, 0, 0, XDP_DROP));
        code.push_back(instruction(kExit, 0, 0, 0));
    }
    code.push_back(instruction(kMove, 0, 0, XDP_TX));
    code.push_back(instruction(kExit, 0, 0, 0));
    return code;
}

int bpf(bpf_cmd command, bpf_attr &attributes) {
    return static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

int load(std::span<const bpf_insn> code) {
    bpf_attr load{};
    load.prog_type = BPF_PROG_TYPE_XDP;
    load.expected_attach_type = BPF_XDP;
    load.insn_cnt = static_cast<std::uint32_t>(code.size());
    load.insns = reinterpret_cast<std::uintptr_t>(code.data());
    load.license = reinterpret_cast<std::uintptr_t>("GPL");
    return bpf(BPF_PROG_LOAD, load);
}

// The driver's own hook; the link ends with this process.
int attach(int loaded, unsigned interface) {
    constexpr std::uint32_t kDriverMode = 1u << 2;
    bpf_attr link{};
    link.link_create.prog_fd = static_cast<std::uint32_t>(loaded);
    link.link_create.target_ifindex = interface;
    link.link_create.attach_type = BPF_XDP;
    link.link_create.flags = kDriverMode;
    return bpf(BPF_LINK_CREATE, link);
}

int fail(const char *what) {
    std::fprintf(stderr, "reflect: %s: %s\n", what, std::strerror(errno));
    return 1;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) {
        std::fputs("usage: reflect INTERFACE READY-FILE [CUT]\n", stderr);
        return 2;
    }
    unsigned interface = if_nametoindex(argv[1]);
    if (interface == 0) return fail(argv[1]);
    int loaded = load(program(argc == 4 ? std::atoi(argv[3]) : 0));
    if (loaded < 0) return fail("loading the program");
    if (attach(loaded, interface) < 0) return fail("attaching the program");
    if (!std::ofstream(argv[2])) return fail(argv[2]);
    pause();
    return 0;
}
