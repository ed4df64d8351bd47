// SPDX-License-Identifier: GPL-2.0-or-later
// What one unit of work costs: the difference of a window of 2N and a window of N units, by N.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "niclab/bench/symbols.h"
#include "niclab/vm.h"
#include "plugin/protocol.h"

namespace niclab::bench {

/// Counts between two marks, by address, and what the card counted meanwhile (of cards that count).
struct Window {
    std::map<std::uint64_t, std::uint64_t> instructions;
    Counters card;
};

Window window_of(std::span<const counting::AddressCount> counts, const Counters &before,
                 const Counters &after);

struct FunctionCost {
    std::string name;
    std::string module; ///< "kernel", "user", or a module's name
    double instructions = 0;
    double entries = 0;
};

/// The dearest first.
void sort_by_cost(std::vector<FunctionCost> &functions);

struct Cost {
    std::vector<FunctionCost> functions; ///< the dearest first
    std::map<std::string, double> card;

    double instructions() const;
    double instructions_in(std::span<const std::string> modules) const;
    /// How often functions of these names were entered.
    double entries(std::span<const std::string> names) const;
    /// Less what `other` costs.
    Cost minus(const Cost &other) const;
};

Cost unit_cost(const Window &once, const Window &twice, std::uint64_t units, const SymbolTable &symbols);

} // namespace niclab::bench
