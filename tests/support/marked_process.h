// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>

#include <unistd.h>

#include "niclab/leftovers.h"
#include "niclab/paths.h"

namespace niclab::test {

/// A child that sleeps, with the mark of `folder` in its environment.
inline pid_t start_marked(const std::filesystem::path &folder) {
    pid_t pid = fork();
    if (pid == 0) {
        std::string mark = std::string(kOwnerVariable) + "=" + folder.string();
        char *const environment[] = {mark.data(), nullptr};
        execle("/bin/sleep", "sleep", "100", nullptr, environment);
        _exit(127);
    }
    // The mark is there once the program has been replaced.
    while (read_file("/proc/" + std::to_string(pid) + "/cmdline").take().substr(0, 5) != "sleep")
        usleep(1000);
    return pid;
}

} // namespace niclab::test
