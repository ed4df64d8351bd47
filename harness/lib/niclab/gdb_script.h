// SPDX-License-Identifier: GPL-2.0-or-later
// A debugger on the guest's kernel: QEMU listens on a socket that no other run has (VmSpec::gdb).
#pragma once

#include <string>

#include "niclab/vm.h"

namespace niclab {

/// Writes gdb.script to the run's folder: connects, and loads the symbols of the kernel and of the modules
/// that are in the guest now, as far as files bring them. Gives the command to type. To be called again after
/// a module came.
Result<std::string> write_gdb_script(Vm &vm);

/// The script's text out of "MODULE SECTION ADDRESS" lines.
std::string gdb_script(const std::string &socket, const std::map<std::string, std::filesystem::path> &files,
                       const std::string &sections);

} // namespace niclab
