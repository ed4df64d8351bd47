// SPDX-License-Identifier: GPL-2.0-or-later
// Reads kernel console text and finds what a healthy kernel never prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "niclab/call_trace.h"

namespace niclab {

enum class ComplaintKind {
    panic,
    oops,
    kasan,
    ubsan,
    lockdep,
    list_corruption,
    slab_corruption,
    debug_object,
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
    kmemleak,
    page_pool,
    device_held,
    leak,
    command_timeout,
    command_error,
    tx_timeout,
    refcount,
};

std::string_view name(ComplaintKind kind);

struct Complaint {
    ComplaintKind kind;
    std::string headline;           ///< what the kernel says first, without its time stamp
    std::vector<std::string> lines; ///< as printed, headline included, at most kLinesOfOneComplaint
    std::vector<Frame> frames;      ///< innermost first, of all traces in the report
    /// Equal for one fault in all runs and builds: the kind and the functions that tell, or the text without
    /// numbers.
    std::string fingerprint;
};

constexpr size_t kLinesOfOneComplaint = 150; // a lock report shows several traces

/// Every complaint in `console`, in order. A warning and the trace under it are one complaint.
std::vector<Complaint> find_complaints(std::string_view console);

/// "[   12.345678] text" and "[   12.345678][  T123] text" without what stands before the text.
std::string_view without_stamp(std::string_view line);

size_t count(const std::vector<Complaint> &complaints, ComplaintKind kind);

/// For messages: the fingerprints, one per line.
std::string describe(const std::vector<Complaint> &complaints);

/// For people: headline, the frames that count with their source, fingerprint.
std::string report(const Complaint &complaint);

nlohmann::json to_json(const std::vector<Complaint> &complaints);

} // namespace niclab
