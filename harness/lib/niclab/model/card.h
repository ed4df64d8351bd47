// SPDX-License-Identifier: GPL-2.0-or-later
// The sections of a description: rows out of the card's own tables.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "spec/types.h"

namespace niclab::model {

/// Rows of a section, all with the same keys.
using Document = nlohmann::ordered_json;

Document identity();
Document properties();
Document commands();
Document registers();
Document capabilities();
Document all_layouts();
Document events();
Document counters();

std::string hex(u64 value, int digits = 1);

} // namespace niclab::model
