// SPDX-License-Identifier: GPL-2.0-or-later
// Processors, memory and disks.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "niclab/doctor/checks.h"
#include "niclab/paths.h"
#include "niclab/space.h"

namespace niclab::doctor {
namespace {

// One guest of 1 GiB with its QEMU, and a compiler beside it.
constexpr double kMemoryNeededGib = 2;
constexpr unsigned kProcessorsWanted = 2; // emulated guests have two CPUs that should run at once
constexpr double kLoadPerProcessor = 2;

/// "MemAvailable:" of /proc/meminfo, in GiB; negative when it is not there.
double meminfo_gib(const Host &host, std::string_view name) {
    auto text = read_file(host.at("/proc/meminfo"));
    size_t at = text.ok() ? text->find(name) : std::string::npos;
    if (at == std::string::npos) return -1;
    return std::strtod(text->c_str() + at + name.size(), nullptr) / (1 << 20);
}

unsigned processors(const Host &host) {
    auto text = read_file(host.at("/proc/cpuinfo"));
    std::istringstream lines(text.ok() ? *text : "");
    unsigned count = 0;
    for (std::string line; std::getline(lines, line);)
        count += line.starts_with("processor");
    return count;
}

std::string amount(std::uintmax_t bytes) {
    if (bytes < kGib) return fmt::format("{} MiB", bytes / kMib);
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(kGib));
}

struct Place {
    const char *what;
    fs::path folder;
    std::uintmax_t needed;
    const char *remedy;
};

bool built(const Host &host) {
    std::error_code failed;
    fs::directory_iterator programs(host.cache / "qemu/programs", failed);
    return !failed && programs != fs::directory_iterator();
}

Finding look_at(const Host &host, const Place &place) {
    auto available = host.free_bytes(place.folder);
    if (!available.ok()) return {"disk", Verdict::bad, available.why(), "make that folder readable"};
    std::string text = fmt::format("{} ({}) has {} free and needs {}", place.what, place.folder.string(),
                                   amount(*available), amount(place.needed));
    if (*available < place.needed) return {"disk", Verdict::bad, text, place.remedy};
    return {"disk", Verdict::ok, text, ""};
}

} // namespace

Findings check_processors(const Host &host) {
    unsigned count = std::max(1u, processors(host));
    auto text = read_file(host.at("/proc/loadavg"));
    double load = text.ok() ? std::strtod(text->c_str(), nullptr) : 0;
    std::string says = fmt::format("{} CPUs with a load of {:.1f}", count, load);
    if (load > kLoadPerProcessor * count)
        return {{"processors", Verdict::warn,
                 says + "; emulated guests lose timer interrupts on a host as busy as that",
                 "wait until other work has ended"}};
    if (count < kProcessorsWanted)
        return {{"processors", Verdict::warn, says + "; the two CPUs of a guest take turns on it",
                 "give this machine a second CPU"}};
    return {{"processors", Verdict::ok, says, ""}};
}

Findings check_memory(const Host &host) {
    double available = meminfo_gib(host, "MemAvailable:"), total = meminfo_gib(host, "MemTotal:");
    if (available < 0) return {{"memory", Verdict::warn, "/proc/meminfo does not say what is free", ""}};
    std::string text = fmt::format("{:.1f} of {:.1f} GiB are available", available, total);
    if (available < kMemoryNeededGib)
        return {{"memory", Verdict::bad, text,
                 fmt::format("end something: a VM and a build need {} GiB", kMemoryNeededGib)}};
    return {{"memory", Verdict::ok, text, ""}};
}

Findings check_disk(const Host &host) {
    std::vector<Place> places = {
        {"the cache", host.cache, built(host) ? 2 * kGib : kBuildBytes,
         "free some, delete old entries with `niclab doctor --fix`, or set NICLAB_CACHE to another disk"},
        {"the folder of runs", host.runs, kRunBytes, "free some, or delete old runs there"},
        {"the temporary folder", host.temporary, kRunBytes, "free some, or set TMPDIR to another disk"},
    };
    if (host.state.ok())
        places.push_back(
            {"the folder of sockets", *host.state, kStateBytes, "free some memory: it is a tmpfs"});
    Findings findings;
    for (const Place &place : places)
        findings.push_back(look_at(host, place));
    return findings;
}

} // namespace niclab::doctor
