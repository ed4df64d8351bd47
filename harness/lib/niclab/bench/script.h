// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's part of a run. When the guest is counted, init runs the script before the host can ask for
// anything, and marks tell how far it is; when it is timed, the host asks for the script and reads what it
// prints.
#pragma once

#include <string>
#include <vector>

#include "niclab/bench/scenarios.h"

namespace niclab::bench {

struct Planned {
    const Scenario *scenario;
    unsigned units; ///< of the first window
};

/// Marks that the script makes: "begin NAME K", "end NAME K" (K is 1 or 2; NAME ends in kBaselineSuffix for
/// the work that is subtracted), "note skip NAME WHY", "note broken WHY", "file kallsyms", "note done".
std::string guest_script(const Driver &driver, const std::vector<Planned> &planned);

/// The same work; prints "time NAME ONCE TWICE", "skip NAME WHY" and "broken WHY".
std::string timed_script(const Driver &driver, const std::vector<Planned> &planned);

inline constexpr const char *kBaselineSuffix = "+base";

} // namespace niclab::bench
