// SPDX-License-Identifier: GPL-2.0-or-later
// Stream sockets that are files of the state folder.
#pragma once

#include <string>

#include "niclab/descriptor.h"
#include "niclab/result.h"

namespace niclab {

Result<Descriptor> listen_at(const std::string &path, int backlog);
Result<Descriptor> connect_to(const std::string &path);
/// The next connection. None, without an error, when `listener` was shut down.
Descriptor accept_from(const Descriptor &listener);
/// A peer that says nothing for so long ends the read.
void limit_silence(const Descriptor &connection, int seconds);

/// "WHAT: " and what errno means.
Error system_error(const std::string &what);

} // namespace niclab
