// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/ethtool.h"

#include <charconv>

namespace niclab {
namespace {

std::string_view trim(std::string_view text) {
    size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Calls `take(name, value)` for each "name: value" line.
template <class Take>
void for_each_pair(std::string_view text, Take take) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        // Names may hold colons ("rx: bytes"); the value never does.
        if (size_t colon = line.rfind(':'); colon != std::string_view::npos)
            take(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
    }
}

} // namespace

std::map<std::string, std::uint64_t> parse_ethtool_statistics(std::string_view text) {
    std::map<std::string, std::uint64_t> result;
    for_each_pair(text, [&](std::string_view name, std::string_view value) {
        std::uint64_t number = 0;
        auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error == std::errc() && end == value.data() + value.size()) result.emplace(name, number);
    });
    return result;
}

std::map<std::string, bool> parse_ethtool_features(std::string_view text) {
    std::map<std::string, bool> result;
    for_each_pair(text, [&](std::string_view name, std::string_view value) {
        std::string_view word = value.substr(0, value.find(' '));
        if (word == "on" || word == "off") result.emplace(name, word == "on");
    });
    return result;
}

} // namespace niclab
