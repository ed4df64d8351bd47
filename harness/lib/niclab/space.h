// SPDX-License-Identifier: GPL-2.0-or-later
// Room on disks. What fails for the lack of it must say so: a log that cannot grow looks like a guest that
// says nothing.
#pragma once

#include <cstdint>
#include <filesystem>

#include "niclab/result.h"

namespace niclab {

inline constexpr std::uintmax_t kMib = 1u << 20, kGib = 1u << 30;
/// The guest's image and the logs of one run.
inline constexpr std::uintmax_t kRunBytes = 256 * kMib;
/// Sockets and small files of a process.
inline constexpr std::uintmax_t kStateBytes = 8 * kMib;
/// A tree of QEMU, kernels and images that are made at the same time.
inline constexpr std::uintmax_t kBuildBytes = 10 * kGib;

/// What an ordinary user can still write where `path` is, or where it would be made.
Result<std::uintmax_t> free_bytes(const std::filesystem::path &path);

/// An error that begins with "no space" and names the folder, when less than `needed` is free there.
Status require_space(const std::filesystem::path &folder, std::uintmax_t needed, const char *for_what);

/// `why`, or the lack of space at one of the folders where that is what stands behind it.
Error with_space_looked_at(const std::string &why, std::initializer_list<std::filesystem::path> folders);

} // namespace niclab
