// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/boot_failure.h"

#include <array>

#include <fmt/format.h>

namespace niclab {
namespace {

struct Row {
    BootFailure kind;
    const char *name;
    const char *means;
};
constexpr std::array kRows = {
    Row{BootFailure::no_root, "no root", "the kernel finds no root file system"},
    Row{BootFailure::no_init, "no init", "there is no first process to run, or it ended"},
    Row{BootFailure::panic, "panic", "the kernel panicked"},
    Row{BootFailure::restart, "restart", "the machine restarted itself before it was up, or QEMU ended"},
    Row{BootFailure::silent, "silent", "the console shows not one line"},
    Row{BootFailure::stuck, "stuck", "the guest went silent before it was up"},
};

const Row &row_of(BootFailure kind) {
    for (const Row &row : kRows)
        if (row.kind == kind) return row;
    return kRows.back();
}

std::string_view last_lines(std::string_view console, unsigned most) {
    while (!console.empty() && (console.back() == '\n' || console.back() == '\r'))
        console.remove_suffix(1);
    size_t at = console.size();
    for (unsigned line = 0; line < most && at != std::string_view::npos; ++line)
        at = at == 0 ? std::string_view::npos : console.rfind('\n', at - 1);
    return at == std::string_view::npos ? console : console.substr(at + 1);
}

std::string_view line_at(std::string_view console, size_t at) {
    std::string_view rest = console.substr(at);
    return rest.substr(0, rest.find_first_of("\r\n"));
}

BootFailure kind_of_panic(std::string_view panic) {
    constexpr auto npos = std::string_view::npos;
    if (panic.find("Unable to mount root") != npos) return BootFailure::no_root;
    if (panic.find("init") != npos && (panic.find("No working") != npos || panic.find("Requested") != npos ||
                                       panic.find("kill init") != npos))
        return BootFailure::no_init;
    return BootFailure::panic;
}

} // namespace

std::string_view name(BootFailure kind) { return row_of(kind).name; }

BootVerdict judge_boot(std::string_view console, bool alive) {
    constexpr std::string_view kPanic = "Kernel panic - not syncing";
    BootFailure kind = alive ? BootFailure::stuck : BootFailure::restart;
    std::string_view shown = last_lines(console, 1);
    if (size_t at = console.find(kPanic); at != std::string_view::npos) {
        shown = line_at(console, at);
        kind = kind_of_panic(shown);
    } else if (console.find("Linux version") == std::string_view::npos) {
        kind = BootFailure::silent;
    }
    BootVerdict verdict{kind, row_of(kind).means, std::string(last_lines(console, kLastConsoleLines))};
    if (!shown.empty()) verdict.sentence += fmt::format(": '{}'", shown);
    return verdict;
}

} // namespace niclab
