// SPDX-License-Identifier: GPL-2.0-or-later
// ACCESS_REG: one row per register of the port.
#include <algorithm>
#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "spec/registers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynOpMod = 0x540001, kSynUnknown = 0x540002, kSynInputLength = 0x540003,
              kSynOutputLength = 0x540004, kSynAccess = 0x540005, kSynPort = 0x540006, kSynValue = 0x540007,
              kSynGroup = 0x540008;
constexpr u32 kPort = 1;

using In = std::span<const u8>; // the register's image as sent; at least as long as the register
using Out = std::span<u8>;

template <class Layout>
bool wrong_port(In in) {
    return ConstView<Layout>(in.data()).get(Layout::local_port) != kPort;
}

// ---- PMTU
Reply read_pmtu(Device &device, In in, Out out) {
    if (wrong_port<Pmtu>(in)) return fail(Status::bad_parameter, kSynPort);
    View<Pmtu>(out.data())
        .set(Pmtu::local_port, kPort)
        .set(Pmtu::max_mtu, Port::kMaxMtu)
        .set(Pmtu::admin_mtu, device.port.oper_mtu())
        .set(Pmtu::oper_mtu, device.port.oper_mtu());
    return kOk;
}
Reply write_pmtu(Device &device, In in, Out out) {
    if (wrong_port<Pmtu>(in)) return fail(Status::bad_parameter, kSynPort);
    if (!device.port.set_mtu(ConstView<Pmtu>(in.data()).get(Pmtu::admin_mtu)))
        return fail(Status::bad_parameter, kSynValue);
    return read_pmtu(device, in, out);
}

// ---- PTYS
// The port has one speed, over a copper cable: its bit of eth_proto_*.
struct Speed {
    unsigned mbps;
    u8 bit;
};
constexpr Speed kSpeeds[] = {{1000, 1}, {10000, 12}, {25000, 27}, {40000, 6}, {50000, 30}, {100000, 20}};
constexpr u32 kProtoEthernet = 4, kConnectorDirectAttach = 7, kAutonegComplete = 1, kRateUnitMbps = 100;

u32 protocols(const Device &device) {
    for (Speed speed : kSpeeds)
        if (speed.mbps == device.config.speed_mbps) return 1u << speed.bit;
    return 0;
}
Reply read_ptys(Device &device, In in, Out out) {
    if (wrong_port<Ptys>(in)) return fail(Status::bad_parameter, kSynPort);
    if (ConstView<Ptys>(in.data()).get(Ptys::proto_mask) != kProtoEthernet)
        return fail(Status::bad_parameter, kSynValue);
    bool up = device.port.up();
    u32 proto = protocols(device);
    View<Ptys>(out.data())
        .set(Ptys::local_port, kPort)
        .set(Ptys::proto_mask, kProtoEthernet)
        .set(Ptys::an_status, up ? kAutonegComplete : 0)
        .set(Ptys::data_rate_oper, up ? device.config.speed_mbps / kRateUnitMbps : 0)
        .set(Ptys::eth_proto_capability, proto)
        .set(Ptys::eth_proto_admin, proto)
        .set(Ptys::eth_proto_oper, up ? proto : 0)
        .set(Ptys::connector_type, kConnectorDirectAttach);
    return kOk;
}
// Nothing to choose from: only the one speed, negotiated, is accepted.
Reply write_ptys(Device &device, In in, Out out) {
    ConstView<Ptys> image(in.data());
    if (image.get(Ptys::eth_proto_admin) != protocols(device) || image.get(Ptys::an_disable_admin))
        return fail(Status::bad_parameter, kSynValue);
    return read_ptys(device, in, out);
}

// ---- PAOS
Reply read_paos(Device &device, In in, Out out) {
    if (wrong_port<Paos>(in)) return fail(Status::bad_parameter, kSynPort);
    auto state = [](bool up) { return static_cast<u32>(up ? PortState::up : PortState::down); };
    View<Paos>(out.data())
        .set(Paos::local_port, kPort)
        .set(Paos::admin_status, state(device.port.admin_up()))
        .set(Paos::oper_status, state(device.port.up()));
    return kOk;
}
Reply write_paos(Device &device, In in, Out out) {
    if (wrong_port<Paos>(in)) return fail(Status::bad_parameter, kSynPort);
    ConstView<Paos> image(in.data());
    auto admin = static_cast<PortState>(image.get(Paos::admin_status));
    if (image.get(Paos::ase)) {
        if (admin != PortState::up && admin != PortState::down) return fail(Status::bad_parameter, kSynValue);
        device.port.set_admin(admin == PortState::up);
    }
    return read_paos(device, in, out);
}

// ---- PFCC
// The port neither sends nor obeys pause frames, and says so; only that may be set.
Reply read_pfcc(Device &, In in, Out out) {
    if (wrong_port<Pfcc>(in)) return fail(Status::bad_parameter, kSynPort);
    View<Pfcc>(out.data()).set(Pfcc::local_port, kPort);
    return kOk;
}
Reply write_pfcc(Device &device, In in, Out out) {
    ConstView<Pfcc> image(in.data());
    if (image.get(Pfcc::pptx) || image.get(Pfcc::pprx) || image.get(Pfcc::pfctx) || image.get(Pfcc::pfcrx))
        return fail(Status::bad_parameter, kSynValue);
    return read_pfcc(device, in, out);
}

// ---- PPCNT
// Offsets inside the counter set; counters of a group that no row names stay zero because nothing in the
// model raises them.
struct PpcntRow {
    u8 group;
    u16 offset;
    u64 (*value)(const Port &port, unsigned prio);
    bool narrow = false; // 32 bits
};
static_assert(Ppcnt::prio_tc.mask() < Port::kPriorities);
constexpr PpcntRow kPpcnt[] = {
    {Ppcnt::kIeee8023, 0x00, [](const Port &p, unsigned) { return p.tx().frames; }},
    {Ppcnt::kIeee8023, 0x08, [](const Port &p, unsigned) { return p.rx().frames; }},
    {Ppcnt::kIeee8023, 0x20, [](const Port &p, unsigned) { return p.tx().octets; }},
    {Ppcnt::kIeee8023, 0x28, [](const Port &p, unsigned) { return p.rx().octets; }},
    {Ppcnt::kIeee8023, 0x30, [](const Port &p, unsigned) { return p.tx().multicast; }},
    {Ppcnt::kIeee8023, 0x38, [](const Port &p, unsigned) { return p.tx().broadcast; }},
    {Ppcnt::kIeee8023, 0x40, [](const Port &p, unsigned) { return p.rx().multicast; }},
    {Ppcnt::kIeee8023, 0x48, [](const Port &p, unsigned) { return p.rx().broadcast; }},
    {Ppcnt::kIeee8023, 0x60, [](const Port &p, unsigned) { return p.rx_errors(RxError::oversize); }},

    {Ppcnt::kRfc2863, 0x00, [](const Port &p, unsigned) { return p.rx().octets; }},
    {Ppcnt::kRfc2863, 0x08, [](const Port &p, unsigned) { return p.rx().unicast(); }},
    {Ppcnt::kRfc2863, 0x10, [](const Port &p, unsigned) { return p.rx_errors(RxError::discard); }},
    {Ppcnt::kRfc2863, 0x18,
     [](const Port &p, unsigned) {
         return p.rx_errors(RxError::undersize) + p.rx_errors(RxError::oversize);
     }},
    {Ppcnt::kRfc2863, 0x28, [](const Port &p, unsigned) { return p.tx().octets; }},
    {Ppcnt::kRfc2863, 0x30, [](const Port &p, unsigned) { return p.tx().unicast(); }},
    {Ppcnt::kRfc2863, 0x48, [](const Port &p, unsigned) { return p.rx().multicast; }},
    {Ppcnt::kRfc2863, 0x50, [](const Port &p, unsigned) { return p.rx().broadcast; }},
    {Ppcnt::kRfc2863, 0x58, [](const Port &p, unsigned) { return p.tx().multicast; }},
    {Ppcnt::kRfc2863, 0x60, [](const Port &p, unsigned) { return p.tx().broadcast; }},

    {Ppcnt::kRfc2819, 0x08, [](const Port &p, unsigned) { return p.rx().octets; }},
    {Ppcnt::kRfc2819, 0x10, [](const Port &p, unsigned) { return p.rx().frames; }},
    {Ppcnt::kRfc2819, 0x18, [](const Port &p, unsigned) { return p.rx().broadcast; }},
    {Ppcnt::kRfc2819, 0x20, [](const Port &p, unsigned) { return p.rx().multicast; }},
    {Ppcnt::kRfc2819, 0x30, [](const Port &p, unsigned) { return p.rx_errors(RxError::undersize); }},
    {Ppcnt::kRfc2819, 0x38, [](const Port &p, unsigned) { return p.rx_errors(RxError::oversize); }},
    {Ppcnt::kRfc2819, 0x58, [](const Port &p, unsigned) { return p.rx().by_size[0]; }},
    {Ppcnt::kRfc2819, 0x60, [](const Port &p, unsigned) { return p.rx().by_size[1]; }},
    {Ppcnt::kRfc2819, 0x68, [](const Port &p, unsigned) { return p.rx().by_size[2]; }},
    {Ppcnt::kRfc2819, 0x70, [](const Port &p, unsigned) { return p.rx().by_size[3]; }},
    {Ppcnt::kRfc2819, 0x78, [](const Port &p, unsigned) { return p.rx().by_size[4]; }},
    {Ppcnt::kRfc2819, 0x80, [](const Port &p, unsigned) { return p.rx().by_size[5]; }},
    {Ppcnt::kRfc2819, 0x88, [](const Port &p, unsigned) { return p.rx().by_size[6]; }},
    {Ppcnt::kRfc2819, 0x90, [](const Port &p, unsigned) { return p.rx().by_size[7]; }},
    {Ppcnt::kRfc2819, 0x98, [](const Port &p, unsigned) { return p.rx().by_size[8]; }},
    {Ppcnt::kRfc2819, 0xa0, [](const Port &p, unsigned) { return p.rx().by_size[9]; }},

    {Ppcnt::kRfc3635, 0x50, [](const Port &p, unsigned) { return p.rx_errors(RxError::oversize); }},

    {Ppcnt::kPerPriority, 0x00, [](const Port &p, unsigned prio) { return p.rx().prio_octets[prio]; }},
    {Ppcnt::kPerPriority, 0x20, [](const Port &p, unsigned prio) { return p.rx().prio_frames[prio]; }},
    {Ppcnt::kPerPriority, 0x28, [](const Port &p, unsigned prio) { return p.tx().prio_octets[prio]; }},
    {Ppcnt::kPerPriority, 0x48, [](const Port &p, unsigned prio) { return p.tx().prio_frames[prio]; }},

    {Ppcnt::kPhysicalLayer, 0xc0, [](const Port &p, unsigned) { return p.link_downs(); }, /*narrow=*/true},
};
static_assert(std::size(kPpcnt) <= Port::kMostPpcntRows);

Reply read_ppcnt(Device &device, In in, Out out) {
    if (wrong_port<Ppcnt>(in)) return fail(Status::bad_parameter, kSynPort);
    ConstView<Ppcnt> image(in.data());
    u32 group = image.get(Ppcnt::grp), prio = image.get(Ppcnt::prio_tc);
    bool known = std::any_of(std::begin(kPpcnt), std::end(kPpcnt),
                             [&](const PpcntRow &r) { return r.group == group; });
    if (!known) return fail(Status::bad_parameter, kSynGroup);
    if (prio != 0 && group != Ppcnt::kPerPriority) return fail(Status::bad_parameter, kSynValue);
    View<Ppcnt>(out.data()).set(Ppcnt::local_port, kPort).set(Ppcnt::grp, group).set(Ppcnt::prio_tc, prio);
    for (const PpcntRow &row : kPpcnt) {
        if (row.group != group) continue;
        u64 &base = device.port.ppcnt_base[&row - kPpcnt][prio];
        u64 value = row.value(device.port, prio);
        u8 *at = out.data() + Ppcnt::counters + row.offset;
        row.narrow ? store_be32(at, static_cast<u32>(value - base)) : store_be64(at, value - base);
        if (image.get(Ppcnt::clr)) base = value;
    }
    return kOk;
}

// ---- HOST_ENDIANNESS
// Tells the byte order of atomic operands; there are none, so the card only remembers it.
Reply read_host_endianness(Device &device, In, Out out) {
    out[0] = device.hca.big_endian_host ? HostEndianness::kBig : HostEndianness::kLittle;
    return kOk;
}
Reply write_host_endianness(Device &device, In in, Out out) {
    if (in[0] != HostEndianness::kLittle && in[0] != HostEndianness::kBig)
        return fail(Status::bad_parameter, kSynValue);
    device.hca.big_endian_host = in[0] == HostEndianness::kBig;
    return read_host_endianness(device, in, out);
}

struct Register {
    RegisterId id;
    u16 bytes;
    Reply (*read)(Device &, In, Out);
    Reply (*write)(Device &, In, Out); // null: read only
};
constexpr Register kRegisters[] = {
    {RegisterId::pmtu, Pmtu::bytes, read_pmtu, write_pmtu},
    {RegisterId::ptys, Ptys::bytes, read_ptys, write_ptys},
    {RegisterId::paos, Paos::bytes, read_paos, write_paos},
    {RegisterId::pfcc, Pfcc::bytes, read_pfcc, write_pfcc},
    {RegisterId::ppcnt, Ppcnt::bytes, read_ppcnt, nullptr},
    {RegisterId::host_endianness, HostEndianness::bytes, read_host_endianness, write_host_endianness},
};

} // namespace

Reply access_register(Device &device, const Request &request, const Response &response) {
    auto op = static_cast<RegisterOp>(request.op_mod);
    if (op != RegisterOp::read && op != RegisterOp::write) return fail(Status::bad_parameter, kSynOpMod);
    auto id = static_cast<RegisterId>(request.view<AccessRegisterIn>().get(AccessRegisterIn::register_id));
    auto row = std::find_if(std::begin(kRegisters), std::end(kRegisters),
                            [&](const Register &r) { return r.id == id; });
    if (row == std::end(kRegisters)) {
        device.guest_error("unknown register", static_cast<u64>(id));
        return fail(Status::bad_parameter, kSynUnknown);
    }
    if (!request.has(AccessRegisterIn::image, row->bytes))
        return fail(Status::bad_input_length, kSynInputLength);
    if (response.bytes.size() < usize{AccessRegisterIn::image} + row->bytes)
        return fail(Status::bad_output_length, kSynOutputLength);
    auto access = op == RegisterOp::read ? row->read : row->write;
    if (!access) return fail(Status::bad_parameter, kSynAccess);
    return access(device, request.bytes.subspan(AccessRegisterIn::image),
                  response.bytes.subspan(AccessRegisterIn::image));
}

} // namespace niclab::connectx
