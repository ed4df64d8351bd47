// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/counters.h"

#include <array>

namespace niclab::connectx {
namespace {

constexpr usize kPlain = static_cast<usize>(Counter::count);
constexpr usize kPurposes = static_cast<usize>(DmaPurpose::count);

// In the order of Counter.
constexpr const char *kNames[] = {
    "commands",
    "command_errors",
    "doorbells_command",
    "doorbells_send",
    "doorbells_cq",
    "doorbells_eq",
    "doorbells_invalid",
    "mmio_reads",
    "mmio_writes",
    "mmio_link_bytes",
    "interrupts",
    "interrupt_link_bytes",
    "events",
    "completions",
    "error_completions",
    "compressed_completions",
    "send_wqes",
    "receive_wqes",
    "umr_wqes",
    "tx_frames",
    "tx_bytes",
    "rx_frames",
    "rx_bytes",
    "loopback_frames",
    "loopback_unwanted",
    "rx_fillers",
    "rx_merged_segments",
    "rx_merged_frames",
    "rx_drop_port_down",
    "rx_drop_oversize",
    "rx_drop_runt",
    "rx_drop_fcs",
    "rx_drop_no_root",
    "rx_drop_steering",
    "rx_drop_no_queue",
    "rx_drop_queue_not_ready",
    "rx_drop_out_of_buffer",
    "rx_drop_wqe_too_small",
    "rx_drop_queue_error",
    "tx_drop_port_down",
    "tx_drop_oversize",
    "pulses_in",
    "pulses_out",
    "cq_overruns",
    "eq_overruns",
    "queue_errors",
    "dma_faults",
    "guest_errors",
    "live_pages",
    "live_objects",
};
static_assert(std::size(kNames) == kPlain);

constexpr const char *kPurposeNames[] = {"command", "page_list", "record", "wqe", "payload", "cqe", "eqe"};
static_assert(std::size(kPurposeNames) == kPurposes);
constexpr const char *kDmaSuffixes[] = {"_reads", "_bytes_read", "_writes", "_bytes_written", "_link_bytes"};
constexpr usize kSuffixes = std::size(kDmaSuffixes);

using Name = std::array<char, 32>;

consteval std::array<Name, kPurposes * kSuffixes> dma_names() {
    std::array<Name, kPurposes * kSuffixes> names{};
    for (usize i = 0; i < names.size(); ++i) {
        usize at = 0;
        for (const char *part : {"dma_", kPurposeNames[i / kSuffixes], kDmaSuffixes[i % kSuffixes]})
            for (; *part; ++part)
                names[i].at(at++) = *part;
        names[i].at(at) = 0;
    }
    return names;
}
constexpr auto kDmaNames = dma_names();

} // namespace

usize Counters::count() { return kPlain + kDmaNames.size(); }

const char *Counters::name(usize index) {
    if (index < kPlain) return kNames[index];
    return index < count() ? kDmaNames[index - kPlain].data() : nullptr;
}

const char *Counters::purpose(usize index) { return index < kPurposes ? kPurposeNames[index] : "?"; }

u64 Counters::value(usize index) const {
    if (index < kPlain) return values_[index];
    return index < count() ? dma_[(index - kPlain) / kSuffixes][(index - kPlain) % kSuffixes] : 0;
}

} // namespace niclab::connectx
