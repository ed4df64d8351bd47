// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command interface: queue entry, mailbox block, opcodes, status codes and the words every command
// shares.
#pragma once

#include "spec/layout.h"

namespace niclab {

constexpr usize kCommandInlineBytes = 16; // first bytes of input and output live in the entry
constexpr usize kMailboxDataBytes = 512;
constexpr usize kMailboxStride = 1024; // alignment of a block in host memory
constexpr u8 kCommandTransportPcie = 7;
constexpr u8 kCommandOwnerDevice = 1; // bit 0 of status_own

struct CommandEntry {
    using F = Field<CommandEntry>;
    static constexpr u16 bytes = 0x40;
    static constexpr F type{0x00, 31, 24};
    static constexpr F input_length{0x04, 31, 0};
    static constexpr Field64<CommandEntry> input_mailbox{0x08};
    static constexpr u16 input_inline = 0x10;
    static constexpr u16 output_inline = 0x20;
    static constexpr Field64<CommandEntry> output_mailbox{0x30};
    static constexpr F output_length{0x38, 31, 0};
    static constexpr F token{0x3c, 31, 24};
    static constexpr F signature{0x3c, 23, 16};
    static constexpr F status_own{0x3c, 7, 0};
    static constexpr u16 status_own_byte = 0x3f;
    static constexpr F rows[] = {type, input_length, output_length, token, signature, status_own};
};
static_assert(disjoint(CommandEntry::rows));

struct Mailbox {
    using F = Field<Mailbox>;
    static constexpr u16 bytes = 0x240;
    static constexpr Field64<Mailbox> next{0x230};
    static constexpr F block_number{0x238, 31, 0};
    static constexpr F token{0x23c, 23, 16};
    static constexpr F ctrl_signature{0x23c, 15, 8};
    static constexpr F signature{0x23c, 7, 0};
    static constexpr F rows[] = {block_number, token, ctrl_signature, signature};
};
static_assert(disjoint(Mailbox::rows));

// Delivery status, bits [7:1] of status_own.
enum class Delivery : u8 {
    ok = 0,
    signature = 1,
    token = 2,
    bad_block = 3,
    bad_output_pointer = 4,
    bad_input_pointer = 5,
    firmware = 6,
    bad_input_length = 7,
    bad_output_length = 8,
    reserved_not_clear = 9,
    bad_descriptor = 0x10,
};

// Command status, first byte of every output.
enum class Status : u8 {
    ok = 0x00,
    internal_error = 0x01,
    bad_operation = 0x02,
    bad_parameter = 0x03,
    bad_system_state = 0x04,
    bad_resource = 0x05,
    resource_busy = 0x06,
    limits_exceeded = 0x08,
    bad_resource_state = 0x09,
    bad_index = 0x0a,
    no_resources = 0x0f,
    bad_packet = 0x30,
    too_many_cqes = 0x40,
    bad_input_length = 0x50,
    bad_output_length = 0x51,
};

enum class Opcode : u16 {
    query_hca_cap = 0x100,
    query_adapter = 0x101,
    init_hca = 0x102,
    teardown_hca = 0x103,
    enable_hca = 0x104,
    disable_hca = 0x105,
    query_pages = 0x107,
    manage_pages = 0x108,
    set_hca_cap = 0x109,
    query_issi = 0x10a,
    set_issi = 0x10b,
    set_driver_version = 0x10d,
    create_mkey = 0x200,
    query_mkey = 0x201,
    destroy_mkey = 0x202,
    query_special_contexts = 0x203,
    create_eq = 0x301,
    destroy_eq = 0x302,
    query_eq = 0x303,
    create_cq = 0x400,
    destroy_cq = 0x401,
    query_cq = 0x402,
    modify_cq = 0x403,
    query_vport_state = 0x750,
    modify_vport_state = 0x751,
    query_nic_vport_context = 0x754,
    modify_nic_vport_context = 0x755,
    query_vnic_env = 0x76f,
    query_vport_counter = 0x770,
    alloc_q_counter = 0x771,
    dealloc_q_counter = 0x772,
    query_q_counter = 0x773,
    alloc_pd = 0x800,
    dealloc_pd = 0x801,
    alloc_uar = 0x802,
    dealloc_uar = 0x803,
    access_register = 0x805,
    alloc_transport_domain = 0x816,
    dealloc_transport_domain = 0x817,
    add_vxlan_udp_dport = 0x827,
    delete_vxlan_udp_dport = 0x828,
    create_tir = 0x900,
    modify_tir = 0x901,
    destroy_tir = 0x902,
    query_tir = 0x903,
    create_sq = 0x904,
    modify_sq = 0x905,
    destroy_sq = 0x906,
    query_sq = 0x907,
    create_rq = 0x908,
    modify_rq = 0x909,
    destroy_rq = 0x90a,
    query_rq = 0x90b,
    create_tis = 0x912,
    modify_tis = 0x913,
    destroy_tis = 0x914,
    query_tis = 0x915,
    create_rqt = 0x916,
    modify_rqt = 0x917,
    destroy_rqt = 0x918,
    query_rqt = 0x919,
    set_flow_table_root = 0x92f,
    create_flow_table = 0x930,
    destroy_flow_table = 0x931,
    query_flow_table = 0x932,
    create_flow_group = 0x933,
    destroy_flow_group = 0x934,
    query_flow_group = 0x935,
    set_flow_table_entry = 0x936,
    query_flow_table_entry = 0x937,
    delete_flow_table_entry = 0x938,
    alloc_flow_counter = 0x939,
    dealloc_flow_counter = 0x93a,
    query_flow_counter = 0x93b,
    modify_flow_table = 0x93c,
};

// Words shared by all commands.
struct CommandIn {
    using F = Field<CommandIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F opcode{0x00, 31, 16};
    static constexpr F uid{0x00, 15, 0};
    static constexpr F op_mod{0x04, 15, 0};
    static constexpr F rows[] = {opcode, uid, op_mod};
};
struct CommandOut {
    using F = Field<CommandOut>;
    static constexpr u16 bytes = 0x10;
    static constexpr F status{0x00, 31, 24};
    static constexpr F syndrome{0x04, 31, 0};
    static constexpr F rows[] = {status, syndrome};
};
static_assert(disjoint(CommandIn::rows) && disjoint(CommandOut::rows));

// Most commands name one object in the same place: an object number of 24 bits.
struct ObjectIn {
    using F = Field<ObjectIn>;
    static constexpr u16 bytes = 0x10;
    static constexpr F number{0x08, 23, 0};
    static constexpr F rows[] = {number};
};
struct ObjectOut {
    using F = Field<ObjectOut>;
    static constexpr u16 bytes = 0x10;
    static constexpr F number{0x08, 23, 0};
    static constexpr F rows[] = {number};
};
static_assert(disjoint(ObjectIn::rows) && disjoint(ObjectOut::rows));

} // namespace niclab
