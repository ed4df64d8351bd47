// SPDX-License-Identifier: GPL-2.0-or-later
// niclab-reaper: outlives its owner by a moment and ends what the owner left. The owner holds the other end
// of our standard input and never passes it on, so the end of input means the owner is gone, whatever way it
// went.
#include <csignal>
#include <iostream>
#include <string>

#include "niclab/leftovers.h"

int main() {
    for (int ignored : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        std::signal(ignored, SIG_IGN);
    std::string folder;
    if (!std::getline(std::cin, folder) || folder.empty()) return 1;
    for (std::string line; std::getline(std::cin, line);) {
    }
    return niclab::sweep(folder) ? 0 : 1;
}
