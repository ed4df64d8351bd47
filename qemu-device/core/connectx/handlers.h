// SPDX-License-Identifier: GPL-2.0-or-later
// Every command handler, named after its opcode and grouped by the file that defines it. Syndromes are
// unique: 0x5FNNNN with F the file (0 command_queue, 1 hca, 2 caps, 3 pages, 4 registers, 5 vport, 6 eq, 7
// simple_objects, 8 mkey, 9 cq, a sq, b rq, c tir, d steering, e tunnel) and N the cause.
#pragma once

#include "connectx/command.h"

namespace niclab::connectx {

#define NICLAB_HANDLER(name) Reply name(Device &device, const Request &request, const Response &response)

// hca.cc
NICLAB_HANDLER(enable_hca);
NICLAB_HANDLER(disable_hca);
NICLAB_HANDLER(init_hca);
NICLAB_HANDLER(teardown_hca);
NICLAB_HANDLER(query_issi);
NICLAB_HANDLER(set_issi);
NICLAB_HANDLER(query_adapter);
// caps.cc
NICLAB_HANDLER(query_hca_cap);
NICLAB_HANDLER(set_hca_cap);
// pages.cc
NICLAB_HANDLER(query_pages);
NICLAB_HANDLER(manage_pages);
// registers.cc
NICLAB_HANDLER(access_register);
// vport.cc
NICLAB_HANDLER(query_vport_state);
NICLAB_HANDLER(query_nic_vport_context);
NICLAB_HANDLER(modify_nic_vport_context);
NICLAB_HANDLER(query_vnic_env);
NICLAB_HANDLER(query_vport_counter);
// eq.cc
NICLAB_HANDLER(create_eq);
NICLAB_HANDLER(destroy_eq);
NICLAB_HANDLER(query_eq);
// simple_objects.cc
NICLAB_HANDLER(alloc_uar);
NICLAB_HANDLER(dealloc_uar);
NICLAB_HANDLER(alloc_pd);
NICLAB_HANDLER(dealloc_pd);
NICLAB_HANDLER(alloc_transport_domain);
NICLAB_HANDLER(dealloc_transport_domain);
NICLAB_HANDLER(alloc_q_counter);
NICLAB_HANDLER(dealloc_q_counter);
NICLAB_HANDLER(query_q_counter);
NICLAB_HANDLER(create_tis);
NICLAB_HANDLER(modify_tis);
NICLAB_HANDLER(destroy_tis);
NICLAB_HANDLER(query_tis);
// mkey.cc
NICLAB_HANDLER(create_mkey);
NICLAB_HANDLER(query_mkey);
NICLAB_HANDLER(destroy_mkey);
NICLAB_HANDLER(query_special_contexts);
// cq.cc
NICLAB_HANDLER(create_cq);
NICLAB_HANDLER(destroy_cq);
NICLAB_HANDLER(query_cq);
NICLAB_HANDLER(modify_cq);
// tunnel.cc
NICLAB_HANDLER(add_vxlan_udp_dport);
NICLAB_HANDLER(delete_vxlan_udp_dport);
// sq_commands.cc
NICLAB_HANDLER(create_sq);
NICLAB_HANDLER(modify_sq);
NICLAB_HANDLER(destroy_sq);
NICLAB_HANDLER(query_sq);
// rq.cc
NICLAB_HANDLER(create_rq);
NICLAB_HANDLER(modify_rq);
NICLAB_HANDLER(destroy_rq);
NICLAB_HANDLER(query_rq);
// tir.cc
NICLAB_HANDLER(create_rqt);
NICLAB_HANDLER(modify_rqt);
NICLAB_HANDLER(destroy_rqt);
NICLAB_HANDLER(query_rqt);
NICLAB_HANDLER(create_tir);
NICLAB_HANDLER(modify_tir);
NICLAB_HANDLER(destroy_tir);
NICLAB_HANDLER(query_tir);
// steering_commands.cc
NICLAB_HANDLER(create_flow_table);
NICLAB_HANDLER(destroy_flow_table);
NICLAB_HANDLER(modify_flow_table);
NICLAB_HANDLER(set_flow_table_root);
NICLAB_HANDLER(create_flow_group);
NICLAB_HANDLER(destroy_flow_group);
NICLAB_HANDLER(set_flow_table_entry);
NICLAB_HANDLER(delete_flow_table_entry);
// flow_counters.cc
NICLAB_HANDLER(alloc_flow_counter);
NICLAB_HANDLER(dealloc_flow_counter);
NICLAB_HANDLER(query_flow_counter);

#undef NICLAB_HANDLER

} // namespace niclab::connectx
