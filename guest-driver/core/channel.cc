// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/channel.h"

namespace niclab::driver {

Result<Owned<Channel>> Channel::make(const Resources &resources, Vector &vector,
                                     const ChannelSettings &settings) {
    auto self = TRY(Owned<Channel>::make());
    self->vector_ = &vector;
    self->records_ = TRY(DmaBlock::make(resources.platform(), 4 * kRecordStride));
    u32 eqn = vector.events.number();
    self->rx_ = TRY(RxRing<FragmentMemory>::make(
        resources, {settings.log_rx_entries, settings.frame_bytes, settings.vlan_strip, eqn, self->record(0),
                    self->record(1), &vector.rx_arm_number, &vector.rx_stats}));
    self->tx_ = TRY(TxRing::make(resources, {settings.log_tx_entries, eqn, self->record(2), self->record(3),
                                             &vector.tx_arm_number, &vector.tx_stats}));
    store_relaxed(vector.rx_cqn, self->rx_->cqn());
    store_relaxed(vector.tx_cqn, self->tx_->cqn());
    store_relaxed(vector.rqn, self->rx_->rqn());
    store_relaxed(vector.sqn, self->tx_->sqn());
    return self;
}

Channel::~Channel() {
    if (!vector_) return;
    store_relaxed(vector_->rx_cqn, kNoNumber);
    store_relaxed(vector_->tx_cqn, kNoNumber);
    store_relaxed(vector_->rqn, kNoNumber);
    store_relaxed(vector_->sqn, kNoNumber);
}

} // namespace niclab::driver
