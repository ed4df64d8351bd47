// SPDX-License-Identifier: GPL-2.0-or-later
// Registers of the card as a whole.
#include "connectx/device.h"
#include "connectx/registers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynCapsGroup = 0x540101;
constexpr u32 kQosRegisters = 0x4000, kPortRegisters = 0x5000, kManagementRegisters = 0x9000;
constexpr u32 kGroupRegisters = 8 * RegisterCaps::mask_bytes, kManagementGroups = 4;

// The table of registers is the truth about which there are.
void mark_registers(u8 *mask, u32 first) {
    for (const Register &row : all_registers()) {
        u32 bit = static_cast<u32>(row.id) - first;
        if (bit < kGroupRegisters)
            mask[RegisterCaps::mask_bytes - 1 - bit / 8] |= static_cast<u8>(1 << bit % 8);
    }
}

Reply read_caps(RegisterIn in, RegisterOut out, u32 first, u32 groups) {
    ConstView<RegisterCaps> asked(in.data());
    u32 group = asked.get(RegisterCaps::access_reg_group), features = asked.get(RegisterCaps::feature_group);
    if (group >= groups || features != 0) return fail(Status::bad_parameter, kSynCapsGroup);
    View<RegisterCaps>(out.data())
        .set(RegisterCaps::feature_group, features)
        .set(RegisterCaps::access_reg_group, group);
    mark_registers(out.data() + RegisterCaps::registers, first + group * kGroupRegisters);
    return kOk;
}

} // namespace

// ---- PCAM, MCAM, QCAM
Reply read_pcam(Device &, RegisterIn in, RegisterOut out) { return read_caps(in, out, kPortRegisters, 1); }
Reply read_mcam(Device &, RegisterIn in, RegisterOut out) {
    return read_caps(in, out, kManagementRegisters, kManagementGroups);
}
Reply read_qcam(Device &, RegisterIn in, RegisterOut out) { return read_caps(in, out, kQosRegisters, 1); }

// ---- HOST_ENDIANNESS
// Tells the byte order of atomic operands; there are none, so the card only remembers it.
Reply read_host_endianness(Device &device, RegisterIn, RegisterOut out) {
    out[0] = device.hca.big_endian_host ? HostEndianness::kBig : HostEndianness::kLittle;
    return kOk;
}
Reply write_host_endianness(Device &device, RegisterIn in, RegisterOut out) {
    if (in[0] != HostEndianness::kLittle && in[0] != HostEndianness::kBig)
        return fail(Status::bad_parameter, kSynRegisterValue);
    device.hca.big_endian_host = in[0] == HostEndianness::kBig;
    return read_host_endianness(device, in, out);
}

} // namespace niclab::connectx
