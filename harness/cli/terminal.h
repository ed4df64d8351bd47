// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "niclab/result.h"

namespace niclab::cli {

/// Joins our terminal to the guest's serial line until Ctrl-] is typed, the machine ends or a signal comes.
Status attach_terminal(const std::string &pty);

} // namespace niclab::cli
