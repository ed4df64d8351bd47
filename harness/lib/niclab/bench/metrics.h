// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers that are published of a cost, each a row of a table.
#pragma once

#include <map>
#include <span>
#include <string>

#include "niclab/bench/profile.h"
#include "niclab/bench/scenarios.h"

namespace niclab::bench {

struct Metric {
    std::string name;
    std::string heading; ///< of its column; empty: not in the table
    std::string says;
    std::vector<std::string> functions; ///< entries of these are added
    std::vector<std::string>
        card_counters; ///< counters of the card that begin and end so are added: "dma_*_reads"
};

inline constexpr const char *kInstructions = "instructions";
inline constexpr const char *kDriverInstructions = "driver_instructions";

/// Beside the two above.
std::span<const Metric> metrics();

/// All metrics that apply: a card that does not count has none of the card's.
std::map<std::string, double> values_of(const Cost &cost, const Driver &driver);

} // namespace niclab::bench
