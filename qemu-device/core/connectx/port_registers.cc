// SPDX-License-Identifier: GPL-2.0-or-later
// The port's state and settings: MTU, speed, administrative state, checks, pause frames.
#include "connectx/device.h"
#include "connectx/registers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynModes = 0x540401, kSynFec = 0x540402, kSynPage = 0x540403, kSynPriorities = 0x540404,
              kSynChecks = 0x540405;
constexpr u32 kProtoEthernet = 4, kConnectorDirectAttach = 7, kAutonegComplete = 1, kRateUnitMbps = 100;

struct FecFields {
    FecClass speeds;
    Field<Pplm> cap, admin;
};
constexpr FecFields kFecFields[] = {
    {FecClass::g10_40, Pplm::fec_override_cap_10g_40g, Pplm::fec_override_admin_10g_40g},
    {FecClass::g25, Pplm::fec_override_cap_25g, Pplm::fec_override_admin_25g},
    {FecClass::g50, Pplm::fec_override_cap_50g, Pplm::fec_override_admin_50g},
    {FecClass::g100, Pplm::fec_override_cap_100g, Pplm::fec_override_admin_100g},
};

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
    const Link &link = device.port.link;
    constexpr auto kLegacy = Link::Bits::legacy, kExtended = Link::Bits::extended;
    View<Ptys> image(out.data());
    image.set(Ptys::local_port, kPort)
        .set(Ptys::proto_mask, kProtoEthernet)
        .set(Ptys::an_disable_cap, 1)
        .set(Ptys::an_disable_admin, !link.autonegotiates())
        .set(Ptys::ext_eth_proto_capability, link.capability(kExtended))
        .set(Ptys::eth_proto_capability, link.capability(kLegacy))
        .set(Ptys::ext_eth_proto_admin, link.admin(kExtended))
        .set(Ptys::eth_proto_admin, link.admin(kLegacy))
        .set(Ptys::connector_type, kConnectorDirectAttach);
    if (!device.port.up()) return kOk;
    image.set(Ptys::data_rate_oper, link.mbps() / kRateUnitMbps)
        .set(Ptys::ext_eth_proto_oper, link.oper(kExtended))
        .set(Ptys::eth_proto_oper, link.oper(kLegacy));
    if (link.autonegotiates())
        image.set(Ptys::an_status, kAutonegComplete)
            .set(Ptys::eth_proto_lp_advertise, link.capability(kExtended));
    return kOk;
}
// Modes are asked for in one of the two languages.
Reply write_ptys(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Ptys>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    ConstView<Ptys> image(in.data());
    u32 extended = image.get(Ptys::ext_eth_proto_admin), legacy = image.get(Ptys::eth_proto_admin);
    auto bits = extended ? Link::Bits::extended : Link::Bits::legacy;
    bool negotiate = !image.get(Ptys::an_disable_admin);
    if (image.get(Ptys::proto_mask) != kProtoEthernet || (extended && legacy) ||
        !device.port.link.ask(extended | legacy, bits, negotiate))
        return fail(Status::bad_parameter, kSynModes);
    return read_ptys(device, in, out);
}

// ---- PPLM
Reply read_pplm(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pplm>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    const Link &link = device.port.link;
    View<Pplm> image(out.data());
    image.set(Pplm::local_port, kPort)
        .set(Pplm::fec_mode_active, device.port.up() ? link.fec_oper() : u32{fec_none});
    for (const FecFields &row : kFecFields)
        image.set(row.cap, link.fec_able(row.speeds)).set(row.admin, link.fec_admin(row.speeds));
    return kOk;
}
// All or nothing. Takes effect when the link next comes up.
Reply write_pplm(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pplm>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    ConstView<Pplm> image(in.data());
    Link &link = device.port.link;
    bool allowed = image.get(Pplm::fec_override_admin_56g) == 0;
    for (const FecFields &row : kFecFields)
        allowed &= link.fec_allowed(row.speeds, static_cast<u8>(image.get(row.admin)));
    if (!allowed) return fail(Status::bad_parameter, kSynFec);
    for (const FecFields &row : kFecFields)
        link.ask_fec(row.speeds, static_cast<u8>(image.get(row.admin)));
    return read_pplm(device, in, out);
}

// ---- PDDR
Reply read_pddr(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pddr>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    ConstView<Pddr> asked(in.data());
    if (asked.get(Pddr::page_select) != Pddr::kTroubleshooting || asked.get(Pddr::group_opcode) != 0)
        return fail(Status::bad_parameter, kSynPage);
    const Port &port = device.port;
    u32 trouble = !port.module_plugged()       ? Pddr::kNoCable
                  : !port.admin_up()           ? Pddr::kClosedByCommand
                  : port.up()                  ? Pddr::kNoIssue
                  : port.link.autonegotiates() ? Pddr::kNoPartner
                                               : Pddr::kNoPartnerForced;
    View<Pddr>(out.data())
        .set(Pddr::local_port, kPort)
        .set(Pddr::page_select, Pddr::kTroubleshooting)
        .set(Pddr::status_opcode, trouble);
    return kOk;
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

// ---- PCMR
Reply read_pcmr(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pcmr>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    View<Pcmr>(out.data())
        .set(Pcmr::local_port, kPort)
        .set(Pcmr::fcs_cap, 1)
        .set(Pcmr::fcs_chk, device.port.checks_fcs);
    return kOk;
}
// Of what could be set only the check of the FCS is offered.
Reply write_pcmr(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pcmr>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    ConstView<Pcmr> image(in.data());
    for (auto field : {Pcmr::entropy_force, Pcmr::entropy_calc, Pcmr::entropy_gre_calc, Pcmr::rx_ts_over_crc})
        if (image.get(field)) return fail(Status::bad_parameter, kSynChecks);
    device.port.checks_fcs = image.get(Pcmr::fcs_chk);
    return read_pcmr(device, in, out);
}

// ---- PFCC
Reply read_pfcc(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pfcc>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    View<Pfcc>(out.data())
        .set(Pfcc::local_port, kPort)
        .set(Pfcc::pptx, device.port.pause.sends())
        .set(Pfcc::pprx, device.port.pause.receives());
    return kOk;
}
// Pausing single priorities is not offered.
Reply write_pfcc(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pfcc>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    ConstView<Pfcc> image(in.data());
    if (image.get(Pfcc::pfctx) || image.get(Pfcc::pfcrx)) return fail(Status::bad_parameter, kSynPriorities);
    Pause &pause = device.port.pause;
    pause.set(image.get(Pfcc::pprx_mask_n) ? pause.receives() : image.get(Pfcc::pprx) != 0,
              image.get(Pfcc::pptx_mask_n) ? pause.sends() : image.get(Pfcc::pptx) != 0);
    return read_pfcc(device, in, out);
}

} // namespace niclab::connectx
