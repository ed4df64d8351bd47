// SPDX-License-Identifier: GPL-2.0-or-later
// Registers behind ACCESS_REG: one row each in registers.cc, and here the functions that read and write their
// images, grouped by the file that defines them.
#pragma once

#include <span>

#include "connectx/command.h"
#include "spec/clock_registers.h"
#include "spec/management_registers.h"
#include "spec/registers.h"

namespace niclab::connectx {

using RegisterIn = std::span<const u8>; // the image as sent; at least as long as the register
using RegisterOut = std::span<u8>;      // zeroed, at least as long as the register
using RegisterAccess = Reply (*)(Device &, RegisterIn, RegisterOut);

struct Register {
    RegisterId id;
    const char *name;
    u16 bytes;
    RegisterAccess read;
    RegisterAccess write; // null: read only
};
std::span<const Register> all_registers(); // ascending

constexpr u32 kPort = 1; // the only one
constexpr u16 kNodeDescBytes = 64;

// Causes that many registers share. Those of one file continue at 0x540100 times a number of its own.
constexpr u32 kSynRegisterPort = 0x540006, kSynRegisterValue = 0x540007;

template <class Layout>
bool wrong_port(RegisterIn in) {
    return ConstView<Layout>(in.data()).get(Layout::local_port) != kPort;
}

#define NICLAB_REGISTER(access) Reply access(Device &device, RegisterIn in, RegisterOut out)

// port_registers.cc
NICLAB_REGISTER(read_pmtu);
NICLAB_REGISTER(write_pmtu);
NICLAB_REGISTER(read_ptys);
NICLAB_REGISTER(write_ptys);
NICLAB_REGISTER(read_paos);
NICLAB_REGISTER(write_paos);
NICLAB_REGISTER(read_pfcc);
NICLAB_REGISTER(write_pfcc);
NICLAB_REGISTER(read_pplm);
NICLAB_REGISTER(write_pplm);
NICLAB_REGISTER(read_pddr);
NICLAB_REGISTER(read_pcmr);
NICLAB_REGISTER(write_pcmr);
// port_counters.cc
NICLAB_REGISTER(read_ppcnt);
// module_registers.cc
NICLAB_REGISTER(read_pmlp);
NICLAB_REGISTER(read_mcia);
// board_registers.cc
NICLAB_REGISTER(read_mtcap);
NICLAB_REGISTER(read_mtmp);
NICLAB_REGISTER(write_mtmp);
NICLAB_REGISTER(read_mlcr);
NICLAB_REGISTER(write_mlcr);
NICLAB_REGISTER(read_mpcnt);
// clock_registers.cc
NICLAB_REGISTER(read_mtpps);
NICLAB_REGISTER(write_mtpps);
NICLAB_REGISTER(read_mtppse);
NICLAB_REGISTER(write_mtppse);
NICLAB_REGISTER(read_mtutc);
NICLAB_REGISTER(write_mtutc);
// management_registers.cc
NICLAB_REGISTER(read_mcqs);
NICLAB_REGISTER(read_mcqi);
NICLAB_REGISTER(read_pcam);
NICLAB_REGISTER(read_mcam);
NICLAB_REGISTER(read_qcam);
NICLAB_REGISTER(read_node_desc);
NICLAB_REGISTER(read_host_endianness);
NICLAB_REGISTER(write_host_endianness);

#undef NICLAB_REGISTER

} // namespace niclab::connectx
