// SPDX-License-Identifier: GPL-2.0-or-later
// Why a machine did not come up, read from its console.
#pragma once

#include <string>
#include <string_view>

namespace niclab {

enum class BootFailure {
    no_root, ///< the kernel finds no root file system
    no_init, ///< there is no first process, or it cannot be run, or it ended
    panic,   ///< for another reason
    restart, ///< the machine restarted itself, again and again if it were let
    silent,  ///< not one line: it stopped before the console's driver
    stuck,   ///< it said something and then nothing any more
};

std::string_view name(BootFailure kind);

struct BootVerdict {
    BootFailure kind;
    std::string sentence;   ///< kind and the line that shows it
    std::string last_lines; ///< of the console, at most kLastConsoleLines
};

constexpr unsigned kLastConsoleLines = 50;

/// `alive`: QEMU still runs.
BootVerdict judge_boot(std::string_view console, bool alive);

} // namespace niclab
