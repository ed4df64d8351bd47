// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/base64.h"

#include <cstdint>

namespace niclab {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::string base64_encode(std::string_view bytes) {
    std::string text;
    for (size_t at = 0; at < bytes.size(); at += 3) {
        std::string_view group = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0u);
        for (size_t i = 0; i < 4; ++i)
            text += i <= group.size() ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

std::string base64_decode(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (char c : text) {
        size_t value = kAlphabet.find(c);
        if (value == std::string_view::npos) break;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes += static_cast<char>(bits >> held & 0xff);
        }
    }
    return bytes;
}

} // namespace niclab
