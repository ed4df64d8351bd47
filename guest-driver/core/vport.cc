// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/vport.h"

namespace niclab::driver {

namespace {

struct VportContext {
    u8 raw[NicVportContext::bytes] = {};
};

Result<VportContext> query_context(CommandInterface &commands) {
    Command<QueryNicVportContextIn::bytes, QueryNicVportContextOut::bytes> command(
        Opcode::query_nic_vport_context);
    TRY(command.execute(commands));
    VportContext context;
    copy_bytes(context.raw, command.out() + QueryNicVportContextOut::context, sizeof(context.raw));
    return context;
}

PacketsAndBytes pair_at(const u8 *at) { return {load_be64(at), load_be64(at + 8)}; }

} // namespace

Result<MacAddress> query_mac(CommandInterface &commands) {
    auto context = TRY(query_context(commands));
    MacAddress mac;
    copy_bytes(mac.bytes, context.raw + NicVportContext::permanent_address, sizeof(mac.bytes));
    return mac;
}

Result<u32> query_min_inline_mode(CommandInterface &commands) {
    auto context = TRY(query_context(commands));
    return ConstView<NicVportContext>(context.raw).get(NicVportContext::min_wqe_inline_mode);
}

Result<void> set_vport_mtu(CommandInterface &commands, u32 hardware_mtu) {
    Command<ModifyNicVportContextIn::bytes> command(Opcode::modify_nic_vport_context);
    command.input<ModifyNicVportContextIn>().set(ModifyNicVportContextIn::select_mtu, 1);
    command.input<NicVportContext>(ModifyNicVportContextIn::context).set(NicVportContext::mtu, hardware_mtu);
    return command.execute(commands);
}

Result<bool> query_vport_up(CommandInterface &commands) {
    Command<CommandIn::bytes, QueryVportStateOut::bytes> command(Opcode::query_vport_state);
    TRY(command.execute(commands));
    return command.output<QueryVportStateOut>().get(QueryVportStateOut::state) == 1;
}

Result<VportCounters> query_vport_counters(CommandInterface &commands) {
    Command<QueryVportCounterIn::bytes, QueryVportCounterOut::bytes> command(Opcode::query_vport_counter);
    TRY(command.execute(commands));
    const u8 *out = command.out();
    using Out = QueryVportCounterOut;
    VportCounters counters;
    counters.rx_error = pair_at(out + Out::received_errors);
    counters.tx_error = pair_at(out + Out::transmit_errors);
    counters.rx_broadcast = pair_at(out + Out::received_broadcast);
    counters.tx_broadcast = pair_at(out + Out::transmitted_broadcast);
    counters.rx_unicast = pair_at(out + Out::received_unicast);
    counters.tx_unicast = pair_at(out + Out::transmitted_unicast);
    counters.rx_multicast = pair_at(out + Out::received_multicast);
    counters.tx_multicast = pair_at(out + Out::transmitted_multicast);
    return counters;
}

Result<u64> query_out_of_buffer(CommandInterface &commands, u32 counter_set) {
    Command<QueryQCounterIn::bytes, QueryQCounterOut::bytes> command(Opcode::query_q_counter);
    command.input<QueryQCounterIn>().set(QueryQCounterIn::counter_set_id, counter_set);
    TRY(command.execute(commands));
    return static_cast<u64>(command.output<QueryQCounterOut>().get(QueryQCounterOut::out_of_buffer));
}

} // namespace niclab::driver
