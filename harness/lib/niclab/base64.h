// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace niclab {

std::string base64_encode(std::string_view bytes);
/// Stops at the first character that is not of the alphabet.
std::string base64_decode(std::string_view text);

} // namespace niclab
