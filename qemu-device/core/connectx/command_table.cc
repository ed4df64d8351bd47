// SPDX-License-Identifier: GPL-2.0-or-later
// Every command of the card: one row each, ascending.
#include <algorithm>
#include <iterator>

#include "connectx/command.h"
#include "connectx/handlers.h"
#include "spec/caps.h"
#include "spec/hca.h"
#include "spec/objects.h"
#include "spec/queues.h"
#include "spec/registers.h"
#include "spec/steering.h"
#include "spec/tunnel.h"

namespace niclab::connectx {
namespace {

// Shortest input that names an object, and shortest output that holds status and syndrome, or a number behind
// them.
constexpr u16 kIn = CommandIn::bytes, kStatus = 0x08, kOut = CommandOut::bytes;
// Capability images may be cut: boot firmware asks for the first 256 bytes only.
constexpr u16 kCaps = QueryHcaCapOut::capability + GeneralCaps::bytes;

constexpr Command kCommands[] = {
    // opcode, name, least input, least output, not before, handler
    {Opcode::query_hca_cap, "QUERY_HCA_CAP", kIn, kCaps, Phase::enabled, query_hca_cap},
    {Opcode::query_adapter, "QUERY_ADAPTER", kIn, QueryAdapterOut::bytes, Phase::enabled, query_adapter},
    {Opcode::init_hca, "INIT_HCA", kIn, kStatus, Phase::enabled, init_hca},
    {Opcode::teardown_hca, "TEARDOWN_HCA", kIn, kStatus, Phase::running, teardown_hca},
    {Opcode::enable_hca, "ENABLE_HCA", kIn, kStatus, Phase::reset, enable_hca},
    {Opcode::disable_hca, "DISABLE_HCA", kIn, kStatus, Phase::enabled, disable_hca},
    {Opcode::query_pages, "QUERY_PAGES", kIn, QueryPagesOut::bytes, Phase::enabled, query_pages},
    {Opcode::manage_pages, "MANAGE_PAGES", kIn, ManagePagesOut::bytes, Phase::enabled, manage_pages},
    {Opcode::set_hca_cap, "SET_HCA_CAP", kCaps, kStatus, Phase::enabled, set_hca_cap},
    {Opcode::query_issi, "QUERY_ISSI", kIn, QueryIssiOut::bytes, Phase::enabled, query_issi},
    {Opcode::set_issi, "SET_ISSI", kIn, kStatus, Phase::enabled, set_issi},
    {Opcode::create_mkey, "CREATE_MKEY", CreateMkeyIn::bytes, kOut, Phase::running, create_mkey},
    {Opcode::query_mkey, "QUERY_MKEY", kIn, QueryMkeyOut::bytes, Phase::running, query_mkey},
    {Opcode::destroy_mkey, "DESTROY_MKEY", kIn, kStatus, Phase::running, destroy_mkey},
    {Opcode::query_special_contexts, "QUERY_SPECIAL_CONTEXTS", kIn, QuerySpecialContextsOut::bytes,
     Phase::running, query_special_contexts},
    {Opcode::create_eq, "CREATE_EQ", CreateEqIn::bytes, kOut, Phase::running, create_eq},
    {Opcode::destroy_eq, "DESTROY_EQ", kIn, kStatus, Phase::running, destroy_eq},
    {Opcode::query_eq, "QUERY_EQ", kIn, QueryEqOut::bytes, Phase::running, query_eq},
    {Opcode::create_cq, "CREATE_CQ", CreateCqIn::bytes, kOut, Phase::running, create_cq},
    {Opcode::destroy_cq, "DESTROY_CQ", kIn, kStatus, Phase::running, destroy_cq},
    {Opcode::query_cq, "QUERY_CQ", kIn, QueryCqOut::bytes, Phase::running, query_cq},
    {Opcode::modify_cq, "MODIFY_CQ", ModifyCqIn::context + CqContext::bytes, kStatus, Phase::running,
     modify_cq},
    {Opcode::query_vport_state, "QUERY_VPORT_STATE", kIn, QueryVportStateOut::bytes, Phase::running,
     query_vport_state},
    {Opcode::query_nic_vport_context, "QUERY_NIC_VPORT_CONTEXT", kIn, QueryNicVportContextOut::bytes,
     Phase::running, query_nic_vport_context},
    {Opcode::modify_nic_vport_context, "MODIFY_NIC_VPORT_CONTEXT", ModifyNicVportContextIn::bytes, kStatus,
     Phase::running, modify_nic_vport_context},
    {Opcode::query_vnic_env, "QUERY_VNIC_ENV", kIn, QueryVnicEnvOut::bytes, Phase::running, query_vnic_env},
    {Opcode::query_vport_counter, "QUERY_VPORT_COUNTER", QueryVportCounterIn::bytes,
     QueryVportCounterOut::bytes, Phase::running, query_vport_counter},
    {Opcode::alloc_q_counter, "ALLOC_Q_COUNTER", kIn, kOut, Phase::running, alloc_q_counter},
    {Opcode::dealloc_q_counter, "DEALLOC_Q_COUNTER", kIn, kStatus, Phase::running, dealloc_q_counter},
    {Opcode::query_q_counter, "QUERY_Q_COUNTER", QueryQCounterIn::bytes, QueryQCounterOut::bytes,
     Phase::running, query_q_counter},
    {Opcode::alloc_pd, "ALLOC_PD", kIn, kOut, Phase::running, alloc_pd},
    {Opcode::dealloc_pd, "DEALLOC_PD", kIn, kStatus, Phase::running, dealloc_pd},
    {Opcode::alloc_uar, "ALLOC_UAR", kIn, kOut, Phase::running, alloc_uar},
    {Opcode::dealloc_uar, "DEALLOC_UAR", kIn, kStatus, Phase::running, dealloc_uar},
    {Opcode::access_register, "ACCESS_REG", AccessRegisterIn::bytes, kOut, Phase::enabled, access_register},
    {Opcode::alloc_transport_domain, "ALLOC_TRANSPORT_DOMAIN", kIn, kOut, Phase::running,
     alloc_transport_domain},
    {Opcode::dealloc_transport_domain, "DEALLOC_TRANSPORT_DOMAIN", kIn, kStatus, Phase::running,
     dealloc_transport_domain},
    {Opcode::add_vxlan_udp_dport, "ADD_VXLAN_UDP_DPORT", VxlanPortIn::bytes, kStatus, Phase::running,
     add_vxlan_udp_dport},
    {Opcode::delete_vxlan_udp_dport, "DELETE_VXLAN_UDP_DPORT", VxlanPortIn::bytes, kStatus, Phase::running,
     delete_vxlan_udp_dport},
    {Opcode::create_tir, "CREATE_TIR", CreateTirIn::bytes, kOut, Phase::running, create_tir},
    {Opcode::modify_tir, "MODIFY_TIR", ModifyTirIn::bytes, kStatus, Phase::running, modify_tir},
    {Opcode::destroy_tir, "DESTROY_TIR", kIn, kStatus, Phase::running, destroy_tir},
    {Opcode::query_tir, "QUERY_TIR", kIn, QueryTirOut::bytes, Phase::running, query_tir},
    {Opcode::create_sq, "CREATE_SQ", CreateQueueIn::bytes, kOut, Phase::running, create_sq},
    {Opcode::modify_sq, "MODIFY_SQ", ModifyQueueIn::context + SqContext::bytes, kStatus, Phase::running,
     modify_sq},
    {Opcode::destroy_sq, "DESTROY_SQ", kIn, kStatus, Phase::running, destroy_sq},
    {Opcode::query_sq, "QUERY_SQ", kIn, QueryQueueOut::bytes, Phase::running, query_sq},
    {Opcode::create_rq, "CREATE_RQ", CreateQueueIn::bytes, kOut, Phase::running, create_rq},
    {Opcode::modify_rq, "MODIFY_RQ", ModifyQueueIn::context + RqContext::bytes, kStatus, Phase::running,
     modify_rq},
    {Opcode::destroy_rq, "DESTROY_RQ", kIn, kStatus, Phase::running, destroy_rq},
    {Opcode::query_rq, "QUERY_RQ", kIn, QueryQueueOut::bytes, Phase::running, query_rq},
    {Opcode::create_tis, "CREATE_TIS", CreateTisIn::bytes, kOut, Phase::running, create_tis},
    {Opcode::modify_tis, "MODIFY_TIS", CreateTisIn::bytes, kStatus, Phase::running, modify_tis},
    {Opcode::destroy_tis, "DESTROY_TIS", kIn, kStatus, Phase::running, destroy_tis},
    {Opcode::query_tis, "QUERY_TIS", kIn, QueryTisOut::bytes, Phase::running, query_tis},
    {Opcode::create_rqt, "CREATE_RQT", CreateRqtIn::bytes, kOut, Phase::running, create_rqt},
    {Opcode::modify_rqt, "MODIFY_RQT", ModifyRqtIn::bytes, kStatus, Phase::running, modify_rqt},
    {Opcode::destroy_rqt, "DESTROY_RQT", kIn, kStatus, Phase::running, destroy_rqt},
    {Opcode::query_rqt, "QUERY_RQT", kIn, QueryRqtOut::bytes, Phase::running, query_rqt},
    {Opcode::set_flow_table_root, "SET_FLOW_TABLE_ROOT", SetFlowTableRootIn::bytes, kStatus, Phase::running,
     set_flow_table_root},
    {Opcode::create_flow_table, "CREATE_FLOW_TABLE", CreateFlowTableIn::bytes, kOut, Phase::running,
     create_flow_table},
    {Opcode::destroy_flow_table, "DESTROY_FLOW_TABLE", CreateFlowTableIn::bytes, kStatus, Phase::running,
     destroy_flow_table},
    {Opcode::create_flow_group, "CREATE_FLOW_GROUP", CreateFlowGroupIn::bytes, kOut, Phase::running,
     create_flow_group},
    {Opcode::destroy_flow_group, "DESTROY_FLOW_GROUP", DestroyFlowGroupIn::bytes, kStatus, Phase::running,
     destroy_flow_group},
    {Opcode::set_flow_table_entry, "SET_FLOW_TABLE_ENTRY", SetFteIn::bytes, kStatus, Phase::running,
     set_flow_table_entry},
    {Opcode::delete_flow_table_entry, "DELETE_FLOW_TABLE_ENTRY", DeleteFteIn::bytes, kStatus, Phase::running,
     delete_flow_table_entry},
    {Opcode::alloc_flow_counter, "ALLOC_FLOW_COUNTER", AllocFlowCounterIn::bytes, kOut, Phase::running,
     alloc_flow_counter},
    {Opcode::dealloc_flow_counter, "DEALLOC_FLOW_COUNTER", kIn, kStatus, Phase::running,
     dealloc_flow_counter},
    {Opcode::query_flow_counter, "QUERY_FLOW_COUNTER", QueryFlowCounterIn::bytes, kOut, Phase::running,
     query_flow_counter},
    {Opcode::modify_flow_table, "MODIFY_FLOW_TABLE", ModifyFlowTableIn::bytes, kStatus, Phase::running,
     modify_flow_table},
};
static_assert(std::is_sorted(std::begin(kCommands), std::end(kCommands),
                             [](const Command &a, const Command &b) { return a.opcode < b.opcode; }));

} // namespace

const Command *find_command(u16 opcode) {
    auto before = [](const Command &row, u16 code) { return static_cast<u16>(row.opcode) < code; };
    const Command *row = std::lower_bound(std::begin(kCommands), std::end(kCommands), opcode, before);
    return row != std::end(kCommands) && static_cast<u16>(row->opcode) == opcode ? row : nullptr;
}

} // namespace niclab::connectx
