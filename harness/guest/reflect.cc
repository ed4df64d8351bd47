// SPDX-License-Identifier: GPL-2.0-or-later
// reflect: an XDP program that sends every frame of one interface back the way it came, until this ends.
//
//   reflect INTERFACE READY-FILE [CUT [redirect|drop]]
//
// READY-FILE appears when the program is attached. CUT bytes are taken off the front of each frame first.
// With "redirect" frames do not go back within the driver's receive path: the kernel hands them to the
// interface, as it does with those of another one. With "drop" none comes back.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include <net/if.h>
#include <unistd.h>

#include "xdp.h"

namespace {

/// `redirect_to`: an interface, or 0; `otherwise`: what becomes of a frame that is not redirected.
std::vector<bpf_insn> program(std::int32_t cut, unsigned redirect_to, xdp_action otherwise) {
    using xdp::instruction, xdp::kExit, xdp::kMove;
    std::vector<bpf_insn> code;
    if (cut != 0) { // register 1 still holds the context
        code.push_back(instruction(kMove, 2, 0, cut));
        code.push_back(instruction(BPF_JMP | BPF_CALL, 0, 0, BPF_FUNC_xdp_adjust_head));
        code.push_back(instruction(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0));
        code.push_back(instruction(kMove, 0, 0, XDP_DROP));
        code.push_back(instruction(kExit, 0, 0, 0));
    }
    if (redirect_to != 0) {
        code.push_back(instruction(kMove, 1, 0, static_cast<std::int32_t>(redirect_to)));
        code.push_back(instruction(kMove, 2, 0, 0));
        code.push_back(instruction(BPF_JMP | BPF_CALL, 0, 0, BPF_FUNC_redirect));
    } else {
        code.push_back(instruction(kMove, 0, 0, otherwise));
    }
    code.push_back(instruction(kExit, 0, 0, 0));
    return code;
}

int fail(const char *what) {
    std::fprintf(stderr, "reflect: %s: %s\n", what, std::strerror(errno));
    return 1;
}

} // namespace

int main(int argc, char **argv) {
    bool redirect = argc == 5 && std::strcmp(argv[4], "redirect") == 0;
    bool drop = argc == 5 && std::strcmp(argv[4], "drop") == 0;
    if (argc < 3 || argc > 5 || (argc == 5 && !redirect && !drop)) {
        std::fputs("usage: reflect INTERFACE READY-FILE [CUT [redirect|drop]]\n", stderr);
        return 2;
    }
    unsigned interface = if_nametoindex(argv[1]);
    if (interface == 0) return fail(argv[1]);
    int loaded = xdp::load(
        program(argc > 3 ? std::atoi(argv[3]) : 0, redirect ? interface : 0, drop ? XDP_DROP : XDP_TX));
    if (loaded < 0) return fail("loading the program");
    if (xdp::attach(loaded, interface) < 0) return fail("attaching the program");
    if (!std::ofstream(argv[2])) return fail(argv[2]);
    pause();
    return 0;
}
