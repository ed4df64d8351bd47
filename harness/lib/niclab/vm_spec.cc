// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/vm_spec.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

namespace niclab {
namespace {

constexpr unsigned kMaxVcpus = 64;
constexpr unsigned kMinMemoryMib = 256;
constexpr unsigned kMaxMemoryMib = 1u << 20;
// Root ports stand in slots 0x10 and up of bus 0; libvirt takes its own from the low end, 0x1e and 0x1f are
// q35's.
constexpr unsigned kFirstNicSlot = 0x10;
constexpr size_t kMaxNics = 12;

bool is_hex_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_mac(const std::string &text) {
    if (text.size() != 17) return false;
    for (size_t i = 0; i < text.size(); ++i)
        if (i % 3 == 2 ? text[i] != ':' : !is_hex_digit(text[i])) return false;
    return true;
}

/// QEMU separates options by commas; a name or value with one in it would become another option.
bool is_plain_value(const std::string &text) { return text.find_first_of(",\n") == std::string::npos; }
bool is_plain_word(const std::string &text) {
    return !text.empty() && is_plain_value(text) && text.find(' ') == std::string::npos;
}

Status validate_nic(const NicSpec &nic, size_t index) {
    if (!is_plain_word(nic.model))
        return Error{fmt::format("card {}: '{}' is not a device model name", index, nic.model)};
    if (!nic.mac.empty() && !is_mac(nic.mac))
        return Error{
            fmt::format("card {}: '{}' is not a MAC address like 52:54:00:6e:01:00", index, nic.mac)};
    if (nic.netdev.empty()) return Error{fmt::format("card {}: no netdev to join it to", index)};
    for (const auto &[key, value] : nic.properties)
        if (!is_plain_word(key) || !is_plain_value(value))
            return Error{fmt::format("card {}: '{}={}' is not a device property", index, key, value)};
    return {};
}

Status validate_counting(const VmSpec &spec) {
    if (!spec.counting) return {};
    if (spec.vcpus != 1) return Error{fmt::format("{} CPUs cannot be counted; one can", spec.vcpus)};
    if (spec.accel == Accel::kvm) return Error{"instructions under KVM cannot be counted"};
    if (!is_plain_word(spec.counting->socket))
        return Error{fmt::format("'{}' is not the path of a socket", spec.counting->socket)};
    return {};
}

Status validate_kernel(const std::string &kernel) {
    const auto &names = kernel_names();
    if (is_kernel_folder(kernel) || std::find(names.begin(), names.end(), kernel) != names.end()) return {};
    return Error{
        fmt::format("there is no guest kernel '{}'; choose one of {}, or a folder (with a slash in its name)",
                    kernel, fmt::join(names, ", "))};
}

Status validate_files(const VmSpec &spec) {
    std::set<std::string> seen;
    for (const ExtraFile &file : spec.files) {
        if (access(file.host_path.c_str(), R_OK) != 0)
            return Error{fmt::format("the file '{}' for the guest cannot be read", file.host_path)};
        if (file.guest_path.size() < 2 || file.guest_path[0] != '/')
            return Error{fmt::format("'{}' is not an absolute path in the guest", file.guest_path)};
        if (!seen.insert(file.guest_path).second)
            return Error{fmt::format("two files for the guest are called '{}'", file.guest_path)};
    }
    return {};
}

} // namespace

VmSpec two_connectx_ports(const std::string &kernel) {
    VmSpec spec;
    spec.kernel = kernel;
    spec.nics.resize(2);
    return spec;
}

const std::vector<std::string> &kernel_names() {
    static const std::vector<std::string> names = {"6.1", "6.12"};
    return names;
}

bool is_kernel_folder(const std::string &kernel) { return kernel.find('/') != std::string::npos; }

Status validate(const VmSpec &spec) {
    NICLAB_TRY(validate_kernel(spec.kernel));
    if (spec.vcpus < 1 || spec.vcpus > kMaxVcpus)
        return Error{fmt::format("{} CPUs are out of range 1 to {}", spec.vcpus, kMaxVcpus)};
    if (spec.memory_mib < kMinMemoryMib || spec.memory_mib > kMaxMemoryMib)
        return Error{fmt::format("{} MiB of memory are out of range {} to {}", spec.memory_mib, kMinMemoryMib,
                                 kMaxMemoryMib)};
    if (spec.nics.size() > kMaxNics)
        return Error{fmt::format("{} cards are too many; {} have a slot", spec.nics.size(), kMaxNics)};
    if (spec.caching_mode && !spec.iommu)
        return Error{"caching mode is a mode of the vIOMMU, and this machine has none"};
    if (spec.kernel_command_line.find('\n') != std::string::npos)
        return Error{"the kernel command line holds a line break"};
    NICLAB_TRY(validate_counting(spec));
    std::set<std::string> macs;
    for (size_t i = 0; i < spec.nics.size(); ++i) {
        NICLAB_TRY(validate_nic(spec.nics[i], i));
        if (!macs.insert(mac_of(spec, i)).second)
            return Error{fmt::format("two cards have the MAC address {}", mac_of(spec, i))};
    }
    return validate_files(spec);
}

std::string mac_of(const VmSpec &spec, size_t index) {
    const std::string &own = spec.nics[index].mac;
    return own.empty() ? fmt::format("52:54:00:6e:01:{:02x}", index) : own;
}

std::string root_port_address(size_t index) { return fmt::format("0000:00:{:02x}.0", kFirstNicSlot + index); }

} // namespace niclab
