// SPDX-License-Identifier: GPL-2.0-or-later
// The C face of the driver core (nic.h). No decision is made here.
#include "core/nic_core.h"

using namespace niclab::driver;

struct nic : Nic {};

namespace {

// nic_channel is never defined: it is the Channel.
Channel &core(nic_channel *channel) { return *reinterpret_cast<Channel *>(channel); }
const Channel &core(const nic_channel *channel) { return *reinterpret_cast<const Channel *>(channel); }

// What a call that hands out a value returns.
template <class T>
int hand_out(Result<T> result, T *out) {
    if (result.ok()) *out = result.take();
    return result.error();
}

} // namespace

extern "C" {

int nic_create(plat *platform, unsigned vectors, const nic_events *events, nic **out) {
    *out = nullptr;
    void *memory = plat_alloc(sizeof(nic));
    if (!memory) return -kEnomem;
    nic *self = new (Place{memory}) nic;
    store_release(*out, self); // whole before interrupts look; pairs with the glue's load in its handlers
    return self->start(platform, vectors, *events).error();
}

void nic_destroy(nic **out) {
    nic *self = *out;
    if (!self) return;
    self->stop();
    store_release(*out,
                  static_cast<nic *>(nullptr)); // no later interrupt looks; those that did are waited for
    self->quiesce_interrupts();
    self->~nic();
    plat_free(self);
}

void nic_control_interrupt(nic *self) { self->control_interrupt(); }
int nic_channel_interrupt(nic *self, unsigned channel) { return self->channel_interrupt(channel); }
void nic_work(nic *self) { self->serve_page_requests(); }
int nic_health(nic *self) { return self->healthy() ? 0 : -kEio; }

void nic_describe(const nic *self, nic_info *info) { self->describe(*info); }
int nic_get_link(nic *self, struct nic_link *link) { return hand_out(self->link(), link); }

int nic_open(nic *self, const nic_params *params) { return self->open(*params).error(); }
void nic_close(nic *self) { self->close(); }
nic_channel *nic_get_channel(nic *self, unsigned index) {
    return reinterpret_cast<nic_channel *>(self->channel(index));
}

int nic_set_filter(nic *self, const nic_filter *filter) { return self->set_filter(*filter).error(); }
int nic_set_vlan_strip(nic *self, int on) { return self->set_vlan_strip(on != 0).error(); }

int nic_tx_post(nic_channel *channel, const nic_tx_packet *packet) {
    return core(channel).tx().post(*packet);
}
void nic_tx_ring(nic_channel *channel) { core(channel).tx().ring(); }
int nic_tx_has_room(const nic_channel *channel) { return core(channel).tx().has_room(); }
unsigned nic_tx_reap(nic_channel *channel, nic_tx_done *done, unsigned max) {
    return core(channel).reap(done, max);
}
unsigned nic_tx_drain(nic_channel *channel, nic_tx_done *done, unsigned max) {
    return core(channel).tx().drain(done, max);
}

unsigned nic_rx_poll(nic_channel *channel, nic_rx_packet *packets, unsigned max) {
    return core(channel).poll(packets, max);
}
int nic_rx_refill(nic_channel *channel) {
    return core(channel).rx().refill(MaySleep::no).ok() ? 0 : -kEnomem;
}
void nic_rx_arm(nic_channel *channel) { core(channel).rx().arm(); }
void nic_tx_arm(nic_channel *channel) { core(channel).tx().arm(); }

void nic_get_queue_stats(const nic *self, unsigned channel, struct nic_queue_stats *stats) {
    self->queue_stats(channel, *stats);
}
int nic_get_port_stats(nic *self, struct nic_port_stats *stats) {
    return hand_out(self->port_stats(), stats);
}

} // extern "C"
