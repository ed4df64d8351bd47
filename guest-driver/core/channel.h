// SPDX-License-Identifier: GPL-2.0-or-later
// One completion vector and the two queues that use it.
#pragma once

#include "core/eq.h"
#include "core/rx/rx_ring.h"
#include "core/tx/tx_ring.h"

namespace niclab::driver {

constexpr u32 kNoNumber = ~0u;

// What outlives the queues: the event queue, the counters, and the numbers by which interrupts find the
// queues. Interrupts may come while queues are opened or closed, so everything here is valid from
// nic_create() to nic_destroy().
struct Vector {
    const nic_events *callbacks = nullptr;
    unsigned index = 0;
    Eq events;
    u32 rx_cqn = kNoNumber, tx_cqn = kNoNumber, rqn = kNoNumber, sqn = kNoNumber;
    u32 rx_arm_number = 0, tx_arm_number = 0;
    RxStats rx_stats;
    TxStats tx_stats;
};

struct ChannelSettings {
    unsigned log_tx_entries, log_rx_entries;
    usize frame_bytes;
    bool vlan_strip;
};

class Channel {
  public:
    // Ready to send and receive.
    static Result<Owned<Channel>> make(const Resources &, Vector &, const ChannelSettings &);
    ~Channel();

    RxRing<FragmentMemory> &rx() { return *rx_; }
    TxRing &tx() { return *tx_; }
    const TxRing &tx() const { return *tx_; }
    unsigned poll(nic_rx_packet *packets, unsigned most) {
        unsigned received = rx_->poll(packets, most);
        if (rx_->take_failure()) report_failure();
        return received;
    }
    unsigned reap(nic_tx_done *done, unsigned most) {
        unsigned count = tx_->reap(done, most);
        if (tx_->take_failure()) report_failure();
        return count;
    }

  private:
    friend class Owned<Channel>;
    Channel() = default;
    void report_failure() { vector_->callbacks->channel_error(vector_->callbacks->owner, vector_->index); }
    Record record(unsigned i) const {
        return {records_.cpu() + i * kRecordStride, records_.bus() + i * kRecordStride};
    }

    static constexpr usize kRecordStride = 64; // a cache line each: the card and several processors use them

    Vector *vector_ = nullptr;
    DmaBlock records_;
    Owned<RxRing<FragmentMemory>> rx_;
    Owned<TxRing> tx_;
};

} // namespace niclab::driver
