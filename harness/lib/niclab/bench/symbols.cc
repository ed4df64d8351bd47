// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/symbols.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

namespace niclab::bench {
namespace {

constexpr std::string_view kFunctionTypes = "tTwW";

/// "ffffffffc0001230 t mlx5e_xmit\t[mlx5_core]"
std::optional<Symbol> symbol_of(std::string_view line) {
    Symbol symbol;
    auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), symbol.address, 16);
    auto at = static_cast<size_t>(end - line.data());
    if (failed != std::errc() || line.size() < at + 4 || line[at] != ' ' || line[at + 2] != ' ')
        return std::nullopt;
    if (kFunctionTypes.find(line[at + 1]) == std::string_view::npos || symbol.address == 0)
        return std::nullopt;
    std::string_view rest = line.substr(at + 3);
    size_t tab = rest.find('\t');
    symbol.name = rest.substr(0, tab);
    if (tab == std::string_view::npos) return symbol;
    size_t close = rest.find(']', tab);
    if (rest.substr(tab, 2) != "\t[" || close == std::string_view::npos) return std::nullopt;
    symbol.module = rest.substr(tab + 2, close - tab - 2);
    return symbol;
}

} // namespace

Result<SymbolTable> SymbolTable::parse(std::string_view kallsyms) {
    SymbolTable table;
    while (!kallsyms.empty()) {
        std::string_view line = kallsyms.substr(0, kallsyms.find('\n'));
        kallsyms.remove_prefix(std::min(line.size() + 1, kallsyms.size()));
        if (auto symbol = symbol_of(line)) table.symbols_.push_back(std::move(*symbol));
    }
    if (table.symbols_.empty()) return Error{"the guest's /proc/kallsyms names no function with an address"};
    std::sort(table.symbols_.begin(), table.symbols_.end(), [](const Symbol &a, const Symbol &b) {
        return std::tie(a.address, a.name) < std::tie(b.address, b.name);
    });
    return table;
}

const Symbol *SymbolTable::at(std::uint64_t address) const {
    auto behind =
        std::upper_bound(symbols_.begin(), symbols_.end(), address,
                         [](std::uint64_t value, const Symbol &symbol) { return value < symbol.address; });
    if (behind == symbols_.begin()) return nullptr;
    auto first =
        std::lower_bound(symbols_.begin(), behind, std::prev(behind)->address,
                         [](const Symbol &symbol, std::uint64_t value) { return symbol.address < value; });
    return &*first;
}

} // namespace niclab::bench
