// SPDX-License-Identifier: GPL-2.0-or-later
// Reads kernel console text and finds what a healthy kernel never prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace niclab {

enum class ComplaintKind {
    panic,
    oops,
    bug,
    warning,
    call_trace,
    hung_task,
    lockup,
    rcu_stall,
    out_of_memory,
    checksum,
    dma_fault,
    dma_api,
    leak,
    command_timeout,
    command_error,
    tx_timeout,
    refcount,
};

std::string_view name(ComplaintKind kind);

struct Complaint {
    ComplaintKind kind;
    std::string fingerprint;        ///< stable between runs: kind and the place or text, without numbers
    std::vector<std::string> lines; ///< the lines as printed, at most one screen
};

/// Every complaint in `console`, in order. A warning and the trace under it are one complaint.
std::vector<Complaint> find_complaints(std::string_view console);

size_t count(const std::vector<Complaint> &complaints, ComplaintKind kind);

/// For messages: the fingerprints, one per line.
std::string describe(const std::vector<Complaint> &complaints);

} // namespace niclab
