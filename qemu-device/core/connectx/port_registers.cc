// SPDX-License-Identifier: GPL-2.0-or-later
// The port's state and settings: MTU, speed, administrative state, pause frames.
#include "connectx/device.h"
#include "connectx/registers.h"

namespace niclab::connectx {
namespace {

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

} // namespace

// ---- PMTU
Reply read_pmtu(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pmtu>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    View<Pmtu>(out.data())
        .set(Pmtu::local_port, kPort)
        .set(Pmtu::max_mtu, Port::kMaxMtu)
        .set(Pmtu::admin_mtu, device.port.oper_mtu())
        .set(Pmtu::oper_mtu, device.port.oper_mtu());
    return kOk;
}
Reply write_pmtu(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pmtu>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    if (!device.port.set_mtu(ConstView<Pmtu>(in.data()).get(Pmtu::admin_mtu)))
        return fail(Status::bad_parameter, kSynRegisterValue);
    return read_pmtu(device, in, out);
}

// ---- PTYS
Reply read_ptys(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Ptys>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    if (ConstView<Ptys>(in.data()).get(Ptys::proto_mask) != kProtoEthernet)
        return fail(Status::bad_parameter, kSynRegisterValue);
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
Reply write_ptys(Device &device, RegisterIn in, RegisterOut out) {
    ConstView<Ptys> image(in.data());
    if (image.get(Ptys::eth_proto_admin) != protocols(device) || image.get(Ptys::an_disable_admin))
        return fail(Status::bad_parameter, kSynRegisterValue);
    return read_ptys(device, in, out);
}

// ---- PAOS
Reply read_paos(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Paos>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    auto state = [](bool up) { return static_cast<u32>(up ? PortState::up : PortState::down); };
    View<Paos>(out.data())
        .set(Paos::local_port, kPort)
        .set(Paos::admin_status, state(device.port.admin_up()))
        .set(Paos::oper_status, state(device.port.up()));
    return kOk;
}
Reply write_paos(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Paos>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    ConstView<Paos> image(in.data());
    auto admin = static_cast<PortState>(image.get(Paos::admin_status));
    if (image.get(Paos::ase)) {
        if (admin != PortState::up && admin != PortState::down)
            return fail(Status::bad_parameter, kSynRegisterValue);
        device.port.set_admin(admin == PortState::up);
    }
    return read_paos(device, in, out);
}

// ---- PFCC
// The port neither sends nor obeys pause frames, and says so; only that may be set.
Reply read_pfcc(Device &, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pfcc>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    View<Pfcc>(out.data()).set(Pfcc::local_port, kPort);
    return kOk;
}
Reply write_pfcc(Device &device, RegisterIn in, RegisterOut out) {
    ConstView<Pfcc> image(in.data());
    if (image.get(Pfcc::pptx) || image.get(Pfcc::pprx) || image.get(Pfcc::pfctx) || image.get(Pfcc::pfcrx))
        return fail(Status::bad_parameter, kSynRegisterValue);
    return read_pfcc(device, in, out);
}

} // namespace niclab::connectx
