// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's part of a counting run: a script that init runs before the host can ask for anything.
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

inline constexpr const char *kBaselineSuffix = "+base";

} // namespace niclab::bench
