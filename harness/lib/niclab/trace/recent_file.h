// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what a card did last (connectx/recent.h), also while it goes on.
#pragma once

#include "niclab/trace/record_file.h"

namespace niclab::trace {

struct Recent {
    std::string port; ///< name of the card
    std::vector<Event> commands, queues, events;
};

/// Each list in the order in which things happened. Fails with a sentence when the file is no such file.
Result<Recent> read_recent(const std::string &path);

/// The last `most` of each list in words, a line each.
std::string words_of(const Recent &recent, size_t most);

} // namespace niclab::trace
