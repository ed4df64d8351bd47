// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/translation.h"

#include <algorithm>

namespace niclab::connectx {

Translation::Translation(AccessMode mode, u32 octwords) : mode_(mode), octwords_(octwords) {
    if (mode == AccessMode::mtt)
        pages_.resize(usize{octwords} * (kOctwordBytes / kMttBytes));
    else
        references_.resize(octwords);
    if (mode == AccessMode::klm) ends_.resize(octwords);
}

void Translation::write(u64 at, std::span<const u8> list) {
    if (mode_ == AccessMode::mtt) {
        usize index = at * (kOctwordBytes / kMttBytes);
        for (usize i = 0; i < list.size(); i += kMttBytes)
            pages_[index++] = load_be64(list.data() + i);
        return;
    }
    bool moved = false;
    usize index = at;
    for (usize i = 0; i < list.size(); i += KlmEntry::bytes, ++index) {
        ConstView<KlmEntry> entry(list.data() + i);
        Reference next{entry.get(KlmEntry::address), entry.get(KlmEntry::key),
                       entry.get(KlmEntry::byte_count)};
        moved |= next.bytes != references_[index].bytes;
        references_[index] = next;
    }
    if (mode_ == AccessMode::klm && moved) add_up(at);
}

// Drivers replace pieces by others of the same length, so this runs when a list is first filled.
void Translation::add_up(usize from) {
    u64 sum = from == 0 ? 0 : ends_[from - 1];
    for (usize i = from; i < references_.size(); ++i)
        ends_[i] = sum += references_[i].bytes;
}

Translation::Piece Translation::at(u64 offset, unsigned log_page) const {
    if (mode_ != AccessMode::mtt) return of_references(offset, log_page);
    u64 page = offset >> log_page, mask = (u64{1} << log_page) - 1;
    if (page >= pages_.size()) return {};
    return {(pages_[page] & ~mask) | (offset & mask), mask + 1 - (offset & mask), 0};
}

Translation::Piece Translation::of_references(u64 offset, unsigned log_page) const {
    if (mode_ == AccessMode::ksm) {
        u64 page = offset >> log_page, mask = (u64{1} << log_page) - 1;
        if (page >= references_.size()) return {};
        const Reference &to = references_[page];
        return {to.address + (offset & mask), mask + 1 - (offset & mask), to.key};
    }
    usize index = static_cast<usize>(std::upper_bound(ends_.begin(), ends_.end(), offset) - ends_.begin());
    if (index >= references_.size()) return {};
    const Reference &to = references_[index];
    u64 left = ends_[index] - offset;
    return {to.address + (to.bytes - left), left, to.key};
}

} // namespace niclab::connectx
