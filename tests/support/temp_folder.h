// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace niclab::test {

// A folder that goes with its owner.
class TempFolder {
  public:
    TempFolder() {
        std::string pattern = std::filesystem::temp_directory_path() / "niclab-test-XXXXXX";
        if (!mkdtemp(pattern.data())) throw std::runtime_error("no folder can be made like " + pattern);
        path_ = pattern;
    }
    TempFolder(const TempFolder &) = delete;
    TempFolder &operator=(const TempFolder &) = delete;
    ~TempFolder() { std::filesystem::remove_all(path_); }

    const std::filesystem::path &path() const { return path_; }

  private:
    std::filesystem::path path_;
};

} // namespace niclab::test
