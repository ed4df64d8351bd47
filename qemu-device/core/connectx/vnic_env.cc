// SPDX-License-Identifier: GPL-2.0-or-later
// QUERY_VNIC_ENV: what was lost outside of any queue, by cause. The counters are the card's own.
#include "connectx/device.h"
#include "connectx/handlers.h"
#include "spec/hca.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynOther = 0x610001; // there is one vport

} // namespace

Reply query_vnic_env(Device &device, const Request &request, const Response &response) {
    auto in = request.view<QueryVportCounterIn>();
    if (request.op_mod != 0 || in.get(QueryVportCounterIn::other_vport) ||
        in.get(QueryVportCounterIn::vport_number))
        return fail(Status::bad_parameter, kSynOther);
    auto count = [&](Counter c) { return device.counters.get(c); };
    response.view<QueryVnicEnvOut>()
        .set(QueryVnicEnvOut::total_error_queues, static_cast<u32>(count(Counter::queue_errors)))
        .set(QueryVnicEnvOut::nic_receive_steering_discard,
             count(Counter::rx_drop_no_root) + count(Counter::rx_drop_steering))
        .set(QueryVnicEnvOut::receive_discard_vport_down, count(Counter::rx_drop_port_down))
        .set(QueryVnicEnvOut::transmit_discard_vport_down, count(Counter::tx_drop_port_down))
        .set(QueryVnicEnvOut::cq_overrun, static_cast<u32>(count(Counter::cq_overruns)))
        .set(QueryVnicEnvOut::eth_wqe_too_small, static_cast<u32>(count(Counter::rx_drop_wqe_too_small)));
    return kOk;
}

} // namespace niclab::connectx
