// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/gdb_script.h"

#include <array>
#include <sstream>

#include <fmt/format.h>

#include "niclab/symbols.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

constexpr const char *kListSections =
    "for s in /sys/module/*/sections/.*; do m=${s#/sys/module/}; echo \"${m%%/*} ${s##*/} $(cat $s)\"; done";
// Those of other names are gone after loading, or hold nothing a debugger asks for.
constexpr std::array<std::string_view, 4> kSections = {".text", ".rodata", ".data", ".bss"};

/// Module to " -s SECTION ADDRESS" of each section that counts.
std::map<std::string, std::string> placed(const std::string &sections) {
    std::map<std::string, std::string> modules;
    std::istringstream lines(sections);
    for (std::string module, section, address; lines >> module >> section >> address;)
        for (std::string_view known : kSections)
            if (section == known) modules[module] += fmt::format(" -s {} {}", section, address);
    return modules;
}

} // namespace

std::string gdb_script(const std::string &socket, const std::map<std::string, fs::path> &files,
                       const std::string &sections) {
    std::string text = "set pagination off\nset confirm off\nset architecture i386:x86-64\n";
    if (auto kernel = files.find(""); kernel != files.end())
        text += fmt::format("symbol-file \"{}\"\n", kernel->second.string());
    text += fmt::format("target remote {}\n", socket);
    for (const auto &[module, where] : placed(sections))
        if (auto file = files.find(module); file != files.end())
            text += fmt::format("add-symbol-file \"{}\"{}\n", file->second.string(), where);
    return text;
}

Result<std::string> write_gdb_script(Vm &vm) {
    CommandResult listed = NICLAB_TRY(vm.script(kListSections, std::chrono::seconds(60)));
    fs::path socket = NICLAB_TRY(vm.gdb_socket());
    NICLAB_TRY(vm.run_folder().write("gdb.script", gdb_script(socket, debug_files(vm.spec()), listed.out)));
    return "gdb -x " + vm.run_folder().file("gdb.script").string();
}

} // namespace niclab
