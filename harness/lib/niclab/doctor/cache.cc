// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/doctor/cache.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <map>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "niclab/descriptor.h"
#include "niclab/doctor/checks.h"
#include "niclab/space.h"

namespace niclab::doctor {
namespace {

constexpr auto kUnusedAfter = std::chrono::hours(24);

bool locked(const fs::path &lock) {
    if (lock.empty()) return false;
    Descriptor file(open(lock.c_str(), O_RDWR | O_CLOEXEC));
    return file.open() && flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

/// The number behind the last dot, of a process that writes beside the final name.
pid_t writer_in(const std::string &name) {
    size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot + 1 == name.size()) return 0;
    pid_t pid = 0;
    auto [end, error] = std::from_chars(name.data() + dot + 1, name.data() + name.size(), pid);
    return error == std::errc() && end == name.data() + name.size() ? pid : 0;
}

bool gone(pid_t pid) { return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH; }

std::uintmax_t size_of(const fs::path &path) {
    std::error_code failed;
    if (!fs::is_directory(fs::symlink_status(path, failed))) return fs::file_size(path, failed);
    std::uintmax_t sum = 0;
    for (fs::recursive_directory_iterator entry(path, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code no_file;
        if (entry->symlink_status(no_file).type() == fs::file_type::regular) sum += entry->file_size(no_file);
    }
    return sum;
}

/// Where entries of one kind are, and how their makers name what is not finished.
struct Kind {
    const char *folder;
    const char *prefix;          ///< of the names that belong to it
    const char *lock;            ///< {0}: what stands before the first '-', {1}: the name
    bool by_series;              ///< "6.1-..." and "6.12-..." are needed side by side
    size_t half_made_suffix = 0; ///< letters that mktemp puts behind a dot
    const char *finished = "";   ///< a file without which a folder is half-made
};

constexpr Kind kKinds[] = {
    {"guest", "", "guest-{0}.lock", true, 6},
    {"kernel", "", "kernel-{0}.lock", true, 6},
    {"selftests", "", "selftests.lock", true, 6},
    {"qemu", "tree-", "qemu/{1}.lock", false, 0, "configured"},
    {"qemu/programs", "", "qemu/programs.lock", false},
    {"vmlinux", "", "", false},
};

bool is_half_made(const Kind &kind, const fs::path &path) {
    std::string name = path.filename();
    if (writer_in(name) > 0 && name.find('-') != std::string::npos) return gone(writer_in(name));
    size_t dot = name.rfind('.'), dash = name.find('-');
    if (kind.half_made_suffix && dot != std::string::npos && dash != std::string::npos && dot > dash)
        return name.size() - dot - 1 == kind.half_made_suffix;
    if (name.starts_with(".")) return gone(writer_in(name));
    return *kind.finished && !fs::exists(path / kind.finished);
}

struct Entry {
    fs::path path;
    fs::file_time_type used;
};

/// All but the newest, as far as they were not used for a day.
void add_unused(std::vector<Entry> &entries, const fs::path &lock, std::vector<Disposable> &found) {
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.used > b.used; });
    auto limit = fs::file_time_type::clock::now() - kUnusedAfter;
    for (size_t i = 1; i < entries.size(); ++i)
        if (entries[i].used < limit)
            found.push_back({entries[i].path, lock, size_of(entries[i].path), false});
}

fs::path lock_of(const fs::path &cache, const Kind &kind, const std::string &name) {
    if (!*kind.lock) return {};
    return cache / fmt::format(fmt::runtime(kind.lock), name.substr(0, name.find('-')), name);
}

void look_at(const fs::path &cache, const Kind &kind, std::vector<Disposable> &found) {
    std::map<fs::path, std::vector<Entry>> groups; // by lock where series differ
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(cache / kind.folder, failed)) {
        std::string name = entry.path().filename();
        if (!name.starts_with(kind.prefix) || name.ends_with(".lock")) continue;
        fs::path lock = lock_of(cache, kind, name);
        if (is_half_made(kind, entry.path())) {
            if (!locked(lock)) found.push_back({entry.path(), lock, size_of(entry.path()), true});
            continue;
        }
        std::error_code vanished;
        auto used = entry.last_write_time(vanished);
        if (!vanished && writer_in(name) == 0)
            groups[kind.by_series ? fs::path(name.substr(0, name.find('-'))) : fs::path()].push_back(
                {entry.path(), used});
    }
    for (auto &[series, entries] : groups)
        add_unused(entries, lock_of(cache, kind, entries.front().path.filename()), found);
}

} // namespace

std::vector<Disposable> disposable_entries(const fs::path &cache) {
    std::vector<Disposable> found;
    for (const Kind &kind : kKinds)
        look_at(cache, kind, found);
    return found;
}

bool dispose(const Disposable &entry) {
    Descriptor file(entry.lock.empty() ? -1 : open(entry.lock.c_str(), O_RDWR | O_CLOEXEC));
    if (file.open() && flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
    std::error_code failed;
    fs::remove_all(entry.path, failed);
    return !failed;
}

Findings check_cache(const Host &host) {
    Findings findings;
    std::vector<Disposable> all = disposable_entries(host.cache);
    for (bool half_made : {false, true}) {
        std::uintmax_t bytes = 0;
        std::string names;
        size_t count = 0;
        for (const Disposable &entry : all) {
            if (entry.half_made != half_made) continue;
            ++count;
            bytes += entry.bytes;
            names += " " + entry.path.lexically_relative(host.cache).string();
        }
        if (count)
            findings.push_back(
                {"cache", Verdict::warn,
                 fmt::format("{} entries {} take {} MiB of {}:{}", count,
                             half_made ? "that somebody left half-made" : "that no recipe named for a day",
                             bytes / kMib, host.cache.string(), names),
                 "niclab doctor --fix deletes them; rm -r does as well"});
    }
    if (findings.empty()) findings.push_back({"cache", Verdict::ok, "every entry is one in use", ""});
    return findings;
}

} // namespace niclab::doctor
