// SPDX-License-Identifier: GPL-2.0-or-later
// Which entries of the cache nobody needs any more. Clones share the cache, so an entry that this clone's
// recipes do not name may be another's: what counts is when a recipe named it last, which is its folder's
// time.
#pragma once

#include <filesystem>
#include <vector>

namespace niclab::doctor {

struct Disposable {
    std::filesystem::path path;
    std::filesystem::path lock; ///< who makes entries of this kind holds it; empty: nobody does
    std::uintmax_t bytes = 0;
    bool half_made = false; ///< by a process that was killed
};

/// Entries that no recipe has named for a day though a newer one of their kind is there, and half-made ones
/// that nobody is making.
std::vector<Disposable> disposable_entries(const std::filesystem::path &cache);

/// Deletes it unless somebody makes one of its kind right now.
bool dispose(const Disposable &entry);

} // namespace niclab::doctor
