// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/space.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/statvfs.h>

namespace fs = std::filesystem;

namespace niclab {
namespace {

/// Less than this is full: a file system keeps a little back.
constexpr std::uintmax_t kFullBytes = 256u << 10;

} // namespace

Result<std::uintmax_t> free_bytes(const fs::path &path) {
    std::error_code unknown;
    fs::path there = fs::absolute(path, unknown);
    while (!fs::exists(there, unknown) && there.has_relative_path())
        there = there.parent_path();
    struct statvfs info {};
    if (statvfs(there.c_str(), &info) != 0)
        return Error{fmt::format("cannot ask for the space at {}: {}", there.string(), std::strerror(errno))};
    return static_cast<std::uintmax_t>(info.f_bavail) * info.f_frsize;
}

Status require_space(const fs::path &folder, std::uintmax_t needed, const char *for_what) {
    std::uintmax_t available = NICLAB_TRY(free_bytes(folder));
    if (available < needed)
        return Error{fmt::format("no space: {} has {} MiB free and {} needs {}; free some", folder.string(),
                                 available / kMib, for_what, needed / kMib)};
    return {};
}

Error with_space_looked_at(const std::string &why, std::initializer_list<fs::path> folders) {
    if (why.starts_with("no space")) return Error{why};
    for (const fs::path &folder : folders)
        if (auto available = free_bytes(folder); available.ok() && *available < kFullBytes)
            return Error{fmt::format("no space: {} is full; free some (seen as: {})", folder.string(), why)};
    return Error{why};
}

} // namespace niclab
