// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>

#include "niclab/result.h"

namespace niclab {

std::filesystem::path source_root();
/// Output of this clone: builds and runs.
std::filesystem::path build_root();
/// Shared between clones: QEMU, kernels, images, what was learned about this machine.
std::filesystem::path cache_root();
/// Where the small static programs for the guest are.
std::filesystem::path guest_programs();
/// The program that ends what a killed process leaves (reaper_main.cc).
std::filesystem::path reaper_program();
/// Sockets and other things that live no longer than a process; short, since socket paths are limited.
Result<std::filesystem::path> state_root();

Result<std::string> read_file(const std::filesystem::path &path);
/// Replaces `path` in one step, so that a reader sees the old or the new text.
Status write_file(const std::filesystem::path &path, std::string_view text);

} // namespace niclab
