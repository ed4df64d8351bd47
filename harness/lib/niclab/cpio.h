// SPDX-License-Identifier: GPL-2.0-or-later
// The "newc" archive that the Linux kernel unpacks into its first file system
// (Documentation/driver-api/early-userspace).
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace niclab {

class CpioWriter {
  public:
    /// Adds a file, and the folders above it that were not added yet. `path` may start with '/'.
    void add_file(std::string_view path, unsigned mode, std::string_view content);
    /// Ends the archive and gives its bytes, padded to 512.
    std::string finish();

  private:
    void add_folders_above(std::string_view path);
    void add_entry(std::string_view path, unsigned mode, std::string_view content);
    void pad_to(size_t alignment);

    std::string bytes_;
    std::set<std::string, std::less<>> folders_;
    unsigned inode_ = 0;
};

} // namespace niclab
