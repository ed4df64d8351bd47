// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/doctor/fix.h"

#include <csignal>

#include <fmt/format.h>

#include "niclab/doctor/cache.h"
#include "niclab/doctor/remains.h"
#include "niclab/leftovers.h"
#include "niclab/space.h"

namespace niclab::doctor {
namespace {

using Done = std::vector<std::string>;

void make_folders(const Host &host, Done &done) {
    for (const fs::path &folder : {host.cache, host.runs}) {
        std::error_code failed;
        if (fs::create_directories(folder, failed)) done.push_back("made " + folder.string());
        if (failed) done.push_back(fmt::format("cannot make {}: {}", folder.string(), failed.message()));
    }
}

void end_leftovers(const Host &host, Done &done) {
    if (!host.state.ok()) return;
    for (const fs::path &folder : stale_folders(*host.state)) {
        size_t count = processes_of(folder).size();
        bool swept = sweep(folder);
        done.push_back(fmt::format("{} {} processes of a dead run and its folder {}",
                                   swept ? "removed" : "cannot remove", count, folder.string()));
    }
    for (pid_t pid : orphans(*host.state))
        done.push_back(fmt::format("{} process {} of a run that is no more",
                                   kill(pid, SIGKILL) == 0 ? "ended" : "cannot end", pid));
    for (const fs::path &folder : old_test_folders(host.temporary, host.user)) {
        std::error_code failed;
        fs::remove_all(folder, failed);
        done.push_back(fmt::format("{} {}", failed ? "cannot delete" : "deleted", folder.string()));
    }
}

void clean_cache(const Host &host, Done &done) {
    for (const Disposable &entry : disposable_entries(host.cache)) {
        bool gone = dispose(entry);
        done.push_back(fmt::format("{} {} ({} MiB)",
                                   gone ? "deleted" : "left alone, for it is in use or not ours:",
                                   entry.path.string(), entry.bytes / kMib));
    }
}

} // namespace

std::vector<std::string> fix(const Host &host) {
    Done done;
    make_folders(host, done);
    end_leftovers(host, done);
    clean_cache(host, done);
    return done;
}

} // namespace niclab::doctor
