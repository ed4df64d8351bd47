// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <thread>

#include "niclab/deadline.h"
#include "niclab/lifeline.h"

namespace niclab::cli {

/// Fails when a signal asks us to stop.
inline Status pause_for(Milliseconds limit) {
    constexpr Milliseconds kLook{100};
    for (Deadline deadline = Deadline::in(limit); !deadline.expired();) {
        if (Lifeline::interrupted()) return Lifeline::interruption();
        std::this_thread::sleep_for(std::min(kLook, std::max(deadline.left(), Milliseconds(1))));
    }
    return {};
}

} // namespace niclab::cli
