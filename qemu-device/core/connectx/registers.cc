// SPDX-License-Identifier: GPL-2.0-or-later
// ACCESS_REG: every register of the card, one row each.
#include "connectx/registers.h"

#include <algorithm>

#include "connectx/device.h"
#include "connectx/handlers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynOpMod = 0x540001, kSynUnknown = 0x540002, kSynInputLength = 0x540003,
              kSynOutputLength = 0x540004, kSynAccess = 0x540005;

constexpr Register kRegisters[] = {
    {RegisterId::qcam, "QCAM", RegisterCaps::bytes, read_qcam, nullptr},
    {RegisterId::pmlp, "PMLP", Pmlp::bytes, read_pmlp, nullptr},
    {RegisterId::pmtu, "PMTU", Pmtu::bytes, read_pmtu, write_pmtu},
    {RegisterId::ptys, "PTYS", Ptys::bytes, read_ptys, write_ptys},
    {RegisterId::paos, "PAOS", Paos::bytes, read_paos, write_paos},
    {RegisterId::pfcc, "PFCC", Pfcc::bytes, read_pfcc, write_pfcc},
    {RegisterId::ppcnt, "PPCNT", Ppcnt::bytes, read_ppcnt, nullptr},
    {RegisterId::pplm, "PPLM", Pplm::bytes, read_pplm, write_pplm},
    {RegisterId::pddr, "PDDR", Pddr::bytes, read_pddr, nullptr},
    {RegisterId::pcmr, "PCMR", Pcmr::bytes, read_pcmr, write_pcmr},
    {RegisterId::pcam, "PCAM", RegisterCaps::pcam_bytes, read_pcam, nullptr},
    {RegisterId::node_desc, "NODE_DESC", kNodeDescBytes, read_node_desc, nullptr},
    {RegisterId::host_endianness, "HOST_ENDIANNESS", HostEndianness::bytes, read_host_endianness,
     write_host_endianness},
    {RegisterId::mtcap, "MTCAP", Mtcap::bytes, read_mtcap, nullptr},
    {RegisterId::mtmp, "MTMP", Mtmp::bytes, read_mtmp, write_mtmp},
    {RegisterId::mcia, "MCIA", Mcia::bytes, read_mcia, nullptr},
    {RegisterId::mlcr, "MLCR", Mlcr::bytes, read_mlcr, write_mlcr},
    {RegisterId::mpcnt, "MPCNT", Mpcnt::bytes, read_mpcnt, nullptr},
    {RegisterId::mtpps, "MTPPS", Mtpps::bytes, read_mtpps, write_mtpps},
    {RegisterId::mtppse, "MTPPSE", Mtppse::bytes, read_mtppse, write_mtppse},
    {RegisterId::mtutc, "MTUTC", Mtutc::bytes, read_mtutc, write_mtutc},
    {RegisterId::mcqs, "MCQS", Mcqs::bytes, read_mcqs, nullptr},
    {RegisterId::mcqi, "MCQI", Mcqi::bytes, read_mcqi, nullptr},
    {RegisterId::mcam, "MCAM", RegisterCaps::bytes, read_mcam, nullptr},
};
static_assert(std::is_sorted(std::begin(kRegisters), std::end(kRegisters),
                             [](const Register &a, const Register &b) { return a.id < b.id; }));

} // namespace

std::span<const Register> all_registers() { return kRegisters; }

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
