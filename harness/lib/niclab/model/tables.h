// SPDX-License-Identifier: GPL-2.0-or-later
// The card's tables with names: what `niclab describe` prints and `niclab trace` decodes by. The rows are
// taken from the sources while building (harness/model/tables.awk); each value is the source's own constant.
#pragma once

#include <span>
#include <string_view>

#include "spec/types.h"

namespace niclab::model {

struct LayoutRow {
    std::string_view name;
    u16 bytes;
    std::string_view says;
};
struct FieldRow {
    std::string_view layout, name;
    u16 at;    ///< byte offset of the word, or of the first of two
    u8 hi, lo; ///< bits of the word; 63 and 0 of two words
    std::string_view says;

    u64 get(std::span<const u8> bytes) const; ///< of a layout that is there as a whole
};
/// A place inside a layout where bytes, a list or another layout start.
struct PlaceRow {
    std::string_view layout, name;
    u16 at;
    std::string_view says;
};
struct EnumRow {
    std::string_view type, name;
    u32 value;
};
struct SyndromeRow {
    u32 number;
    std::string_view cause;    ///< in words
    std::string_view subject;  ///< the source file that refuses
    std::string_view statuses; ///< that it goes with, when the source says it in one place
};

std::span<const LayoutRow> layouts();
std::span<const FieldRow> fields();
std::span<const PlaceRow> places();
std::span<const EnumRow> enumerators();
std::span<const SyndromeRow> syndromes();

/// Null when there is none of that name.
const LayoutRow *find_layout(std::string_view name);
/// Empty when the type has no such value.
std::string_view name_of(std::string_view type, u64 value);

} // namespace niclab::model
