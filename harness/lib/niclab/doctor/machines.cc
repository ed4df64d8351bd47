// SPDX-License-Identifier: GPL-2.0-or-later
// What starts VMs: libvirt, QEMU's firmware and the processor's help.
#include <fmt/format.h>
#include <unistd.h>

#include "niclab/doctor/checks.h"

namespace niclab::doctor {
namespace {

Findings slow(const std::string &why, const std::string &remedy) {
    return {{"acceleration", Verdict::warn, why + "; guests are emulated, ten times slower", remedy}};
}

} // namespace

Findings check_libvirt(const Host &host) {
    Findings findings;
    for (const char *file : {"bios-256k.bin", "pvh.bin"})
        if (!fs::exists(host.at("/usr/share/seabios") / file) &&
            !fs::exists(host.at("/usr/share/qemu") / file))
            findings.push_back({"firmware", Verdict::bad,
                                fmt::format("{} is in neither firmware folder", file),
                                "apt-get install --reinstall seabios qemu-system-data"});
    auto version = host.libvirt();
    if (!version.ok())
        findings.push_back({"libvirt", Verdict::bad, version.why(),
                            "apt-get install --reinstall libvirt-daemon-driver-qemu libvirt-daemon-system"});
    else
        findings.push_back({"libvirt", Verdict::ok, *version + ", and its embedded QEMU driver starts", ""});
    return findings;
}

Findings check_acceleration(const Host &host) {
    fs::path device = host.at("/dev/kvm");
    if (!fs::exists(device))
        return slow("there is no /dev/kvm",
                    "as root: modprobe kvm_intel or kvm_amd; in a VM ask for nested virtualisation, in a "
                    "container for --device /dev/kvm");
    if (access(device.c_str(), R_OK | W_OK) != 0)
        return slow("/dev/kvm is there but may not be opened",
                    "as root: usermod -aG kvm USER, then log in again");
    auto verdict = host.acceleration();
    if (!verdict.ok()) return {{"acceleration", Verdict::ok, "/dev/kvm opens; " + verdict.why(), ""}};
    if (verdict->accel == Accel::kvm) return {{"acceleration", Verdict::ok, "KVM; " + verdict->reason, ""}};
    return slow(
        "/dev/kvm opens but does not run a guest (" + verdict->reason + ")",
        "on a virtual machine that pretends to have KVM nothing helps; else look at dmesg, and delete "
        "acceleration.json in the cache to have it tried again");
}

Findings check_all(const Host &host) {
    Findings all;
    auto add = [&](const Findings &found) { all.insert(all.end(), found.begin(), found.end()); };
    // Leftovers first: libvirt's session ends those of dead runs as it starts.
    for (auto check : {check_leftovers, check_system, check_packages, check_permissions, check_locale,
                       check_processors, check_memory, check_disk, check_cache, check_libvirt})
        add(check(host));
    if (!any_bad(all)) add(check_acceleration(host));
    return all;
}

} // namespace niclab::doctor
