// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes as people write them down, and what they may be called.
#pragma once

#include <string>
#include <vector>

#include "niclab/model/decode.h"
#include "niclab/result.h"

namespace niclab::model {

/// "command", "wqe", "cqe", "eqe", or the name of a layout.
Result<std::vector<Piece>> pieces_of(const std::string &what, Bytes bytes);

/// Digits with or without blanks, colons, 0x, and the offsets of `xxd` and kernel dumps in front of a line.
Result<std::vector<u8>> parse_hex(const std::string &text);

} // namespace niclab::model
