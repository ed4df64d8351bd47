// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/model/tables.h"

#include <algorithm>

#include "spec/caps.h"
#include "spec/clock_registers.h"
#include "spec/command.h"
#include "spec/hca.h"
#include "spec/init_segment.h"
#include "spec/management_registers.h"
#include "spec/objects.h"
#include "spec/queues.h"
#include "spec/registers.h"
#include "spec/steering.h"
#include "spec/tunnel.h"
#include "spec/wqe.h"

namespace niclab::model {
namespace {

template <class Layout>
constexpr FieldRow row(std::string_view layout, std::string_view name, Field<Layout> f,
                       std::string_view says) {
    return {layout, name, f.dword, f.hi, f.lo, says};
}
template <class Layout>
constexpr FieldRow row(std::string_view layout, std::string_view name, Field64<Layout> f,
                       std::string_view says) {
    return {layout, name, f.dword, 63, 0, says};
}

#define NICLAB_LAYOUT(layout, says)
#define NICLAB_FIELD(layout, name, says)
#define NICLAB_PLACE(layout, name, says)
#define NICLAB_ENUMERATOR(type, name)

constexpr LayoutRow kLayouts[] = {
#undef NICLAB_LAYOUT
#define NICLAB_LAYOUT(layout, says) {#layout, layout::bytes, says},
#include "model/layouts.inc"
#undef NICLAB_LAYOUT
#define NICLAB_LAYOUT(layout, says)
};

constexpr FieldRow kFields[] = {
#undef NICLAB_FIELD
#define NICLAB_FIELD(layout, name, says) row(#layout, #name, layout::name, says),
#include "model/layouts.inc"
#undef NICLAB_FIELD
#define NICLAB_FIELD(layout, name, says)
};

constexpr PlaceRow kPlaces[] = {
#undef NICLAB_PLACE
#define NICLAB_PLACE(layout, name, says) {#layout, #name, layout::name, says},
#include "model/layouts.inc"
#undef NICLAB_PLACE
#define NICLAB_PLACE(layout, name, says)
};

constexpr EnumRow kEnumerators[] = {
#undef NICLAB_ENUMERATOR
#define NICLAB_ENUMERATOR(type, name) {#type, #name, static_cast<u32>(type::name)},
#include "model/layouts.inc"
};

constexpr SyndromeRow kSyndromes[] = {
#define NICLAB_SYNDROME(number, cause, subject, statuses) {number, cause, subject, statuses},
#include "model/syndromes.inc"
};

u32 word(std::span<const u8> bytes, usize at) { return load_be32(bytes.data() + at); }

} // namespace

u64 FieldRow::get(std::span<const u8> bytes) const {
    if (hi == 63) return u64{word(bytes, at)} << 32 | word(bytes, at + 4u);
    return word(bytes, at) >> lo & (hi - lo == 31 ? ~0u : (1u << (hi - lo + 1)) - 1);
}

std::span<const LayoutRow> layouts() { return kLayouts; }
std::span<const FieldRow> fields() { return kFields; }
std::span<const PlaceRow> places() { return kPlaces; }
std::span<const EnumRow> enumerators() { return kEnumerators; }
std::span<const SyndromeRow> syndromes() { return kSyndromes; }

const LayoutRow *find_layout(std::string_view name) {
    auto found = std::find_if(std::begin(kLayouts), std::end(kLayouts),
                              [&](const LayoutRow &layout) { return layout.name == name; });
    return found == std::end(kLayouts) ? nullptr : found;
}

std::string_view name_of(std::string_view type, u64 value) {
    for (const EnumRow &each : kEnumerators)
        if (each.type == type && each.value == value) return each.name;
    return {};
}

} // namespace niclab::model
