// SPDX-License-Identifier: GPL-2.0-or-later
// What the card models, out of the tables that it works by.
#pragma once

#include <string>
#include <vector>

#include "niclab/model/card.h"
#include "niclab/result.h"

namespace niclab::model {

/// Names of what can be asked for, each with a line that says what it is.
std::vector<std::pair<std::string, std::string>> topics();

/// Sections by name. `words`: nothing for all topics, or a topic, or "layout NAME", "command NAME", "syndrome
/// NUMBER".
Result<Document> describe(const std::vector<std::string> &words);

/// Tables with headings.
std::string as_text(const Document &document);
/// The same for pages of documentation.
std::string as_markdown(const Document &document);

/// docs/connectx-reference.md: the topics that a user of the card looks up.
Result<std::string> reference_page();

} // namespace niclab::model
