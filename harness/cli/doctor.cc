// SPDX-License-Identifier: GPL-2.0-or-later
// What this machine can do. Each line has a verdict; one that stops the lab comes with its remedy.
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "commands.h"
#include "niclab/accel.h"
#include "niclab/artifacts.h"
#include "niclab/leftovers.h"
#include "niclab/libvirt_session.h"
#include "niclab/lifeline.h"
#include "niclab/paths.h"
#include "niclab/process.h"

namespace fs = std::filesystem;

namespace niclab::cli {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kMemoryNeededGib = 2;
constexpr double kDiskNeededGib = 2;       // a run, with everything built
constexpr double kDiskNeededForBuild = 10; // as harness/host/setup asks for

enum class Verdict { good, note, bad };

struct Finding {
    Verdict verdict;
    std::string what;
    std::string remedy;
};

Finding good(std::string what) { return {Verdict::good, std::move(what), {}}; }
Finding note(std::string what) { return {Verdict::note, std::move(what), {}}; }
Finding bad(std::string what, std::string remedy) {
    return {Verdict::bad, std::move(what), std::move(remedy)};
}

bool qemu_built() {
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(cache_root() / "qemu/programs", failed))
        if (fs::exists(entry.path() / "qemu-system-x86_64")) return true;
    return false;
}

bool guest_built() {
    std::error_code failed;
    fs::directory_iterator entries(cache_root() / "guest", failed);
    return !failed && entries != fs::directory_iterator();
}

Finding look_for_leftovers() {
    auto root = state_root();
    if (!root.ok()) return bad(root.why(), "see to that folder");
    size_t processes = 0;
    auto stale = stale_folders(*root);
    for (const fs::path &folder : stale)
        processes += processes_of(folder).size();
    if (stale.empty()) return good("leftovers: none of runs that died");
    for (const fs::path &folder : stale)
        if (!sweep(folder))
            return bad(fmt::format("leftovers: {} cannot be cleaned", folder.string()), "remove it as root");
    return note(
        fmt::format("leftovers: {} dead runs with {} processes were cleaned up", stale.size(), processes));
}

Finding look_at_user() {
    if (geteuid() == 0) return good("user: root");
    return note("user: not root; VMs run, but missing packages can only be installed by root");
}

Finding look_at_packages() {
    auto listed = run_process({(source_root() / "harness/host/setup").string(), "--dry-run"});
    if (!listed.ok()) return bad("packages: " + listed.why(), "run harness/host/setup");
    if (listed->exit_code != 0)
        return bad("packages: " + listed->err.substr(0, listed->err.find('\n')), "see the sentence");
    if (listed->out.empty()) return good("packages: all there");
    std::string names = listed->out.substr(0, listed->out.find_last_not_of('\n') + 1);
    for (char &c : names)
        c = c == '\n' ? ' ' : c;
    return bad("packages missing: " + names, "as root: harness/host/setup");
}

Finding look_at_memory() {
    struct sysinfo info {};
    sysinfo(&info);
    auto text = read_file("/proc/meminfo");
    double available = 0;
    if (size_t at = text.ok() ? text->find("MemAvailable:") : std::string::npos; at != std::string::npos)
        available = std::strtod(text->c_str() + at + 13, nullptr) * 1024 / kGib;
    std::string what = fmt::format("memory: {:.1f} of {:.1f} GiB are available", available,
                                   static_cast<double>(info.totalram) * info.mem_unit / kGib);
    if (available < kMemoryNeededGib)
        return bad(what, fmt::format("a VM and its build need {} GiB: end something", kMemoryNeededGib));
    return good(what);
}

Finding look_at_disk(const char *name, const fs::path &place, double needed) {
    fs::path there = place;
    while (!fs::exists(there))
        there = there.parent_path();
    struct statvfs info {};
    statvfs(there.c_str(), &info);
    double gib = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize) / kGib;
    std::string what = fmt::format("disk for {}: {:.1f} GiB free at {}", name, gib, place.string());
    if (gib < needed)
        return bad(what,
                   fmt::format("{} GiB are needed: free some, or set NICLAB_CACHE to another disk", needed));
    return good(what);
}

Finding look_at_firmware() {
    for (const char *file : {"/usr/share/seabios/bios-256k.bin", "/usr/share/qemu/pvh.bin"})
        if (!fs::exists(file) && !fs::exists(fs::path("/usr/share/seabios") / fs::path(file).filename()))
            return bad(fmt::format("firmware: {} is missing", file), "as root: harness/host/setup");
    return good("firmware: there");
}

Finding look_at_libvirt() {
    auto session = LibvirtSession::get();
    if (!session.ok()) return bad("libvirt: " + session.why(), "as root: harness/host/setup");
    unsigned long version = 0;
    virConnectGetLibVersion((*session)->connection(), &version);
    return good(fmt::format("libvirt: {}.{}.{}, the embedded QEMU driver works", version / 1000000,
                            version / 1000 % 1000, version % 1000));
}

Finding look_at_acceleration() {
    if (!qemu_built()) return note("acceleration: found out at the first boot, by a probe guest");
    auto qemu = qemu_binary();
    if (!qemu.ok()) return bad("QEMU: " + qemu.why(), "run qemu-device/build/build and read what it says");
    AccelVerdict verdict = probe_accel(*qemu);
    if (verdict.accel == Accel::kvm) return good("acceleration: KVM; " + verdict.reason);
    return note("acceleration: none, guests are emulated (TCG); " + verdict.reason);
}

Finding look_at_artifacts() {
    if (qemu_built() && guest_built()) return good("QEMU with our card and a guest image: built");
    return note(
        "QEMU with our card or the guest image is not built yet: the first demo does it (some minutes)");
}

bool print(const Finding &finding) {
    const char *marks[] = {"ok  ", "note", "BAD "};
    std::puts(fmt::format("{}  {}", marks[static_cast<size_t>(finding.verdict)], finding.what).c_str());
    if (!finding.remedy.empty()) std::puts(fmt::format("      remedy: {}", finding.remedy).c_str());
    return finding.verdict != Verdict::bad;
}

} // namespace

int doctor() {
    bool can_run = print(look_for_leftovers()); // before anything of ours cleans up
    can_run &= print(look_at_user());
    can_run &= print(look_at_packages());
    can_run &= print(look_at_memory());
    can_run &=
        print(look_at_disk("the cache", cache_root(), qemu_built() ? kDiskNeededGib : kDiskNeededForBuild));
    can_run &= print(look_at_disk("runs", build_root(), kDiskNeededGib));
    can_run &= print(look_at_firmware());
    can_run &= print(look_at_libvirt());
    can_run &= print(look_at_artifacts());
    if (can_run) can_run &= print(look_at_acceleration());
    if (Lifeline::interrupted()) return failure(Lifeline::interruption().what);
    std::puts(can_run ? "\nthe lab can run here" : "\nthe lab cannot run here yet");
    return can_run ? 0 : 1;
}

} // namespace niclab::cli
