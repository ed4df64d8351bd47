// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes that pass between driver and card, taken apart by the layouts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/types.h"

namespace niclab::model {

using Bytes = std::span<const u8>;

/// A layout and where it starts.
struct Piece {
    std::string_view layout;
    usize at = 0;
};

/// The bytes do not end before the piece does.
bool holds(Bytes bytes, const Piece &piece);

struct Value {
    std::string_view field;
    u64 value;
    std::string_view meaning; ///< name of the value, where values have names
};

/// The layouts that a command's input or output is made of, as far as its length goes. Output does not say
/// what it answers, so the opcode is told.
std::vector<Piece> command_pieces(Bytes bytes, u16 opcode, bool output);
/// The layouts that a command can be made of, beside the words that all share.
std::vector<std::string_view> layouts_of_command(u16 opcode, bool output);
/// A send WQE: its segments.
std::vector<Piece> wqe_pieces(Bytes bytes);
/// One completion: a good one and one in error have different layouts.
std::vector<Piece> cqe_pieces(Bytes bytes);
std::vector<Piece> eqe_pieces(Bytes bytes);

/// The fields of one layout that apply to these bytes. Zeros are left out unless asked for. Empty when the
/// bytes end before the layout does.
std::vector<Value> values_of(std::string_view layout, Bytes bytes, bool zeros = false);

/// "field=0x10 field=name": the fields of all pieces in one line.
std::string one_line(const std::vector<Piece> &pieces, Bytes bytes);
/// A line for each field, under a line for each piece.
std::string many_lines(const std::vector<Piece> &pieces, Bytes bytes);

} // namespace niclab::model
