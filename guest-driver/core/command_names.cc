// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/command_names.h"

#include "core/result.h"

namespace niclab::driver {

namespace {

struct OpcodeName {
    Opcode opcode;
    const char *name;
};
constexpr OpcodeName kOpcodeNames[] = {
    // the commands this driver sends
    {Opcode::query_hca_cap, "QUERY_HCA_CAP"},
    {Opcode::query_adapter, "QUERY_ADAPTER"},
    {Opcode::init_hca, "INIT_HCA"},
    {Opcode::teardown_hca, "TEARDOWN_HCA"},
    {Opcode::enable_hca, "ENABLE_HCA"},
    {Opcode::disable_hca, "DISABLE_HCA"},
    {Opcode::query_pages, "QUERY_PAGES"},
    {Opcode::manage_pages, "MANAGE_PAGES"},
    {Opcode::set_hca_cap, "SET_HCA_CAP"},
    {Opcode::query_issi, "QUERY_ISSI"},
    {Opcode::set_issi, "SET_ISSI"},
    {Opcode::create_mkey, "CREATE_MKEY"},
    {Opcode::destroy_mkey, "DESTROY_MKEY"},
    {Opcode::create_eq, "CREATE_EQ"},
    {Opcode::destroy_eq, "DESTROY_EQ"},
    {Opcode::create_cq, "CREATE_CQ"},
    {Opcode::destroy_cq, "DESTROY_CQ"},
    {Opcode::query_vport_state, "QUERY_VPORT_STATE"},
    {Opcode::query_nic_vport_context, "QUERY_NIC_VPORT_CONTEXT"},
    {Opcode::modify_nic_vport_context, "MODIFY_NIC_VPORT_CONTEXT"},
    {Opcode::query_vport_counter, "QUERY_VPORT_COUNTER"},
    {Opcode::alloc_q_counter, "ALLOC_Q_COUNTER"},
    {Opcode::dealloc_q_counter, "DEALLOC_Q_COUNTER"},
    {Opcode::query_q_counter, "QUERY_Q_COUNTER"},
    {Opcode::alloc_pd, "ALLOC_PD"},
    {Opcode::dealloc_pd, "DEALLOC_PD"},
    {Opcode::alloc_uar, "ALLOC_UAR"},
    {Opcode::dealloc_uar, "DEALLOC_UAR"},
    {Opcode::access_register, "ACCESS_REG"},
    {Opcode::alloc_transport_domain, "ALLOC_TRANSPORT_DOMAIN"},
    {Opcode::dealloc_transport_domain, "DEALLOC_TRANSPORT_DOMAIN"},
    {Opcode::create_tir, "CREATE_TIR"},
    {Opcode::destroy_tir, "DESTROY_TIR"},
    {Opcode::create_sq, "CREATE_SQ"},
    {Opcode::modify_sq, "MODIFY_SQ"},
    {Opcode::destroy_sq, "DESTROY_SQ"},
    {Opcode::create_rq, "CREATE_RQ"},
    {Opcode::modify_rq, "MODIFY_RQ"},
    {Opcode::destroy_rq, "DESTROY_RQ"},
    {Opcode::create_tis, "CREATE_TIS"},
    {Opcode::destroy_tis, "DESTROY_TIS"},
    {Opcode::create_rqt, "CREATE_RQT"},
    {Opcode::destroy_rqt, "DESTROY_RQT"},
    {Opcode::set_flow_table_root, "SET_FLOW_TABLE_ROOT"},
    {Opcode::create_flow_table, "CREATE_FLOW_TABLE"},
    {Opcode::destroy_flow_table, "DESTROY_FLOW_TABLE"},
    {Opcode::create_flow_group, "CREATE_FLOW_GROUP"},
    {Opcode::destroy_flow_group, "DESTROY_FLOW_GROUP"},
    {Opcode::set_flow_table_entry, "SET_FLOW_TABLE_ENTRY"},
    {Opcode::delete_flow_table_entry, "DELETE_FLOW_TABLE_ENTRY"},
};

constexpr StatusMeaning kStatusMeanings[] = {
    {"ok", 0, Status::ok},
    {"internal error", -kEio, Status::internal_error},
    {"bad operation", -kEopnotsupp, Status::bad_operation},
    {"bad parameter", -kEinval, Status::bad_parameter},
    {"bad system state", -kEio, Status::bad_system_state},
    {"bad resource", -kEinval, Status::bad_resource},
    {"resource busy", -kEbusy, Status::resource_busy},
    {"limits exceeded", -kEnomem, Status::limits_exceeded},
    {"bad resource state", -kEinval, Status::bad_resource_state},
    {"bad index", -kEinval, Status::bad_index},
    {"no resources", -kEagain, Status::no_resources},
    {"bad packet", -kEinval, Status::bad_packet},
    {"too many outstanding completions", -kEinval, Status::too_many_cqes},
    {"bad input length", -kEio, Status::bad_input_length},
    {"bad output length", -kEio, Status::bad_output_length},
};

} // namespace

const char *opcode_name(u16 opcode) {
    for (const OpcodeName &row : kOpcodeNames)
        if (static_cast<u16>(row.opcode) == opcode) return row.name;
    return "command";
}

StatusMeaning status_meaning(u8 status) {
    for (const StatusMeaning &row : kStatusMeanings)
        if (static_cast<u8>(row.status) == status) return row;
    return {"unknown status", -kEio, static_cast<Status>(status)};
}

} // namespace niclab::driver
