// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of a call trace as the kernel prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace niclab {

struct Frame {
    std::string function; ///< as the linker knows it
    std::uint64_t offset = 0, size = 0;
    std::string module;    ///< empty: the kernel itself
    bool reliable = true;  ///< false: an address that merely lay on the stack
    bool is_place = false; ///< where it happened, not where a call returns to
    std::string source;    ///< "file:line", when symbols are known (symbols.h)
};

/// The frame a line of a report names: of a trace, of "RIP:" or of "WARNING: ... at".
std::optional<Frame> frame_of(std::string_view line);

/// The function's name for people: demangled, without parameters, without what the compiler appended.
std::string plain_name(const std::string &function);

/// The frames that tell one fault from another: the innermost ones, without those that only report, wait or
/// free, each function once. At most `most`.
std::vector<std::string> telling_frames(const std::vector<Frame> &frames, size_t most);

} // namespace niclab
