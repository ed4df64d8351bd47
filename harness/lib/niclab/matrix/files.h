// SPDX-License-Identifier: GPL-2.0-or-later
// A cell's result as files for other programs and for people: JSON, JUnit, KTAP, and logs as pages whose
// lines can be linked to.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "niclab/matrix/result.h"

namespace niclab::matrix {

nlohmann::json as_json(const std::string &cell, const CellResult &result);
std::string as_junit(const std::string &cell, const CellResult &result);
std::string as_ktap(const std::string &cell, const CellResult &result);

/// The text with what HTML and XML give a meaning taken as characters; what is no text becomes a mark.
std::string escaped(std::string_view text);

/// result.json, junit.xml, result.ktap.
Status write_results(const std::filesystem::path &folder, const std::string &cell, const CellResult &result);

/// A page beside each log of the folder and of the runs below it: NAME.txt or NAME.log becomes NAME.html,
/// line n has the anchor "Ln".
Status write_log_pages(const std::filesystem::path &folder, const std::string &cell);

} // namespace niclab::matrix
