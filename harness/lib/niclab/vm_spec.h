// SPDX-License-Identifier: GPL-2.0-or-later
// What a virtual machine shall be, as a plain value.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "niclab/result.h"

namespace niclab {

enum class Accel {
    tcg,
    kvm,
};

enum class ConsoleMode {
    file, ///< the guest's serial line goes to console.log only
    pty,  ///< the same, and a terminal can be attached
};

/// When Linux takes a mapping out of the vIOMMU.
enum class IommuMode {
    strict,      ///< with each unmap
    lazy,        ///< later, many at once
    passthrough, ///< there are no mappings: devices see the guest's memory
};

/// One network card. Each sits behind a PCIe root port of its own; cards that name the same hub are joined.
struct NicSpec {
    std::string model = "connectx";
    std::string mac; ///< empty: 52:54:00:6e:01:<index>
    std::vector<std::pair<std::string, std::string>> properties;
    std::string netdev = "hubport,hubid=0";
};

/// A file that appears in the guest at `guest_path` before init runs.
struct ExtraFile {
    std::string host_path;
    std::string guest_path;
    unsigned mode = 0644;
};

/// Counting mode: virtual time comes from the number of instructions, and nothing is random, so that two runs
/// execute the same ones. A plugin tells a listener how often each ran (harness/plugin/protocol.h).
struct CountingSpec {
    std::string socket; ///< where somebody listens before the machine starts
    std::string plugin; ///< filled by the harness's recipe when empty
};

struct VmSpec {
    std::string kernel = "6.1"; ///< a name of kernel_names(), or the folder of a kernel somebody built
    unsigned vcpus = 2;
    unsigned memory_mib = 1024;
    std::optional<Accel> accel; ///< empty: what works here, found by a probe guest
    std::string cpu;            ///< QEMU CPU model; empty: "max" under TCG, the host's under KVM
    std::vector<NicSpec> nics;
    bool iommu = true; ///< Intel vIOMMU
    IommuMode iommu_mode = IommuMode::strict;
    bool caching_mode = false;
    ConsoleMode console = ConsoleMode::file;
    std::string kernel_command_line; ///< appended to the harness's own
    std::vector<ExtraFile> files;
    std::vector<std::string> archives;     ///< cpio archives that the guest unpacks over its image
    std::vector<std::string> trace_events; ///< QEMU trace patterns, e.g. "connectx_*"
    std::vector<std::string> qemu_arguments;
    std::optional<CountingSpec> counting;
    bool gdb = false; ///< QEMU listens for a debugger (gdb_script.h)

    /// Artifacts; the harness's recipes fill those left empty.
    std::string qemu; ///< qemu-system-x86_64
    std::string kernel_image;
    std::string initramfs;
    std::string kernel_folder; ///< of what the kernel came with: modules, perhaps vmlinux
};

/// Two joined ConnectX ports behind a strict vIOMMU: the machine most tests want.
VmSpec two_connectx_ports(const std::string &kernel);

/// Kernels that the recipes know by name.
const std::vector<std::string> &kernel_names();
/// Whether `kernel` names a folder: it has a slash in it.
bool is_kernel_folder(const std::string &kernel);

/// Says in one sentence what cannot work, before anything is started.
Status validate(const VmSpec &spec);

/// The MAC address that card `index` of `spec` has.
std::string mac_of(const VmSpec &spec, size_t index);

/// PCI slot on the root bus of the root port that card `index` sits behind, e.g. "0000:00:10.0".
std::string root_port_address(size_t index);

} // namespace niclab
