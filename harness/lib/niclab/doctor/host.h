// SPDX-License-Identifier: GPL-2.0-or-later
// What `niclab doctor` looks at, as a value: a test gives folders of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "niclab/accel.h"
#include "niclab/result.h"

namespace niclab::doctor {

namespace fs = std::filesystem;

struct Host {
    fs::path root = "/"; ///< of /proc, /etc, /dev, /usr and dpkg's list
    fs::path source, cache, runs, temporary;
    Result<fs::path> state = Error{"not asked for"};
    uid_t user = 0;
    fs::path home;
    std::string locale; ///< what the environment asks for; empty: nothing
    /// Boots a probe guest unless the answer is known; fails when there is no QEMU yet.
    std::function<Result<AccelVerdict>()> acceleration;
    /// Starts libvirt's embedded driver and gives its version.
    std::function<Result<std::string>()> libvirt;
    std::function<Result<std::uintmax_t>(const fs::path &)> free_bytes;

    fs::path at(const std::string &absolute) const { return root / absolute.substr(1); }
    bool is_root() const { return user == 0; }
};

Host this_host();

} // namespace niclab::doctor
