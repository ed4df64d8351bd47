// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/console_log.h"

#include <fstream>
#include <iterator>
#include <string_view>

namespace niclab {

std::size_t ConsoleLog::size() const {
    std::error_code failed;
    auto size = std::filesystem::file_size(path_, failed);
    return failed ? 0 : static_cast<std::size_t>(size);
}

std::string ConsoleLog::text(std::size_t from) const {
    std::ifstream in(path_, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(from));
    return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string ConsoleLog::last_line() const {
    constexpr std::size_t kEnough = 4096;
    std::size_t length = size();
    std::string tail = text(length > kEnough ? length - kEnough : 0);
    std::size_t end = tail.find_last_not_of("\r\n ");
    if (end == std::string::npos) return {};
    std::size_t begin = tail.find_last_of('\n', end);
    begin = begin == std::string::npos ? 0 : begin + 1;
    return tail.substr(begin, end - begin + 1);
}

std::optional<std::string> ConsoleLog::find_panic() {
    constexpr std::string_view kPanic = "Kernel panic - not syncing";
    if (panic_ || size() == searched_) return panic_;
    std::string fresh = text(searched_);
    if (std::size_t at = fresh.find(kPanic); at != std::string::npos)
        panic_ = fresh.substr(at, fresh.find_first_of("\r\n", at) - at);
    // The words may be cut in two by the end of what is there now: look at the last unfinished line again.
    std::size_t newline = fresh.find_last_of('\n');
    searched_ += newline == std::string::npos ? 0 : newline + 1;
    return panic_;
}

} // namespace niclab
