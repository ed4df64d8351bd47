// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of a record as a pcapng file, with the card's WQEs and CQEs as comments on the packets.
#pragma once

#include <string>
#include <vector>

#include "niclab/trace/record_file.h"

namespace niclab::trace {

/// Every frame that left a port or came to one, in the order of `events`. Each card is an interface. Gives
/// the number of frames.
Result<size_t> write_pcapng(const std::string &path, const std::vector<RecordFile> &files,
                            const std::vector<Event> &events);

} // namespace niclab::trace
