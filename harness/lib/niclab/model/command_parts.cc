// SPDX-License-Identifier: GPL-2.0-or-later
// Which layouts a command's input and output are made of. The words that all commands share come first in
// each.
#include "niclab/model/decode.h"
#include "niclab/model/tables.h"
#include "spec/caps.h"
#include "spec/command.h"
#include "spec/hca.h"
#include "spec/objects.h"
#include "spec/queues.h"
#include "spec/registers.h"
#include "spec/steering.h"

namespace niclab::model {
namespace {

enum Side : bool { in = false, out = true };

struct Part {
    Opcode opcode;
    Side side;
    Piece piece;
};

constexpr Part kParts[] = {
    {Opcode::enable_hca, in, {"EnableHcaIn", 0}},
    {Opcode::disable_hca, in, {"EnableHcaIn", 0}},
    {Opcode::teardown_hca, in, {"TeardownHcaIn", 0}},
    {Opcode::query_issi, out, {"QueryIssiOut", 0}},
    {Opcode::set_issi, in, {"SetIssiIn", 0}},
    {Opcode::query_pages, out, {"QueryPagesOut", 0}},
    {Opcode::manage_pages, in, {"ManagePagesIn", 0}},
    {Opcode::manage_pages, out, {"ManagePagesOut", 0}},
    {Opcode::query_adapter, out, {"QueryAdapterOut", 0}},
    {Opcode::create_mkey, in, {"CreateMkeyIn", 0}},
    {Opcode::create_mkey, in, {"MkeyContext", CreateMkeyIn::context}},
    {Opcode::create_mkey, out, {"ObjectOut", 0}},
    {Opcode::query_mkey, in, {"ObjectIn", 0}},
    {Opcode::query_mkey, out, {"MkeyContext", QueryMkeyOut::context}},
    {Opcode::destroy_mkey, in, {"ObjectIn", 0}},
    {Opcode::query_special_contexts, out, {"QuerySpecialContextsOut", 0}},
    {Opcode::create_eq, in, {"EqContext", CreateEqIn::context}},
    {Opcode::create_eq, out, {"CreateEqOut", 0}},
    {Opcode::query_eq, in, {"EqNumberIn", 0}},
    {Opcode::query_eq, out, {"EqContext", QueryEqOut::context}},
    {Opcode::destroy_eq, in, {"EqNumberIn", 0}},
    {Opcode::create_cq, in, {"CqContext", CreateCqIn::context}},
    {Opcode::create_cq, out, {"ObjectOut", 0}},
    {Opcode::query_cq, in, {"ObjectIn", 0}},
    {Opcode::query_cq, out, {"CqContext", QueryCqOut::context}},
    {Opcode::modify_cq, in, {"ModifyCqIn", 0}},
    {Opcode::modify_cq, in, {"CqContext", ModifyCqIn::context}},
    {Opcode::destroy_cq, in, {"ObjectIn", 0}},
    {Opcode::query_vport_state, out, {"QueryVportStateOut", 0}},
    {Opcode::query_nic_vport_context, in, {"QueryNicVportContextIn", 0}},
    {Opcode::query_nic_vport_context, out, {"NicVportContext", QueryNicVportContextOut::context}},
    {Opcode::modify_nic_vport_context, in, {"ModifyNicVportContextIn", 0}},
    {Opcode::modify_nic_vport_context, in, {"NicVportContext", ModifyNicVportContextIn::context}},
    {Opcode::query_vport_counter, in, {"QueryVportCounterIn", 0}},
    {Opcode::query_vnic_env, out, {"QueryVnicEnvOut", 0}},
    {Opcode::alloc_q_counter, out, {"AllocQCounterOut", 0}},
    {Opcode::dealloc_q_counter, in, {"DeallocQCounterIn", 0}},
    {Opcode::query_q_counter, in, {"QueryQCounterIn", 0}},
    {Opcode::query_q_counter, out, {"QueryQCounterOut", 0}},
    {Opcode::alloc_pd, out, {"ObjectOut", 0}},
    {Opcode::dealloc_pd, in, {"ObjectIn", 0}},
    {Opcode::alloc_uar, out, {"ObjectOut", 0}},
    {Opcode::dealloc_uar, in, {"ObjectIn", 0}},
    {Opcode::alloc_transport_domain, out, {"ObjectOut", 0}},
    {Opcode::dealloc_transport_domain, in, {"ObjectIn", 0}},
    {Opcode::access_register, in, {"AccessRegisterIn", 0}},
    {Opcode::add_vxlan_udp_dport, in, {"VxlanPortIn", 0}},
    {Opcode::delete_vxlan_udp_dport, in, {"VxlanPortIn", 0}},
    {Opcode::create_tir, in, {"TirContext", CreateTirIn::context}},
    {Opcode::create_tir, out, {"ObjectOut", 0}},
    {Opcode::modify_tir, in, {"ModifyTirIn", 0}},
    {Opcode::modify_tir, in, {"TirContext", ModifyTirIn::context}},
    {Opcode::query_tir, in, {"ObjectIn", 0}},
    {Opcode::query_tir, out, {"TirContext", QueryTirOut::context}},
    {Opcode::destroy_tir, in, {"ObjectIn", 0}},
    {Opcode::create_sq, in, {"SqContext", CreateQueueIn::context}},
    {Opcode::create_sq, in, {"WqContext", CreateQueueIn::wq}},
    {Opcode::create_sq, out, {"ObjectOut", 0}},
    {Opcode::modify_sq, in, {"ModifyQueueIn", 0}},
    {Opcode::modify_sq, in, {"SqContext", ModifyQueueIn::context}},
    {Opcode::query_sq, in, {"ObjectIn", 0}},
    {Opcode::query_sq, out, {"SqContext", QueryQueueOut::context}},
    {Opcode::destroy_sq, in, {"ObjectIn", 0}},
    {Opcode::create_rq, in, {"RqContext", CreateQueueIn::context}},
    {Opcode::create_rq, in, {"WqContext", CreateQueueIn::wq}},
    {Opcode::create_rq, out, {"ObjectOut", 0}},
    {Opcode::modify_rq, in, {"ModifyQueueIn", 0}},
    {Opcode::modify_rq, in, {"RqContext", ModifyQueueIn::context}},
    {Opcode::query_rq, in, {"ObjectIn", 0}},
    {Opcode::query_rq, out, {"RqContext", QueryQueueOut::context}},
    {Opcode::destroy_rq, in, {"ObjectIn", 0}},
    {Opcode::create_tis, in, {"TisContext", CreateTisIn::context}},
    {Opcode::create_tis, out, {"ObjectOut", 0}},
    {Opcode::modify_tis, in, {"TisContext", CreateTisIn::context}},
    {Opcode::query_tis, in, {"ObjectIn", 0}},
    {Opcode::query_tis, out, {"TisContext", QueryTisOut::context}},
    {Opcode::destroy_tis, in, {"ObjectIn", 0}},
    {Opcode::create_rqt, in, {"RqtContext", CreateRqtIn::context}},
    {Opcode::create_rqt, out, {"ObjectOut", 0}},
    {Opcode::modify_rqt, in, {"ModifyRqtIn", 0}},
    {Opcode::modify_rqt, in, {"RqtContext", ModifyRqtIn::context}},
    {Opcode::query_rqt, in, {"ObjectIn", 0}},
    {Opcode::query_rqt, out, {"RqtContext", QueryRqtOut::context}},
    {Opcode::destroy_rqt, in, {"ObjectIn", 0}},
    {Opcode::set_flow_table_root, in, {"FlowTableIn", 0}},
    {Opcode::create_flow_table, in, {"FlowTableIn", 0}},
    {Opcode::create_flow_table, in, {"FlowTableContext", CreateFlowTableIn::context}},
    {Opcode::create_flow_table, out, {"ObjectOut", 0}},
    {Opcode::modify_flow_table, in, {"FlowTableIn", 0}},
    {Opcode::modify_flow_table, in, {"ModifyFlowTableIn", 0}},
    {Opcode::modify_flow_table, in, {"FlowTableContext", ModifyFlowTableIn::context}},
    {Opcode::destroy_flow_table, in, {"FlowTableIn", 0}},
    {Opcode::create_flow_group, in, {"FlowTableIn", 0}},
    {Opcode::create_flow_group, in, {"CreateFlowGroupIn", 0}},
    {Opcode::create_flow_group, in, {"MatchL2L4", CreateFlowGroupIn::match_criteria}},
    {Opcode::create_flow_group, in, {"MatchL2L4", CreateFlowGroupIn::match_criteria + kMatchInner}},
    {Opcode::create_flow_group, out, {"ObjectOut", 0}},
    {Opcode::destroy_flow_group, in, {"FlowTableIn", 0}},
    {Opcode::destroy_flow_group, in, {"DestroyFlowGroupIn", 0}},
    {Opcode::set_flow_table_entry, in, {"FlowTableIn", 0}},
    {Opcode::set_flow_table_entry, in, {"SetFteIn", 0}},
    {Opcode::set_flow_table_entry, in, {"MatchL2L4", SetFteIn::match_value}},
    {Opcode::set_flow_table_entry, in, {"MatchL2L4", SetFteIn::match_value + kMatchInner}},
    {Opcode::delete_flow_table_entry, in, {"FlowTableIn", 0}},
    {Opcode::delete_flow_table_entry, in, {"DeleteFteIn", 0}},
    {Opcode::alloc_flow_counter, in, {"AllocFlowCounterIn", 0}},
    {Opcode::alloc_flow_counter, out, {"AllocFlowCounterOut", 0}},
    {Opcode::dealloc_flow_counter, in, {"AllocFlowCounterOut", 0}},
    {Opcode::query_flow_counter, in, {"QueryFlowCounterIn", 0}},
};

/// The layout of the register that ACCESS_REG names: called as the register, or shared by the three of one
/// kind.
std::string_view register_layout(Bytes input) {
    u32 id = ConstView<AccessRegisterIn>(input.data()).get(AccessRegisterIn::register_id);
    switch (static_cast<RegisterId>(id)) {
    case RegisterId::pcam:
    case RegisterId::mcam:
    case RegisterId::qcam:
        return "RegisterCaps";
    default:
        break;
    }
    std::string name(name_of("RegisterId", id));
    if (name.empty()) return {};
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    const LayoutRow *layout = find_layout(name);
    return layout ? layout->name : std::string_view();
}

std::string_view capability_layout(u16 type) {
    switch (static_cast<CapType>(type)) {
    case CapType::general:
        return "GeneralCaps";
    case CapType::ethernet:
        return "EthernetCaps";
    default:
        return {};
    }
}

void add_lists(std::vector<Piece> &pieces, Opcode opcode, Bytes input) {
    if (opcode == Opcode::access_register && input.size() >= AccessRegisterIn::bytes)
        pieces.push_back({register_layout(input), AccessRegisterIn::image});
    if (opcode == Opcode::set_hca_cap && input.size() >= CommandIn::bytes) {
        u32 op_mod = ConstView<CommandIn>(input.data()).get(CommandIn::op_mod);
        pieces.push_back({capability_layout(static_cast<u16>(op_mod >> 1)), QueryHcaCapOut::capability});
    }
    if (opcode == Opcode::set_flow_table_entry)
        for (usize at = SetFteIn::destination; at + FlowDestination::bytes <= input.size();
             at += FlowDestination::bytes)
            pieces.push_back({"FlowDestination", at});
}

} // namespace

std::vector<std::string_view> layouts_of_command(u16 opcode, bool output) {
    std::vector<std::string_view> names;
    for (const Part &part : kParts)
        if (static_cast<u16>(part.opcode) == opcode && part.side == output)
            names.push_back(part.piece.layout);
    return names;
}

std::vector<Piece> command_pieces(Bytes bytes, u16 opcode, bool output) {
    std::vector<Piece> pieces = {{output ? "CommandOut" : "CommandIn", 0}};
    for (const Part &part : kParts)
        if (static_cast<u16>(part.opcode) == opcode && part.side == output) pieces.push_back(part.piece);
    if (!output) add_lists(pieces, static_cast<Opcode>(opcode), bytes);
    std::erase_if(pieces, [&](const Piece &piece) { return !holds(bytes, piece); });
    return pieces;
}

} // namespace niclab::model
