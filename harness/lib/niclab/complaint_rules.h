// SPDX-License-Identifier: GPL-2.0-or-later
// By which lines complaints are known.
#pragma once

#include <string_view>

#include "niclab/complaints.h"

namespace niclab {

struct ComplaintRule {
    ComplaintKind kind;
    bool starts_trace; ///< the lines below, up to the end of the report, belong to it
};

/// What a line without its time stamp opens, or nullptr.
const ComplaintRule *complaint_rule(std::string_view text);

} // namespace niclab
