// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>

#include "niclab/vm_spec.h"

namespace niclab {

/// Where the files of one VM are.
struct VmFiles {
    std::string name;   ///< of the domain
    std::string suffix; ///< tells the logs of several VMs in one run folder apart
    std::filesystem::path initramfs;
    std::filesystem::path console_log;
    std::filesystem::path trace_log;
    std::filesystem::path agent_socket;
    std::filesystem::path gdb_socket;
    std::vector<std::filesystem::path>
        recent; ///< of each card; empty for one that does not keep what it did last
};

/// The libvirt domain of a spec that validate() accepted.
std::string domain_xml(const VmSpec &spec, const VmFiles &files);

/// The kernel command line: the harness's own words, then the spec's.
std::string kernel_command_line(const VmSpec &spec);

} // namespace niclab
