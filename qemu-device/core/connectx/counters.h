// SPDX-License-Identifier: GPL-2.0-or-later
// Counters of the card: a row per counter; names, monitors and docs derive from the row.
#pragma once

#include "spec/types.h"

namespace niclab::connectx {

// What a DMA access is for. Each purpose has five counters: reads, bytes read, writes, bytes written, and
// bytes on the link.
enum class DmaPurpose : u8 { command, page_list, record, wqe, payload, cqe, eqe, count };

enum class Counter : u16 {
    commands,
    command_errors,
    doorbells_command,
    doorbells_send,
    doorbells_cq,
    doorbells_eq,
    doorbells_invalid,
    mmio_reads,
    mmio_writes,
    mmio_link_bytes,
    interrupts,
    interrupt_link_bytes,
    events,
    completions,
    error_completions,
    compressed_completions,
    send_wqes,
    receive_wqes,
    umr_wqes,
    tx_frames,
    tx_bytes,
    rx_frames,
    rx_bytes,
    loopback_frames,
    loopback_unwanted,
    rx_fillers,
    rx_merged_segments,
    rx_merged_frames,
    rx_drop_port_down,
    rx_drop_oversize,
    rx_drop_runt,
    rx_drop_fcs,
    rx_drop_no_root,
    rx_drop_steering,
    rx_drop_no_queue,
    rx_drop_queue_not_ready,
    rx_drop_out_of_buffer,
    rx_drop_wqe_too_small,
    rx_drop_queue_error,
    tx_drop_port_down,
    tx_drop_oversize,
    pulses_in,
    pulses_out,
    cq_overruns,
    eq_overruns,
    queue_errors,
    dma_faults,
    guest_errors,
    live_pages,
    live_objects,
    count,
};

class Counters {
  public:
    void add(Counter c, u64 n = 1) { values_[static_cast<usize>(c)] += n; }
    void set(Counter c, u64 n) { values_[static_cast<usize>(c)] = n; }
    u64 get(Counter c) const { return values_[static_cast<usize>(c)]; }
    void add_dma(DmaPurpose purpose, bool write, usize bytes, usize link_bytes) {
        u64 *row = dma_[static_cast<usize>(purpose)];
        row[write ? 2 : 0] += 1;
        row[write ? 3 : 1] += bytes;
        row[4] += link_bytes;
    }

    // All counters in one row: first those of Counter, then five for each DmaPurpose ("dma_wqe_reads",
    // "dma_wqe_bytes_read", ...).
    static usize count();
    static const char *name(usize index);
    u64 value(usize index) const;
    static const char *purpose(usize index); // "?" when there is none

  private:
    u64 values_[static_cast<usize>(Counter::count)] = {};
    u64 dma_[static_cast<usize>(DmaPurpose::count)][5] = {};
};

} // namespace niclab::connectx
