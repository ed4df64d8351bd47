// SPDX-License-Identifier: GPL-2.0-or-later
// What the layouts do not say of a field: the type of its values, and when it means something.
#pragma once

#include <span>
#include <string_view>

#include "niclab/model/tables.h"

namespace niclab::model {

struct TypedField {
    std::string_view layout, field, type;
};
struct ConditionalField {
    std::string_view layout, field, when;
    u64 is;
};
std::span<const TypedField> typed_fields();
std::span<const ConditionalField> conditional_fields();

/// Enumeration of the field's values; empty when it has none.
std::string_view type_of(const FieldRow &field);
/// False when other bytes of the layout say that these bits are something else.
bool applies(const FieldRow &field, std::span<const u8> bytes);
/// Opcodes, types and states are worth a word when they are 0, too.
bool says_something_at_zero(const FieldRow &field);

} // namespace niclab::model
