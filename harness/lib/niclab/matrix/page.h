// SPDX-License-Identifier: GPL-2.0-or-later
// Nights as one page that needs nothing but itself: no network, no scripts, light and dark, wide and narrow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "niclab/matrix/history.h"

namespace niclab::matrix {

/// The last of `nights` in full, the others as its history. Links to logs are relative to the page's folder.
std::string report_page(const std::vector<Night> &nights, const std::filesystem::path &page);

/// The parts of it; each a piece of HTML.
namespace parts {
std::string style();
std::string verdicts(const std::vector<Night> &nights, const std::filesystem::path &from);
std::string grid(const Night &night, const std::vector<Flake> &flakes, const std::filesystem::path &from);
std::string trend(const std::vector<Night> &nights, const std::vector<Flake> &flakes);
std::string history(const std::vector<Night> &nights, const std::filesystem::path &from);
std::string benches(const std::vector<Night> &nights);
std::string costs(const Night &night);

/// "2026-12-01 03:40 UTC".
std::string time_text(std::int64_t seconds);
/// Address of a line of a cell's log, as seen from the folder `from`.
std::string log_link(const CellRow &cell, const std::filesystem::path &from, size_t line);
} // namespace parts

} // namespace niclab::matrix
