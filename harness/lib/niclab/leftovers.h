// SPDX-License-Identifier: GPL-2.0-or-later
// Finds and ends what a process of ours left behind. A process's state folder is named after its pid and
// start time; what it started carries that folder's path in its command line (QEMU) or environment (recipes).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace niclab {

/// Environment variable that marks child processes with the state folder of their owner.
inline constexpr char kOwnerVariable[] = "NICLAB_OWNER";

/// "<pid>-<start time>": names one process for as long as the machine runs. Empty when there is no such
/// process.
std::string process_identity(pid_t pid);

/// State folders below `state_root` whose owner is dead.
std::vector<std::filesystem::path> stale_folders(const std::filesystem::path &state_root);

/// Processes that belong to the owner of `folder`, not counting the caller.
std::vector<pid_t> processes_of(const std::filesystem::path &folder);

/// Kills those processes, waits for their end (at most 10 s) and removes the folder. True when nothing is
/// left.
bool sweep(const std::filesystem::path &folder);

} // namespace niclab
