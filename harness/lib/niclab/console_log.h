// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace niclab {

/// The growing file that QEMU writes the guest's serial line to.
class ConsoleLog {
  public:
    explicit ConsoleLog(std::filesystem::path path) : path_(std::move(path)) {}

    std::size_t size() const;
    std::string text(std::size_t from = 0) const;
    std::string last_line() const;
    /// The line of a kernel panic. Each call looks at what came since the one before.
    std::optional<std::string> find_panic();

  private:
    std::filesystem::path path_;
    std::size_t searched_ = 0;
    std::optional<std::string> panic_;
};

} // namespace niclab
