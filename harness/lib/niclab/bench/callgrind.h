// SPDX-License-Identifier: GPL-2.0-or-later
// What callgrind writes: how many instructions each function of a program executed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "niclab/result.h"

namespace niclab::bench {

struct CallgrindDump {
    std::string trigger; ///< the words of the program that asked for it; empty: written at its end
    std::map<std::string, std::uint64_t>
        functions; ///< executed by the function itself, not by those it calls
};

Result<CallgrindDump> parse_callgrind(std::string_view text);

} // namespace niclab::bench
