// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace niclab {

/// Reads the "name: number" lines of `ethtool -S`, which has no JSON in Debian 12. Other lines are skipped.
std::map<std::string, std::uint64_t> parse_ethtool_statistics(std::string_view text);

/// Reads the "name: on|off [fixed]" lines of `ethtool -k`.
std::map<std::string, bool> parse_ethtool_features(std::string_view text);

} // namespace niclab
