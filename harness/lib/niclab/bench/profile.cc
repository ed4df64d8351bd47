// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/profile.h"

#include <algorithm>
#include <tuple>

namespace niclab::bench {
namespace {

constexpr std::uint64_t kKernelHalf = 1ull << 63;

using Key = std::pair<std::string, std::string>; // module, name

/// Positive and negative parts are added before the division, so that equal windows give exactly zero.
struct Sum {
    std::int64_t instructions = 0, entries = 0;
};

void add(std::map<Key, Sum> &sums, const Window &window, std::int64_t sign, const SymbolTable &symbols) {
    for (const auto &[address, count] : window.instructions) {
        std::int64_t change = sign * static_cast<std::int64_t>(count);
        const Symbol *symbol = address >= kKernelHalf ? symbols.at(address) : nullptr;
        Key key = address < kKernelHalf ? Key{"user", "(user)"} : Key{"kernel", "(unknown)"};
        if (symbol) key = {symbol->module.empty() ? "kernel" : symbol->module, symbol->name};
        Sum &sum = sums[key];
        sum.instructions += change;
        if (symbol && symbol->address == address) sum.entries += change;
    }
}

} // namespace

void sort_by_cost(std::vector<FunctionCost> &functions) {
    std::sort(functions.begin(), functions.end(), [](const FunctionCost &a, const FunctionCost &b) {
        return std::tie(b.instructions, a.module, a.name) < std::tie(a.instructions, b.module, b.name);
    });
}

Window window_of(std::span<const counting::AddressCount> counts, const Counters &before,
                 const Counters &after) {
    Window window;
    for (const counting::AddressCount &each : counts)
        window.instructions[each.address] += each.count;
    for (const auto &[name, value] : after)
        if (auto found = before.find(name); found != before.end()) window.card[name] = value - found->second;
    return window;
}

Cost unit_cost(const Window &once, const Window &twice, std::uint64_t units, const SymbolTable &symbols) {
    std::map<Key, Sum> sums;
    add(sums, twice, 1, symbols);
    add(sums, once, -1, symbols);
    auto each = [units](std::int64_t sum) { return static_cast<double>(sum) / static_cast<double>(units); };
    Cost cost;
    for (const auto &[key, sum] : sums)
        if (sum.instructions != 0)
            cost.functions.push_back({key.second, key.first, each(sum.instructions), each(sum.entries)});
    sort_by_cost(cost.functions);
    for (const auto &[name, value] : twice.card) {
        auto first = once.card.find(name);
        std::uint64_t less = first == once.card.end() ? 0 : first->second;
        cost.card[name] = each(static_cast<std::int64_t>(value - less));
    }
    return cost;
}

double Cost::instructions() const {
    double sum = 0;
    for (const FunctionCost &function : functions)
        sum += function.instructions;
    return sum;
}

double Cost::instructions_in(std::span<const std::string> modules) const {
    double sum = 0;
    for (const FunctionCost &function : functions)
        if (std::find(modules.begin(), modules.end(), function.module) != modules.end())
            sum += function.instructions;
    return sum;
}

double Cost::entries(std::span<const std::string> names) const {
    double sum = 0;
    for (const FunctionCost &function : functions)
        if (std::find(names.begin(), names.end(), function.name) != names.end()) sum += function.entries;
    return sum;
}

Cost Cost::minus(const Cost &other) const {
    std::map<Key, FunctionCost> merged;
    for (const FunctionCost &function : functions)
        merged[{function.module, function.name}] = function;
    for (const FunctionCost &function : other.functions) {
        FunctionCost &left =
            merged.try_emplace({function.module, function.name}, FunctionCost{function.name, function.module})
                .first->second;
        left.instructions -= function.instructions;
        left.entries -= function.entries;
    }
    Cost rest;
    for (const auto &[key, function] : merged)
        if (function.instructions != 0) rest.functions.push_back(function);
    sort_by_cost(rest.functions);
    rest.card = card;
    for (const auto &[name, value] : other.card)
        rest.card[name] -= value;
    return rest;
}

} // namespace niclab::bench
