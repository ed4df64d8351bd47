// SPDX-License-Identifier: GPL-2.0-or-later
// What dead runs leave besides their state folders.
#pragma once

#include <filesystem>
#include <vector>

#include <sys/types.h>

namespace niclab::doctor {

/// Processes that carry a state folder's path that is no more.
std::vector<pid_t> orphans(const std::filesystem::path &state);

/// Folders of the user's tests that have not changed for a day.
std::vector<std::filesystem::path> old_test_folders(const std::filesystem::path &temporary, uid_t user);

} // namespace niclab::doctor
