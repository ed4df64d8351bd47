// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/model/fields.h"

#include <algorithm>

#include "spec/queues.h"

namespace niclab::model {
namespace {

constexpr TypedField kTyped[] = {
    {"CommandIn", "opcode", "Opcode"},
    {"CommandOut", "status", "Status"},
    {"AccessRegisterIn", "register_id", "RegisterId"},
    {"CtrlSegment", "opcode", "WqeOpcode"},
    {"Cqe", "opcode", "CqeOpcode"},
    {"ErrorCqe", "opcode", "CqeOpcode"},
    {"ErrorCqe", "syndrome", "CqeSyndrome"},
    {"ErrorCqe", "wqe_opcode", "WqeOpcode"},
    {"Eqe", "type", "Event"},
    {"EqContext", "st", "EqState"},
    {"CqContext", "mini_cqe_res_format", "MiniCqeFormat"},
    {"WqContext", "wq_type", "WqType"},
    {"RqContext", "state", "QueueState"},
    {"SqContext", "state", "QueueState"},
    {"ModifyQueueIn", "state", "QueueState"},
    {"MkeyContext", "access_mode", "AccessMode"},
    {"TirContext", "disp_type", "TirDispatch"},
    {"TirContext", "rx_hash_fn", "HashFunction"},
    {"FlowTableIn", "table_type", "TableType"},
    {"FlowTableContext", "table_miss_action", "MissAction"},
    {"FlowDestination", "type", "Destination"},
    {"Paos", "admin_status", "PortState"},
    {"Paos", "oper_status", "PortState"},
};

constexpr u64 event(Event type) { return static_cast<u64>(type); }

constexpr ConditionalField kConditional[] = {
    {"Eqe", "completion_cqn", "type", event(Event::completion)},
    {"Eqe", "cq_error_cqn", "type", event(Event::cq_error)},
    {"Eqe", "cq_error_syndrome", "type", event(Event::cq_error)},
    {"Eqe", "command_vector", "type", event(Event::command)},
    {"Eqe", "port_number", "type", event(Event::port_change)},
    {"Eqe", "page_function_id", "type", event(Event::page_request)},
    {"Eqe", "page_count", "type", event(Event::page_request)},
    {"Eqe", "wq_type", "type", event(Event::wq_catastrophic)},
    {"DataSegment", "byte_count", "inline_data", 0},
    {"DataSegment", "lkey", "inline_data", 0},
    {"DataSegment", "address", "inline_data", 0},
    {"DataSegment", "inline_byte_count", "inline_data", 1},
    {"EthSegment", "insert_svlan", "insert_vlan", 1},
    {"EthSegment", "vlan_tci", "insert_vlan", 1},
    {"EthSegment", "inline_hdr_sz", "insert_vlan", 0},
    {"EthSegment", "inline_hdr_unused", "insert_vlan", 0},
};

} // namespace

std::span<const TypedField> typed_fields() { return kTyped; }
std::span<const ConditionalField> conditional_fields() { return kConditional; }

std::string_view type_of(const FieldRow &field) {
    for (const TypedField &typed : kTyped)
        if (typed.layout == field.layout && typed.field == field.name) return typed.type;
    return {};
}

bool applies(const FieldRow &field, std::span<const u8> bytes) {
    for (const ConditionalField &row : kConditional) {
        if (row.layout != field.layout || row.field != field.name) continue;
        auto key = std::find_if(fields().begin(), fields().end(), [&](const FieldRow &each) {
            return each.layout == row.layout && each.name == row.when;
        });
        return key != fields().end() && key->get(bytes) == row.is;
    }
    return true;
}

bool says_something_at_zero(const FieldRow &field) { return !type_of(field).empty(); }

} // namespace niclab::model
