// SPDX-License-Identifier: GPL-2.0-or-later
// Registers of the card as a whole.
#include <cstdio>
#include <cstring>

#include "connectx/device.h"
#include "connectx/registers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynCapsGroup = 0x540101, kSynComponent = 0x540102, kSynInfo = 0x540103;
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
Reply read_pcam(Device &, RegisterIn in, RegisterOut out) {
    View<PcamFeatures>(out.data() + RegisterCaps::features)
        .set(PcamFeatures::ptys_extended_ethernet, 1)
        .set(PcamFeatures::pfcc_mask, 1)
        .set(PcamFeatures::per_lane_error_counters, 1)
        .set(PcamFeatures::rx_buffer_fullness_counters, 1)
        .set(PcamFeatures::ptys_connector_type, 1)
        .set(PcamFeatures::ppcnt_statistical_group, 1);
    return read_caps(in, out, kPortRegisters, 1);
}
Reply read_mcam(Device &device, RegisterIn in, RegisterOut out) {
    View<McamFeatures>(out.data() + RegisterCaps::features)
        .set(McamFeatures::mtutc_freq_adj_units, 1)
        .set(McamFeatures::mtutc_time_adjustment_extended_range, 1)
        .set(McamFeatures::out_pulse_duration_ns, 1)
        .set(McamFeatures::npps_period, 1)
        .set(McamFeatures::ptpcyc2realtime_modify, device.real_time.used())
        .set(McamFeatures::mtpps_enh_out_per_adj, 1)
        .set(McamFeatures::mtpps_fs, 1)
        .set(McamFeatures::pcie_outbound_stalled, 1)
        .set(McamFeatures::tx_overflow_buffer_pkt, 1)
        .set(McamFeatures::pcie_performance_group, 1);
    return read_caps(in, out, kManagementRegisters, kManagementGroups);
}
Reply read_qcam(Device &, RegisterIn in, RegisterOut out) { return read_caps(in, out, kQosRegisters, 1); }

// ---- MCQS, MCQI
// The firmware is one component, the image that runs; nothing is pending and nothing can be written.
Reply read_mcqs(Device &, RegisterIn in, RegisterOut out) {
    if (ConstView<Mcqs>(in.data()).get(Mcqs::component_index) != 0)
        return fail(Status::bad_parameter, kSynComponent);
    View<Mcqs>(out.data())
        .set(Mcqs::last_index_flag, 1)
        .set(Mcqs::identifier, Mcqs::kBootImage)
        .set(Mcqs::component_status, Mcqs::kPresentAndInUse);
    return kOk;
}

Reply read_mcqi(Device &, RegisterIn in, RegisterOut out) {
    ConstView<Mcqi> asked(in.data());
    if (asked.get(Mcqi::component_index) != 0) return fail(Status::bad_parameter, kSynComponent);
    usize size = asked.get(Mcqi::data_size), at = asked.get(Mcqi::offset);
    if (asked.get(Mcqi::info_type) != Mcqi::kVersion || asked.get(Mcqi::read_pending_component) ||
        at + size > McqiVersion::bytes || out.size() < Mcqi::bytes + size)
        return fail(Status::bad_parameter, kSynInfo);
    u8 version[McqiVersion::bytes] = {};
    char *text = reinterpret_cast<char *>(version) + McqiVersion::version_string;
    int length = snprintf(text, McqiVersion::version_string_bytes, "%u.%u.%u", firmware::kMajor,
                          firmware::kMinor, firmware::kSubMinor);
    View<McqiVersion>(version)
        .set(McqiVersion::version_string_length, static_cast<u32>(length))
        .set(McqiVersion::version, firmware::kMajor << 24 | firmware::kMinor << 16 | firmware::kSubMinor);
    View<Mcqi>(out.data())
        .set(Mcqi::info_type, Mcqi::kVersion)
        .set(Mcqi::info_size, McqiVersion::bytes)
        .set(Mcqi::offset, static_cast<u32>(at))
        .set(Mcqi::data_size, static_cast<u32>(size));
    std::memcpy(out.data() + Mcqi::bytes, version + at, size);
    return kOk;
}

// ---- NODE_DESC
Reply read_node_desc(Device &, RegisterIn, RegisterOut out) {
    constexpr char kText[kNodeDescBytes] = "niclab ConnectX-6 Dx";
    std::memcpy(out.data(), kText, sizeof kText);
    return kOk;
}

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
