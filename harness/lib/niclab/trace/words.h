// SPDX-License-Identifier: GPL-2.0-or-later
// Events of a card in words.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "niclab/trace/record_file.h"

namespace niclab::trace {

/// What `--filter` can choose.
std::span<const std::string_view> kinds();
/// The one an event is of.
std::string_view kind_of(const Event &event);

/// One line without its time: names, fields and values.
std::string words_of(const Event &event);

} // namespace niclab::trace
