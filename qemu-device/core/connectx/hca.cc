// SPDX-License-Identifier: GPL-2.0-or-later
// ENABLE_HCA to DISABLE_HCA: the life of the card, and what describes it.
#include "connectx/hca.h"

#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"
#include "spec/hca.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynFunction = 0x510001, kSynPhase = 0x510002, kSynPages = 0x510003, kSynProfile = 0x510004,
              kSynIssi = 0x510005, kSynOpMod = 0x510006;
constexpr u32 kSupportedIssi = 0x3; // bit n: ISSI n
constexpr u32 kIeeeVendorId = 0x0002c9;
constexpr char kPsid[] = "NLB0000000001"; // names the board; ours is no board of the vendor's

struct Transition {
    Phase from, to;
};
constexpr Transition kTransitions[] = {
    {Phase::reset, Phase::enabled},   // ENABLE_HCA
    {Phase::enabled, Phase::running}, // INIT_HCA
    {Phase::running, Phase::enabled}, // TEARDOWN_HCA
    {Phase::enabled, Phase::reset},   // DISABLE_HCA
};

bool other_function(const Request &request) {
    auto in = request.view<EnableHcaIn>();
    return in.get(EnableHcaIn::function_id) != 0 || in.get(EnableHcaIn::embedded_cpu) != 0;
}

} // namespace

bool Hca::move_to(Device &device, Phase next) {
    for (auto [from, to] : kTransitions) {
        if (from != phase || to != next) continue;
        phase = next;
        device.trace(CX_TRACE_STATE, CX_HCA, 0, static_cast<u64>(next));
        return true;
    }
    return false;
}

void Hca::reset(Device &device) {
    phase = Phase::reset;
    issi = 0;
    big_endian_host = false;
    inject(HealthSyndrome::good, false);
    caps.reset();
    pages.forget();
    device.counters.set(Counter::live_pages, 0);
}

Reply enable_hca(Device &device, const Request &request, const Response &) {
    if (other_function(request)) return fail(Status::bad_parameter, kSynFunction);
    // Whoever registered the command queue since the last ENABLE_HCA knows nothing of what an earlier owner
    // left behind.
    bool new_owner = device.commands.take_registered();
    if (new_owner && device.hca.phase != Phase::reset) device.power_on();
    if (!device.hca.move_to(device, Phase::enabled)) return fail(Status::bad_system_state, kSynPhase);
    device.hca.inline_mode = static_cast<InlineMode>(device.config.inline_headers);
    device.hca.caps.require_inline(device.hca.inline_mode);
    device.real_time.use(device.config.real_time_clock);
    if (device.real_time.used()) device.hca.caps.offer_real_time();
    return kOk;
}

Reply disable_hca(Device &device, const Request &request, const Response &) {
    if (other_function(request)) return fail(Status::bad_parameter, kSynFunction);
    if (!device.hca.move_to(device, Phase::reset)) return fail(Status::bad_system_state, kSynPhase);
    device.power_on();
    return kOk;
}

Reply init_hca(Device &device, const Request &, const Response &) {
    if (device.hca.phase != Phase::enabled) return fail(Status::bad_system_state, kSynPhase);
    if (device.hca.pages.live() < Pages::kBoot + Pages::kInit) return fail(Status::no_resources, kSynPages);
    device.hca.move_to(device, Phase::running);
    return kOk;
}

Reply teardown_hca(Device &device, const Request &request, const Response &) {
    // Force and fast teardown are not offered.
    if (request.view<TeardownHcaIn>().get(TeardownHcaIn::profile) != 0)
        return fail(Status::bad_parameter, kSynProfile);
    if (!device.hca.move_to(device, Phase::enabled)) return fail(Status::bad_system_state, kSynPhase);
    device.drop_objects();
    return kOk;
}

Reply query_issi(Device &device, const Request &, const Response &response) {
    response.view<QueryIssiOut>()
        .set(QueryIssiOut::current_issi, device.hca.issi)
        .set(QueryIssiOut::supported_issi_dw0, kSupportedIssi);
    return kOk;
}

Reply set_issi(Device &device, const Request &request, const Response &) {
    u32 issi = request.view<SetIssiIn>().get(SetIssiIn::current_issi);
    if (issi > 31 || !(kSupportedIssi >> issi & 1)) return fail(Status::bad_parameter, kSynIssi);
    device.hca.issi = static_cast<u16>(issi);
    return kOk;
}

Reply query_adapter(Device &, const Request &request, const Response &response) {
    if (request.op_mod != 0) return fail(Status::bad_parameter, kSynOpMod);
    response.view<QueryAdapterOut>().set(QueryAdapterOut::ieee_vendor_id, kIeeeVendorId);
    std::memcpy(response.bytes.data() + QueryAdapterOut::psid, kPsid, sizeof(kPsid) - 1);
    return kOk;
}

} // namespace niclab::connectx
