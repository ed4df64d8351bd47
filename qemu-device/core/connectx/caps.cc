// SPDX-License-Identifier: GPL-2.0-or-later
// What the card offers. A row is here only when everything behind it works; what no row names reads as zero.
#include "connectx/caps.h"

#include <algorithm>
#include <cstring>

#include "connectx/device.h"
#include "connectx/handlers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynType = 0x520001, kSynRunning = 0x520002, kSynReadOnly = 0x520003;

// `current` after power-on. SET_HCA_CAP may choose anything up to `maximum` where a row is settable and
// changes nothing elsewhere.
template <class Layout>
struct Row {
    Field<Layout> field;
    u32 current, maximum;
    bool settable;
};
template <class Layout>
constexpr Row<Layout> fixed(Field<Layout> field, u32 value) {
    return {field, value, value, false};
}
template <class Layout>
constexpr Row<Layout> settable(Field<Layout> field, u32 current, u32 maximum) {
    return {field, current, maximum, true};
}

using G = GeneralCaps;
constexpr Row<G> kGeneral[] = {
    settable(G::log_max_qp, 17, 17),
    fixed(G::log_max_cq_sz, kLogMaxCqSize),
    fixed(G::log_max_cq, kLogMaxCqs),
    fixed(G::log_max_eq_sz, 16),
    fixed(G::log_max_mkey, kLogMaxMkeys),
    fixed(G::log_max_eq, 6),
    fixed(G::max_indirection, kMaxIndirection),
    fixed(G::fixed_buffer_size, 1),
    fixed(G::umr_extended_translation_offset, 1),
    fixed(G::log_max_klm_list_size, Translation::kLogMaxOctwords),
    fixed(G::vport_group_manager, 1),
    fixed(G::nic_flow_table, 1),
    fixed(G::qcam_reg, 1),
    fixed(G::mcam_reg, 1),
    fixed(G::pcam_reg, 1),
    fixed(G::port_module_event, 1),
    fixed(G::ports_check, 1),
    fixed(G::beacon_led, 1),
    fixed(G::port_type, 1), // Ethernet
    fixed(G::num_ports, 1),
    fixed(G::pps, 1),
    fixed(G::pps_modify, 1),
    fixed(G::max_tc, 8),
    fixed(G::temp_warn_event, 1),
    fixed(G::cqe_version, 1),
    fixed(G::eth_wqe_too_small, 1),
    fixed(G::vnic_env_cq_overrun, 1),
    fixed(G::vnic_env_queue_counters, 1),
    fixed(G::nic_receive_steering_discard, 1),
    fixed(G::receive_discard_vport_down, 1),
    fixed(G::transmit_discard_vport_down, 1),
    fixed(G::striding_rq, 1),
    fixed(G::eth_net_offloads, 1),
    fixed(G::cq_moderation, 1),
    fixed(G::cq_period_start_from_cqe, 1),
    fixed(G::cq_period_mode_modify, 1),
    fixed(G::umr_ptr_rlky, 1),
    fixed(G::uar_sz, 5), // 2^5 MiB
    fixed(G::log_pg_sz, 12),
    fixed(G::log_bf_reg_size, 9),
    fixed(G::max_wqe_sz_sq, 1024),
    fixed(G::max_wqe_sz_rq, 1 << kLogMaxRqStride),
    fixed(G::log_max_transport_domain, 16),
    fixed(G::log_max_pd, 16),
    fixed(G::log_max_flow_counter_bulk, kLogMaxFlowCounterBulk),
    fixed(G::max_flow_counter_15_0, kMaxFlowCounters),
    fixed(G::log_max_rq, kLogMaxRqs),
    fixed(G::log_max_sq, kLogMaxSqs),
    fixed(G::log_max_tir, kLogMaxTirs),
    fixed(G::log_max_tis, 16),
    fixed(G::basic_cyclic_rcv_wqe, 1),
    fixed(G::log_max_rqt, kLogMaxRqts),
    fixed(G::log_max_rqt_size, kLogMaxRqtSize),
    fixed(G::ext_stride_num_range, 1),
    fixed(G::log_max_stride_sz_rq, kLogMaxRqStride),
    fixed(G::log_min_stride_sz_rq, kLogMinRqStride),
    fixed(G::log_max_stride_sz_sq, 6),
    fixed(G::log_min_stride_sz_sq, 6),
    fixed(G::log_max_wq_sz, kLogMaxWqSize),
    fixed(G::disable_local_lb_uc, 1),
    fixed(G::disable_local_lb_mc, 1),
    fixed(G::log_max_vlan_list, 12),
    fixed(G::log_max_current_mc_list, 7),
    fixed(G::log_max_current_uc_list, 7),
    fixed(G::max_num_eqs, 64),
    fixed(G::device_frequency_khz, kClockKhz),
    fixed(G::num_of_uars_per_page, 1),
    fixed(G::mini_cqe_resp_stride_index, 1),
    fixed(G::cqe_compression, 1),
    fixed(G::cqe_compression_timeout, kCompressionTimeoutUs),
    fixed(G::cqe_compression_max_num, kMostMiniCqes),
};

using E = EthernetCaps;
constexpr Row<E> kEthernet[] = {
    fixed(E::csum_cap, 1),
    fixed(E::vlan_cap, 1),
    fixed(E::wqe_vlan_insert, 1),
    fixed(E::self_lb_en_modifiable, 1),
    fixed(E::max_lso_cap, 18), // 256 KiB
    fixed(E::wqe_inline_mode, static_cast<u32>(InlineRule::none)),
    fixed(E::enhanced_multi_pkt_send_wqe, 1),
    fixed(E::tunnel_stateless_gre, 1),
    fixed(E::tunnel_stateless_vxlan, 1),
    fixed(E::swp, 1),
    fixed(E::swp_csum, 1),
    fixed(E::swp_lso, 1),
    fixed(E::tunnel_stateless_geneve_tx, 1),
    fixed(E::max_vxlan_udp_ports, VxlanPorts::kMost),
    fixed(E::tunnel_stateless_geneve_rx, 1),
    fixed(E::rss_ind_tbl_cap, 8),
    fixed(E::reg_umr_sq, 1),
    fixed(E::lro_cap, 1),
    fixed(E::lro_psh_flag, 1),
    fixed(E::lro_time_stamp, 1),
    fixed(E::lro_min_mss_size, 1),
    fixed(E::lro_timer_period_0, 8),
    fixed(E::lro_timer_period_1, 16),
    fixed(E::lro_timer_period_2, 32),
    fixed(E::lro_timer_period_3, kMaxLroMicroseconds),
    fixed(E::scatter_fcs, 1),
    fixed(E::cqe_checksum_full, 1),
};

using T = FlowTableCaps;
constexpr Row<T> kNicRx[] = {
    fixed(T::ft_support, 1),
    fixed(T::flow_counter, 1),
    fixed(T::flow_modify_en, 1),
    fixed(T::modify_root, 1),
    fixed(T::identified_miss_table_mode, 1),
    fixed(T::flow_table_modify, 1),
    fixed(T::log_max_ft_size, kLogMaxTableSize),
    fixed(T::max_ft_level, kTableLevels),
    fixed(T::log_max_ft_num, kLogMaxTables),
    fixed(T::log_max_destination, kLogMaxDestinations),
    fixed(T::log_max_flow, kLogMaxEntries),
    fixed(T::field_support, 0xfe0ffe00),
    fixed(T::inner_field_support, 0x300ffe00),
};

template <class Layout, usize N>
void fill(u8 *image, const Row<Layout> (&rows)[N], u32 Row<Layout>::*value) {
    for (const Row<Layout> &row : rows)
        View<Layout>(image).set(row.field, row.*value);
}

// The smaller of what is asked for and what there is.
template <class Layout, usize N>
void choose(u8 *current, const Row<Layout> (&rows)[N], const u8 *asked) {
    for (const Row<Layout> &row : rows)
        if (row.settable)
            View<Layout>(current).set(row.field,
                                      std::min(ConstView<Layout>(asked).get(row.field), row.maximum));
}

void copy_front(std::span<u8> to, usize at, std::span<const u8> from) {
    if (at < to.size()) std::memcpy(to.data() + at, from.data(), std::min(from.size(), to.size() - at));
}

constexpr CapType kTypes[] = {
    CapType::general,
    CapType::ethernet,
    CapType::odp,
    CapType::atomic,
    CapType::roce,
    CapType::ipoib,
    CapType::flow_table,
    CapType::eswitch_flow_table,
    CapType::eswitch,
    CapType::vector_calc,
    CapType::qos,
    CapType::debug,
    CapType::device_memory,
    CapType::tls,
    CapType::vdpa_emulation,
    CapType::device_event,
    CapType::ipsec,
    CapType::crypto,
    CapType::shampo,
    CapType::macsec,
    CapType::general_2,
    CapType::port_selection,
    CapType::adv_virtualization,
};

} // namespace

bool Caps::known(u16 type) {
    return std::any_of(std::begin(kTypes), std::end(kTypes),
                       [&](CapType t) { return static_cast<u16>(t) == type; });
}

void Caps::reset() {
    general_ = {};
    ethernet_ = {};
    nic_rx_ = {};
    fill(general_.data(), kGeneral, &Row<G>::current);
    fill(ethernet_.data(), kEthernet, &Row<E>::current);
    fill(nic_rx_.data(), kNicRx, &Row<T>::current);
}

void Caps::require_inline(InlineMode mode) {
    if (mode == InlineMode::none) return;
    InlineRule rule = mode == InlineMode::ethernet ? InlineRule::ethernet : InlineRule::vport_context;
    View<E>(ethernet_.data())
        .set(E::wqe_inline_mode, static_cast<u32>(rule))
        .set(E::enhanced_multi_pkt_send_wqe, 0);
}

void Caps::offer_real_time() {
    u32 both = static_cast<u32>(TimeFormats::both);
    View<G>(general_.data()).set(G::sq_ts_format, both).set(G::rq_ts_format, both);
}

void Caps::query(u16 type, bool maximum, std::span<u8> image) const {
    auto general = general_;
    auto nic_rx = nic_rx_;
    if (maximum) {
        fill(general.data(), kGeneral, &Row<G>::maximum);
        fill(nic_rx.data(), kNicRx, &Row<T>::maximum);
    }
    switch (static_cast<CapType>(type)) {
    case CapType::general:
        copy_front(image, 0, general);
        break;
    case CapType::ethernet:
        copy_front(image, 0, ethernet_); // none is settable
        break;
    case CapType::flow_table:
        copy_front(image, FlowTableCaps::kNicRx, nic_rx);
        break;
    default:
        break;
    }
}

bool Caps::set(u16 type, std::span<const u8> image) {
    if (static_cast<CapType>(type) != CapType::general) return false;
    choose(general_.data(), kGeneral, image.data());
    return true;
}

Reply query_hca_cap(Device &device, const Request &request, const Response &response) {
    u16 type = request.op_mod >> 1;
    if (!Caps::known(type)) return fail(Status::bad_parameter, kSynType);
    device.hca.caps.query(type, (request.op_mod & 1) == QueryHcaCapIn::kMaximum,
                          response.bytes.subspan(QueryHcaCapOut::capability));
    return kOk;
}

Reply set_hca_cap(Device &device, const Request &request, const Response &) {
    u16 type = request.op_mod >> 1;
    if (!Caps::known(type) || request.op_mod & 1) return fail(Status::bad_parameter, kSynType);
    if (device.hca.phase != Phase::enabled) return fail(Status::bad_system_state, kSynRunning);
    if (!device.hca.caps.set(type, request.bytes.subspan(QueryHcaCapOut::capability)))
        return fail(Status::bad_parameter, kSynReadOnly);
    return kOk;
}

} // namespace niclab::connectx
