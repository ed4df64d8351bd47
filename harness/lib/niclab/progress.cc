// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/progress.h"

#include <cstdio>

namespace niclab {
namespace {

std::function<void(const std::string &)> &current_sink() {
    static std::function<void(const std::string &)> sink = [](const std::string &line) {
        std::fprintf(stderr, "%s\n", line.c_str());
    };
    return sink;
}

} // namespace

void set_progress(std::function<void(const std::string &)> sink) { current_sink() = std::move(sink); }
void progress(const std::string &line) { current_sink()(line); }

} // namespace niclab
