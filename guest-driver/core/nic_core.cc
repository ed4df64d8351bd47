// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nic_core.h"

#include "core/registers.h"
#include "spec/init_segment.h"

namespace niclab::driver {

namespace {

constexpr u64 event_bit(Event event) { return 1ull << static_cast<unsigned>(event); }

struct ControlQueue {
    unsigned log_entries;
    u64 events;
};
constexpr ControlQueue kControlQueues[] = {
    // in the order of Nic::Control
    {6, event_bit(Event::command)},
    {8, event_bit(Event::port_change) | event_bit(Event::cq_error) | event_bit(Event::wq_catastrophic) |
            event_bit(Event::wq_invalid_request) | event_bit(Event::wq_access_violation)},
    {6, event_bit(Event::page_request)},
};
// Each of a channel's two completion queues has at most one event under way; the rest is room for those of
// closed queues.
constexpr unsigned kLogCompletionEvents = 7;

constexpr bool power_of_two(unsigned n) { return n && !(n & (n - 1)); }
constexpr unsigned log2(unsigned n) {
    unsigned log = 0;
    while (n >>= 1)
        ++log;
    return log;
}

} // namespace

Result<void> Nic::start(plat *platform, unsigned vectors, const nic_events &events) {
    platform_ = platform;
    events_ = events;
    if (vectors < 2) {
        plat_log(platform, PLAT_ERROR, "%u interrupt vectors, at least 2 are needed", vectors);
        return Err{-kEnospc};
    }
    pages_mutex_ = TRY(Mutex::make());
    hca_ = TRY(Hca::make(platform));
    TRY(resources_.allocate_uar(hca_->commands()));
    TRY(create_control_events());
    TRY(create_vectors(vectors));
    return resources_.allocate_rest(hca_->commands());
}

Result<void> Nic::create_control_events() {
    for (unsigned i = 0; i < kControlCount; ++i) {
        control_[i] = TRY(Eq::make(hca_->commands(), {kControlQueues[i].log_entries, kControlQueues[i].events,
                                                      0, resources_.uar_page()}));
        store_release(control_ready_[i], true); // before its interrupts; pairs with control_interrupt()
        control_[i].arm();
        if (i == kCommands) hca_->commands().use_events(true);
    }
    return {};
}

Result<void> Nic::create_vectors(unsigned vectors) {
    u32 left = hca_->capabilities().event_queues;
    u32 channels = min(vectors - 1, static_cast<u32>(NIC_MAX_CHANNELS));
    channels = min(channels, left > kControlCount ? left - kControlCount : 0);
    if (channels == 0) {
        plat_log(platform_, PLAT_ERROR, "the card has only %u event queues", left);
        return Err{-kEnospc};
    }
    vectors_ = TRY(Array<Vector>::make(channels));
    for (u32 i = 0; i < channels; ++i) {
        vectors_[i].callbacks = &events_;
        vectors_[i].index = i;
        vectors_[i].events =
            TRY(Eq::make(hca_->commands(), {kLogCompletionEvents, 0, i + 1, resources_.uar_page()}));
        store_release(vectors_ready_, i + 1); // before its interrupts; pairs with channel_interrupt()
        vectors_[i].events.arm();
    }
    return {};
}

// Interrupt handlers leave an event queue before it goes. The command queue's goes last, after a return to
// polling.
void Nic::stop() {
    close();
    if (!hca_) return;
    store_release(vectors_ready_, 0u);
    store_release(control_ready_[kAsync], false);
    store_release(control_ready_[kPages], false);
    quiesce_interrupts();
    vectors_ = Array<Vector>();
    control_[kPages] = Eq();
    control_[kAsync] = Eq();
    hca_->commands().use_events(false);
    store_release(control_ready_[kCommands], false);
    quiesce_interrupts();
    control_[kCommands] = Eq();
}

void Nic::describe(nic_info &info) const {
    u32 revision = plat_read32(platform_, init_segment::kFwRev);
    const Capabilities &caps = hca_->capabilities();
    copy_bytes(info.mac, hca_->mac().bytes, sizeof(info.mac));
    info.max_channels = static_cast<unsigned>(vectors_.size());
    info.max_mtu = min(caps.max_mtu, static_cast<u32>(NIC_MAX_RX_FRAGS * kPageBytes)) - kMtuOverhead;
    info.max_lso_bytes = caps.max_lso_bytes;
    info.fw_major = revision & 0xffff;
    info.fw_minor = revision >> 16;
    info.fw_sub = plat_read32(platform_, init_segment::kCmdifRev) & 0xffff;
    copy_bytes(info.board_id, hca_->board_id(), sizeof(info.board_id));
}

Result<nic_link> Nic::link() {
    struct nic_link link = {};
    link.up = TRY(query_vport_up(hca_->commands()));
    if (link.up) link.speed_mbps = TRY(query_speed_mbps(hca_->commands()));
    return link;
}

// ---- Events
// ----------------------------------------------------------------------------------------------------------------

void Nic::control_interrupt() {
    if (load_acquire(control_ready_[kCommands])) handle_commands();
    if (load_acquire(control_ready_[kAsync])) handle_async();
    // Page requests wait in their queue, unarmed, until a process may sleep for memory.
    if (load_acquire(control_ready_[kPages]) && control_[kPages].peek()) events_.work(events_.owner);
}

// Loops are bounded by the queue's size: a card that never stops writing gets its next turn with the next
// interrupt.
void Nic::handle_commands() {
    Eq &queue = control_[kCommands];
    for (unsigned i = 0; i < queue.entries(); ++i, queue.pop()) {
        const u8 *event = queue.peek();
        if (!event) break;
        hca_->commands().finished(DmaView<Eqe>(event).get(Eqe::command_vector));
    }
    queue.arm();
}

void Nic::handle_async() {
    Eq &queue = control_[kAsync];
    for (unsigned i = 0; i < queue.entries(); ++i, queue.pop()) {
        const u8 *event = queue.peek();
        if (!event) break;
        if (DmaView<Eqe>(event).get(Eqe::type) == static_cast<u32>(Event::port_change))
            events_.link(events_.owner);
        else
            handle_queue_error(event);
    }
    queue.arm();
}

void Nic::handle_queue_error(const u8 *event) {
    DmaView<Eqe> view(event);
    u32 type = view.get(Eqe::type);
    bool cq_error = type == static_cast<u32>(Event::cq_error);
    u32 number = cq_error ? view.get(Eqe::cq_error_cqn) : view.get(Eqe::completion_cqn);
    plat_log(platform_, PLAT_ERROR, "the card reports an error (event 0x%x) of %s 0x%x", type,
             cq_error ? "completion queue" : "work queue", number);
    unsigned ready = load_acquire(vectors_ready_);
    for (unsigned i = 0; i < ready; ++i) {
        const Vector &vector = vectors_[i];
        const u32 &receive = cq_error ? vector.rx_cqn : vector.rqn,
                  &send = cq_error ? vector.tx_cqn : vector.sqn;
        if (number == load_relaxed(receive) || number == load_relaxed(send))
            events_.channel_error(events_.owner, i);
    }
}

bool Nic::channel_interrupt(unsigned channel) {
    if (channel >= load_acquire(vectors_ready_)) return false;
    Vector &vector = vectors_[channel];
    bool completions = false;
    for (unsigned i = 0; i < vector.events.entries(); ++i, vector.events.pop()) {
        const u8 *event = vector.events.peek();
        if (!event) break;
        u32 cqn = DmaView<Eqe>(event).get(Eqe::completion_cqn);
        bool rx = cqn == load_relaxed(vector.rx_cqn), tx = cqn == load_relaxed(vector.tx_cqn);
        if (rx) store_relaxed(vector.rx_arm_number, vector.rx_arm_number + 1);
        if (tx) store_relaxed(vector.tx_arm_number, vector.tx_arm_number + 1);
        completions |= rx || tx;
    }
    vector.events.arm();
    return completions;
}

void Nic::serve_page_requests() {
    Lock lock(pages_mutex_);
    if (!load_acquire(control_ready_[kPages])) return;
    Eq &queue = control_[kPages];
    for (unsigned i = 0; i < queue.entries(); ++i, queue.pop()) {
        const u8 *event = queue.peek();
        if (!event) break;
        DmaView<Eqe> view(event);
        u16 function = static_cast<u16>(view.get(Eqe::page_function_id));
        hca_->pages().serve(function, static_cast<s32>(view.get(Eqe::page_count)));
    }
    queue.arm();
}

// ---- Open and close
// --------------------------------------------------------------------------------------------------------

Result<void> Nic::check(const nic_params &params) const {
    nic_info info;
    describe(info);
    u32 most = min(hca_->capabilities().max_queue_entries, static_cast<u32>(NIC_MAX_RING));
    bool rings = power_of_two(params.tx_entries) && power_of_two(params.rx_entries) &&
                 params.tx_entries >= NIC_MIN_RING && params.rx_entries >= NIC_MIN_RING &&
                 params.tx_entries <= most && params.rx_entries <= most;
    bool sizes = params.channels >= 1 && params.channels <= info.max_channels && params.mtu >= 68 &&
                 params.mtu <= info.max_mtu;
    if (!rings || !sizes || params.rx_map != NIC_RX_MAP_FRAGMENT) return Err{-kEinval};
    return {};
}

Result<void> Nic::open(const nic_params &params) {
    if (channels_.size()) return Err{-kEbusy};
    TRY(check(params));
    Result<void> result = open_queues(params);
    if (result.ok()) result = open_port(params.mtu + kMtuOverhead);
    if (!result.ok()) close();
    return result;
}

Result<void> Nic::open_queues(const nic_params &params) {
    ChannelSettings settings{log2(params.tx_entries), log2(params.rx_entries), params.mtu + kMtuOverhead,
                             params.vlan_strip != 0};
    channels_ = TRY(Array<Owned<Channel>>::make(params.channels));
    u32 rqns[NIC_MAX_CHANNELS];
    for (unsigned i = 0; i < params.channels; ++i) {
        channels_[i] = TRY(Channel::make(resources_, vectors_[i], settings));
        rqns[i] = channels_[i]->rx().rqn();
    }
    u32 entries = min(Rss::kTableEntries, hca_->capabilities().rss_table_entries);
    rss_ = TRY(Owned<Rss>::make());
    TRY(rss_->create(resources_, rqns, params.channels, entries, params.rss_key));
    steering_ = TRY(Owned<Steering>::make());
    return steering_->create(hca_->commands(), *rss_, hca_->capabilities());
}

Result<void> Nic::open_port(u32 hardware_mtu) {
    CommandInterface &commands = hca_->commands();
    TRY(set_port_mtu(commands, hardware_mtu));
    TRY(set_vport_mtu(commands, hardware_mtu));
    port_up_ = true; // from here on a close takes it down
    return set_port_up(commands, true);
}

void Nic::close() {
    if (port_up_ && !set_port_up(hca_->commands(), false).ok() && !hca_->commands().dead())
        plat_log(platform_, PLAT_WARN, "the port stays up");
    port_up_ = false;
    steering_.reset(); // no frame finds a queue any more
    rss_.reset();
    channels_ = Array<Owned<Channel>>();
}

Result<void> Nic::set_filter(const nic_filter &filter) {
    if (!steering_) return Err{-kEinval};
    return steering_->apply(filter);
}

Result<void> Nic::set_vlan_strip(bool on) {
    for (Owned<Channel> &channel : channels_)
        TRY(channel->rx().set_vlan_strip(on));
    return {};
}

// ---- Statistics
// ------------------------------------------------------------------------------------------------------------

void Nic::queue_stats(unsigned channel, nic_queue_stats &out) const {
    out = {};
    if (channel >= vectors_.size()) return;
    const RxStats &rx = vectors_[channel].rx_stats;
    const TxStats &tx = vectors_[channel].tx_stats;
    out.rx_packets = load_relaxed(rx.packets);
    out.rx_bytes = load_relaxed(rx.bytes);
    out.rx_errors = load_relaxed(rx.errors);
    out.rx_no_memory = load_relaxed(rx.no_memory);
    out.rx_csum_complete = load_relaxed(rx.csum_complete);
    out.rx_csum_ok = load_relaxed(rx.csum_ok);
    out.rx_csum_none = load_relaxed(rx.csum_none);
    out.tx_packets = load_relaxed(tx.packets);
    out.tx_bytes = load_relaxed(tx.bytes);
    out.tx_segments = load_relaxed(tx.segments);
    out.tx_errors = load_relaxed(tx.errors);
    out.tx_doorbells = load_relaxed(tx.doorbells);
    out.tx_busy = load_relaxed(tx.busy);
    out.tx_map_errors = load_relaxed(tx.map_errors);
    out.dma_maps = load_relaxed(rx.mappings.maps) + load_relaxed(tx.maps) + load_relaxed(tx.undone_maps);
    out.dma_unmaps =
        load_relaxed(rx.mappings.unmaps) + load_relaxed(tx.unmaps) + load_relaxed(tx.undone_maps);
}

Result<nic_port_stats> Nic::port_stats() {
    auto vport = TRY(query_vport_counters(hca_->commands()));
    auto physical = TRY(query_physical_counters(hca_->commands()));
    struct nic_port_stats out = {};
    out.rx_out_of_buffer = TRY(query_out_of_buffer(hca_->commands(), resources_.counter_set()));
    out.rx_unicast_packets = vport.rx_unicast.packets;
    out.rx_unicast_bytes = vport.rx_unicast.bytes;
    out.rx_multicast_packets = vport.rx_multicast.packets;
    out.rx_multicast_bytes = vport.rx_multicast.bytes;
    out.rx_broadcast_packets = vport.rx_broadcast.packets;
    out.rx_broadcast_bytes = vport.rx_broadcast.bytes;
    out.rx_error_packets = vport.rx_error.packets;
    out.tx_unicast_packets = vport.tx_unicast.packets;
    out.tx_unicast_bytes = vport.tx_unicast.bytes;
    out.tx_multicast_packets = vport.tx_multicast.packets;
    out.tx_multicast_bytes = vport.tx_multicast.bytes;
    out.tx_broadcast_packets = vport.tx_broadcast.packets;
    out.tx_broadcast_bytes = vport.tx_broadcast.bytes;
    out.tx_error_packets = vport.tx_error.packets;
    out.phy_rx_packets = physical.rx_packets;
    out.phy_rx_bytes = physical.rx_bytes;
    out.phy_tx_packets = physical.tx_packets;
    out.phy_tx_bytes = physical.tx_bytes;
    return out;
}

} // namespace niclab::driver
