// SPDX-License-Identifier: GPL-2.0-or-later
// The guest kernel's functions, out of its /proc/kallsyms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "niclab/result.h"

namespace niclab::bench {

struct Symbol {
    std::uint64_t address = 0;
    std::string name;
    std::string module; ///< empty: the kernel itself
};

class SymbolTable {
  public:
    /// Keeps the functions. Where several names have one address, the alphabetically first stands for all.
    static Result<SymbolTable> parse(std::string_view kallsyms);

    /// The function that `address` lies in; a function ends where the next begins.
    const Symbol *at(std::uint64_t address) const;

  private:
    std::vector<Symbol> symbols_; ///< by address, then name
};

} // namespace niclab::bench
