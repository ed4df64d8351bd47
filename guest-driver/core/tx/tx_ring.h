// SPDX-License-Identifier: GPL-2.0-or-later
// A send queue: packets become WQEs, completions give them back. post() and ring() run under the transmit
// lock, reap() in one poller; the two sides share only the counters below.
#pragma once

#include "core/cq.h"
#include "core/nic.h"
#include "core/sync.h"
#include "spec/wqe.h"

namespace niclab::driver {

struct TxStats {
    // written by post() and ring()
    u64 packets = 0, bytes = 0, segments = 0, doorbells = 0, busy = 0, map_errors = 0;
    u64 maps = 0;        // of posted packets
    u64 undone_maps = 0; // mapped, and unmapped again when a later fragment failed
    // written by reap()
    u64 errors = 0, unmaps = 0;
};

struct TxSettings {
    unsigned log_entries;
    u32 eqn;
    Record cq_record, sq_record;
    const u32 *arm_number;
    TxStats *stats;
};

class TxRing {
  public:
    static Result<Owned<TxRing>> make(const Resources &, const TxSettings &);
    ~TxRing();

    int post(const nic_tx_packet &);
    void ring();
    bool has_room() const { return mask_ + 1 - (producer_ - load_acquire(freed_)) >= 2 * kMostBlocks - 1; }
    unsigned reap(nic_tx_done *done, unsigned most);
    // Ends the queue in the card, then gives back what it held.
    unsigned drain(nic_tx_done *done, unsigned most);
    // A queue that stopped waits only for what the card still has to flush.
    void arm() {
        if (!load_relaxed(failed_) || consumer_ != load_relaxed(rung_)) cq_.arm();
    }
    u32 sqn() const { return sq_.number(); }
    u32 cqn() const { return cq_.number(); }
    // The queue can send no more and must be made anew. Each failure is told once.
    bool take_failure() {
        bool told = load_relaxed(failed_) && !failure_told_;
        failure_told_ |= told;
        return told;
    }

    static constexpr unsigned kMostHeader = NIC_MAX_HEADER;
    // Control and Ethernet segment, header with an inserted tag, fragments; in 64-byte blocks.
    static constexpr unsigned kMostBlocks = (2 + (kMostHeader + 4 - 2 + 15) / 16 + NIC_MAX_FRAGS + 3) / 4;
    static_assert(2 * kMostBlocks <= NIC_MIN_RING);

  private:
    friend class Owned<TxRing>;
    TxRing() = default;

    // What the driver remembers of a WQE, at the index of its first block.
    struct Wqe {
        void *cookie = nullptr;
        u32 bytes = 0;
        u16 blocks = 0, mappings = 0;
    };
    struct Mapping {
        u64 bus;
        u32 bytes;
    };
    Result<void> create_sq(const TxSettings &);
    Result<void> set_ready();
    u8 *block(u32 counter) const { return ring_.cpu() + (counter & mask_) * kBlockBytes; }
    enum class Form : u8 { plain, large }; // large: LSO with its headers inlined
    template <Form form>
    int post_as(const nic_tx_packet &);
    template <Form form>
    void write_ethernet(u8 *segment, const nic_tx_packet &, u32 header) const;
    int map_fragments(u8 *segment, const nic_tx_packet &);
    int undo_mappings(u32 position, int error);
    void write_control(u8 *control, u32 counter, WqeOpcode, u32 ds) const;
    void pad(u32 until);
    bool look_for_completion();
    void fail(const char *why, u32 detail);
    bool complete(nic_tx_done &);
    void unmap(u32 count);

    static constexpr usize kBlockBytes = 64;
    static constexpr unsigned kMappingsPerBlock = 4; // a block holds four segments

    const Resources *resources_ = nullptr;
    plat *platform_ = nullptr;
    TxStats *stats_ = nullptr;
    u8 *last_ = nullptr; // newest WQE
    u32 mask_ = 0, mapping_mask_ = 0, sqn_shifted_ = 0, key_ = 0, doorbell_ = 0;
    u32 producer_ = 0, mapped_ = 0; // next block, next mapping
    u32 counted_ = 0;               // mappings that the statistics know
    u32 rung_ = 0;                  // the card was told of blocks before this one
    Record record_;
    Array<Wqe> wqes_;
    Array<Mapping> mappings_;
    // the poller's side
    u32 consumer_ = 0, unmapped_ = 0;
    u32 done_ = 0;  // WQEs that start before this block are finished
    u32 freed_ = 0; // blocks before this one may be written again
    bool failed_ = false, failure_told_ = false;
    DmaBlock ring_;
    Cq cq_;
    Object sq_; // last: the card stops before its memory goes
};

} // namespace niclab::driver
