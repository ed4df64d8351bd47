// SPDX-License-Identifier: GPL-2.0-or-later
// What this user may do, and in which language.
#include <clocale>
#include <sstream>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "niclab/doctor/checks.h"
#include "niclab/paths.h"

namespace niclab::doctor {
namespace {

fs::path nearest_that_exists(fs::path path) {
    std::error_code unknown;
    while (!fs::exists(path, unknown) && path.has_relative_path())
        path = path.parent_path();
    return path;
}

Finding check_writable(const char *what, const fs::path &folder, const char *remedy) {
    fs::path there = nearest_that_exists(folder);
    if (access(there.c_str(), W_OK | X_OK) == 0)
        return {"permissions", Verdict::ok, fmt::format("{} ({}) can be written", what, folder.string()), ""};
    return {"permissions", Verdict::bad,
            fmt::format("{} ({}) cannot be written by user {}", what, folder.string(), geteuid()), remedy};
}

/// A command that was once run as root leaves entries that this user can neither replace nor delete.
Findings check_owners(const Host &host) {
    std::error_code failed;
    for (fs::recursive_directory_iterator
             entry(host.cache, fs::directory_options::skip_permission_denied, failed),
         end;
         !failed && entry != end; entry.increment(failed)) {
        if (entry.depth() >= 1) entry.disable_recursion_pending();
        struct stat info {};
        if (lstat(entry->path().c_str(), &info) != 0 || info.st_uid == host.user) continue;
        return {{"permissions", Verdict::bad,
                 fmt::format("{} belongs to user {}", entry->path().string(), info.st_uid),
                 fmt::format("as root: chown -R {} {}", host.user, host.cache.string())}};
    }
    return {};
}

Finding check_home(const Host &host) {
    struct stat info {};
    if (stat(host.home.c_str(), &info) != 0)
        return {"permissions", Verdict::warn,
                fmt::format("the home folder {} is not there", host.home.string()),
                "set HOME, or NICLAB_CACHE to a folder that is"};
    if ((info.st_mode & 0077) == 0)
        return {"permissions", Verdict::ok,
                fmt::format("the home folder {} is closed to others, which is fine: QEMU runs as you",
                            host.home.string()),
                ""};
    return {"permissions", Verdict::ok, fmt::format("the home folder {} is there", host.home.string()), ""};
}

/// Before it reads that QEMU is to run as root, libvirt looks its standard user up.
Findings check_libvirt_user(const Host &host) {
    auto users = read_file(host.at("/etc/passwd"));
    std::istringstream lines(users.ok() ? *users : "");
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("libvirt-qemu:")) return {};
    return {{"permissions", Verdict::bad, "there is no user libvirt-qemu, and libvirt does not start without",
             "apt-get install --reinstall libvirt-daemon-system"}};
}

} // namespace

Findings check_permissions(const Host &host) {
    Findings findings;
    if (!host.is_root())
        findings.push_back({"permissions", Verdict::ok,
                            "not root: VMs run, but only root can install packages that are missing", ""});
    findings.push_back(check_writable("the cache", host.cache, "set NICLAB_CACHE to a folder of yours"));
    findings.push_back(check_writable("the folder of runs", host.runs, "work in a clone of your own"));
    if (!host.state.ok())
        findings.push_back(
            {"permissions", Verdict::bad, host.state.why(), "see to that folder, or set XDG_RUNTIME_DIR"});
    findings.push_back(check_home(host));
    for (const Findings &more : {check_owners(host), host.is_root() ? check_libvirt_user(host) : Findings()})
        findings.insert(findings.end(), more.begin(), more.end());
    return findings;
}

Findings check_locale(const Host &host) {
    if (host.locale.empty()) return {{"locale", Verdict::ok, "none is set, C is used", ""}};
    locale_t found = newlocale(LC_ALL_MASK, host.locale.c_str(), nullptr);
    if (!found)
        return {{"locale", Verdict::warn,
                 fmt::format("{} is not installed here; programs complain, and the lab itself uses C.UTF-8",
                             host.locale),
                 "unset LANG and LC_ALL, or install that locale"}};
    freelocale(found);
    return {{"locale", Verdict::ok, fmt::format("{}; the lab itself uses C.UTF-8", host.locale), ""}};
}

} // namespace niclab::doctor
