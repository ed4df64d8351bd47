// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/registers.h"

namespace niclab::driver {

namespace {

constexpr u32 kPort = 1;
constexpr usize kLargestRegister = Ppcnt::bytes;

struct Speed {
    u32 mask; // of eth_proto_oper bits
    u32 mbps;
};
constexpr Speed kExtendedSpeeds[] = {
    {1u << 3, 5000},
    {1u << 4, 10000},
    {1u << 5, 40000},
    {1u << 6, 25000},
    {1u << 7 | 1u << 8, 50000},
    {1u << 9 | 1u << 10 | 1u << 11, 100000},
    {1u << 12, 200000},
    {1u << 1, 1000},
    {1u << 0, 100},
};
constexpr Speed kLegacySpeeds[] = {
    {1u << 0 | 1u << 1, 1000},
    {1u << 2 | 1u << 3 | 1u << 4 | 1u << 12 | 1u << 13 | 1u << 14, 10000},
    {1u << 6 | 1u << 7 | 1u << 15 | 1u << 16, 40000},
    {1u << 20 | 1u << 21 | 1u << 22 | 1u << 23, 100000},
    {1u << 27 | 1u << 28 | 1u << 29, 25000},
    {1u << 18 | 1u << 30 | 1u << 31, 50000},
};

template <usize N>
u32 find_speed(const Speed (&speeds)[N], u32 oper) {
    for (const Speed &row : speeds)
        if (row.mask & oper) return row.mbps;
    return 0;
}

// Offsets inside the IEEE 802.3 counter set.
constexpr usize kFramesTransmitted = 0x00, kFramesReceived = 0x08, kOctetsTransmitted = 0x20,
                kOctetsReceived = 0x28;

} // namespace

Result<void> access_register(CommandInterface &commands, RegisterId id, RegisterOp op, Bytes image) {
    constexpr usize kMost = AccessRegisterIn::image + kLargestRegister;
    if (image.size > kLargestRegister) return Err{-kEinval};
    u8 in[kMost] = {}, out[kMost] = {};
    View<CommandIn>(in)
        .set(CommandIn::opcode, static_cast<u32>(Opcode::access_register))
        .set(CommandIn::op_mod, static_cast<u32>(op));
    View<AccessRegisterIn>(in).set(AccessRegisterIn::register_id, static_cast<u32>(id));
    copy_bytes(in + AccessRegisterIn::image, image.data, image.size);
    usize bytes = AccessRegisterIn::image + image.size;
    TRY(commands.execute({in, bytes}, {out, bytes}));
    copy_bytes(image.data, out + AccessRegisterIn::image, image.size);
    return {};
}

Result<void> set_port_up(CommandInterface &commands, bool up) {
    u8 image[Paos::bytes] = {};
    View<Paos>(image)
        .set(Paos::local_port, kPort)
        .set(Paos::admin_status, static_cast<u32>(up ? PortState::up : PortState::down))
        .set(Paos::ase, 1);
    return access_register(commands, RegisterId::paos, RegisterOp::write, {image, sizeof(image)});
}

Result<u32> query_max_mtu(CommandInterface &commands) {
    u8 image[Pmtu::bytes] = {};
    View<Pmtu>(image).set(Pmtu::local_port, kPort);
    TRY(access_register(commands, RegisterId::pmtu, RegisterOp::read, {image, sizeof(image)}));
    return ConstView<Pmtu>(image).get(Pmtu::max_mtu);
}

Result<void> set_port_mtu(CommandInterface &commands, u32 hardware_mtu) {
    u8 image[Pmtu::bytes] = {};
    View<Pmtu>(image).set(Pmtu::local_port, kPort).set(Pmtu::admin_mtu, hardware_mtu);
    return access_register(commands, RegisterId::pmtu, RegisterOp::write, {image, sizeof(image)});
}

Result<u32> query_speed_mbps(CommandInterface &commands) {
    constexpr u32 kEthernet = 4;
    u8 image[Ptys::bytes] = {};
    View<Ptys>(image).set(Ptys::local_port, kPort).set(Ptys::proto_mask, kEthernet);
    TRY(access_register(commands, RegisterId::ptys, RegisterOp::read, {image, sizeof(image)}));
    ConstView<Ptys> ptys(image);
    if (ptys.get(Ptys::ext_eth_proto_capability))
        return find_speed(kExtendedSpeeds, ptys.get(Ptys::ext_eth_proto_oper));
    return find_speed(kLegacySpeeds, ptys.get(Ptys::eth_proto_oper));
}

Result<PhysicalCounters> query_physical_counters(CommandInterface &commands) {
    u8 image[Ppcnt::bytes] = {};
    View<Ppcnt>(image).set(Ppcnt::local_port, kPort).set(Ppcnt::grp, Ppcnt::kIeee8023);
    TRY(access_register(commands, RegisterId::ppcnt, RegisterOp::read, {image, sizeof(image)}));
    const u8 *counters = image + Ppcnt::counters;
    return PhysicalCounters{load_be64(counters + kFramesTransmitted), load_be64(counters + kFramesReceived),
                            load_be64(counters + kOctetsTransmitted), load_be64(counters + kOctetsReceived)};
}

} // namespace niclab::driver
