// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/doctor/host.h"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "niclab/libvirt_session.h"
#include "niclab/paths.h"
#include "niclab/space.h"

namespace niclab::doctor {
namespace {

/// setlocale(3): the first of these that is set.
std::string wanted_locale() {
    for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"})
        if (const char *value = std::getenv(name); value && *value) return value;
    return {};
}

/// A probe must not begin with the minutes of a build, and what KVM does is the same for each of our
/// programs.
Result<AccelVerdict> acceleration() {
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(cache_root() / "qemu/programs", failed)) {
        fs::path program = entry.path() / "qemu-system-x86_64";
        if (fs::exists(program)) return probe_accel(program);
    }
    return Error{"QEMU is not built yet, so it is found out at the first boot"};
}

Result<std::string> libvirt_version() {
    auto session = NICLAB_TRY(LibvirtSession::get());
    unsigned long version = 0;
    virConnectGetLibVersion(session->connection(), &version);
    return fmt::format("{}.{}.{}", version / 1000000, version / 1000 % 1000, version % 1000);
}

} // namespace

Host this_host() {
    Host host;
    host.source = source_root();
    host.cache = cache_root();
    host.runs = build_root() / "runs";
    host.temporary = fs::temp_directory_path();
    host.state = state_root();
    host.user = geteuid();
    const char *home = std::getenv("HOME");
    host.home = home && *home ? home : "/";
    host.locale = wanted_locale();
    host.acceleration = acceleration;
    host.libvirt = libvirt_version;
    host.free_bytes = free_bytes;
    return host;
}

} // namespace niclab::doctor
