// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include <fmt/format.h>

#include "niclab/doctor/checks.h"
#include "niclab/doctor/remains.h"
#include "niclab/leftovers.h"

#include <sys/stat.h>

namespace niclab::doctor {
namespace {

constexpr auto kTestFolderAge = std::chrono::hours(24);

} // namespace

std::vector<pid_t> orphans(const fs::path &state) {
    std::vector<pid_t> all = processes_of(state), owned;
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(state, failed)) {
        std::vector<pid_t> some = processes_of(entry.path());
        owned.insert(owned.end(), some.begin(), some.end());
    }
    std::erase_if(all, [&](pid_t pid) { return std::find(owned.begin(), owned.end(), pid) != owned.end(); });
    return all;
}

std::vector<fs::path> old_test_folders(const fs::path &temporary, uid_t user) {
    std::vector<fs::path> found;
    std::error_code failed;
    auto limit = fs::file_time_type::clock::now() - kTestFolderAge;
    for (const auto &entry : fs::directory_iterator(temporary, failed)) {
        struct stat info {};
        if (!entry.path().filename().string().starts_with("niclab-test-") ||
            lstat(entry.path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != user)
            continue;
        std::error_code vanished;
        if (entry.last_write_time(vanished) < limit && !vanished) found.push_back(entry.path());
    }
    return found;
}

Findings check_leftovers(const Host &host) {
    if (!host.state.ok()) return {}; // the permissions say why
    const char *remedy = "niclab doctor --fix";
    Findings findings;
    size_t processes = 0;
    std::vector<fs::path> stale = stale_folders(*host.state);
    for (const fs::path &folder : stale)
        processes += processes_of(folder).size();
    if (!stale.empty())
        findings.push_back({"leftovers", Verdict::warn,
                            fmt::format("{} runs died and left {} processes and their sockets in {}",
                                        stale.size(), processes, host.state->string()),
                            remedy});
    if (size_t count = orphans(*host.state).size())
        findings.push_back({"leftovers", Verdict::warn,
                            fmt::format("{} processes of runs whose folder is gone still run", count),
                            remedy});
    if (auto folders = old_test_folders(host.temporary, host.user); !folders.empty())
        findings.push_back({"leftovers", Verdict::warn,
                            fmt::format("{} folders of tests that were killed lie in {}", folders.size(),
                                        host.temporary.string()),
                            remedy});
    if (findings.empty()) findings.push_back({"leftovers", Verdict::ok, "none of runs that died", ""});
    return findings;
}

} // namespace niclab::doctor
