// SPDX-License-Identifier: GPL-2.0-or-later
// A receive queue: descriptors with scatter lists, their memory, their completions. One poller at a time.
#pragma once

#include "core/cq.h"
#include "core/nic.h"
#include "core/rx/fragment_memory.h"
#include "core/sync.h"

namespace niclab::driver {

static_assert(kMaxRxFragments == NIC_MAX_RX_FRAGS);

struct RxStats {
    u64 packets = 0, bytes = 0, errors = 0, no_memory = 0, csum_complete = 0, csum_ok = 0, csum_none = 0;
    FragmentMemory::Counts mappings;
};

struct RxSettings {
    unsigned log_entries;
    usize frame_bytes;
    bool vlan_strip;
    u32 eqn;
    Record cq_record, rq_record;
    const u32 *arm_number;
    RxStats *stats;
};

template <class Memory>
class RxRing {
  public:
    // Ready to receive, every descriptor filled.
    static Result<Owned<RxRing>> make(const Resources &, const RxSettings &);
    ~RxRing();

    unsigned poll(nic_rx_packet *packets, unsigned most);
    Result<void> refill(MaySleep);
    // A queue that stopped reads no completion any more: armed, those left over would interrupt for ever.
    void arm() {
        if (!failed_) cq_.arm();
    }
    Result<void> set_vlan_strip(bool on);
    u32 rqn() const { return rq_.number(); }
    u32 cqn() const { return cq_.number(); }
    // The queue can receive no more and must be made anew. Each failure is told once.
    bool take_failure() {
        bool told = failed_ && !failure_told_;
        failure_told_ = failed_;
        return told;
    }

  private:
    friend class Owned<RxRing>;
    RxRing() = default;
    Result<void> create_rq(const RxSettings &);
    Result<void> modify_rq(QueueState from, QueueState to, u64 mask, bool vlan_strip);
    void write_descriptor(u32 slot);
    RxFragment *set(u32 counter) const { return &fragments_[(counter & mask_) * memory_.fragments()]; }
    bool accept(const u8 *cqe, nic_rx_packet &);
    void describe(const u8 *cqe, nic_rx_packet &);
    void set_checksum(const u8 *cqe, nic_rx_packet &);
    bool reject(const char *why, u32 detail);

    const Resources *resources_ = nullptr;
    RxStats *stats_ = nullptr;
    Memory memory_;
    u32 mask_ = 0, producer_ = 0, consumer_ = 0;
    unsigned log_entries_ = 0, log_stride_ = 0;
    bool failed_ = false, failure_told_ = false;
    Record record_;
    Array<RxFragment> fragments_; // the driver's own copy of what each descriptor holds
    DmaBlock ring_;
    Cq cq_;
    Object rq_; // last: the card stops before its memory goes
};

extern template class RxRing<FragmentMemory>;

} // namespace niclab::driver
