// SPDX-License-Identifier: GPL-2.0-or-later
// How fast the loads run by the clock. Time on a shared machine says little by itself: publish medians of
// runs that took turns, beside the other cards' of the same run.
#pragma once

#include "niclab/bench/measure.h"

namespace niclab::bench {

struct Timed {
    double per_second = 0; ///< units of the scenario
    std::string why_not;   ///< why there is no number; empty when there is
};

/// One boot with two processors, both ports of the measured kind. In the order of `planned`.
Result<std::vector<Timed>> timed_run(const Setting &setting, const std::vector<Planned> &planned,
                                     const RunFolder &run);

/// What `timed_script()` printed, for each of `planned`.
Result<std::vector<Timed>> read_times(const std::string &printed, const std::vector<Planned> &planned);

/// Frames and rounds in thousands for each second, KiB as Mbit/s: "12.3 kframe/s". Median of the runs, and
/// how far the smallest and the largest are from it: "12.3 (11.9 to 13.0) kframe/s".
std::string rate(const Scenario &scenario, std::vector<double> per_second);

} // namespace niclab::bench
