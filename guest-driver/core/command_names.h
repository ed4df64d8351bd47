// SPDX-License-Identifier: GPL-2.0-or-later
// Names for error texts, as the manual prints them.
#pragma once

#include "spec/command.h"

namespace niclab::driver {

const char *opcode_name(u16 opcode);

// What a command status means: a short text and the errno it becomes.
struct StatusMeaning {
    const char *text;
    int error; // negative errno
    Status status;
};
StatusMeaning status_meaning(u8 status);

} // namespace niclab::driver
