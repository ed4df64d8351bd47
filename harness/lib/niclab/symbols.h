// SPDX-License-Identifier: GPL-2.0-or-later
// Source lines of call traces, out of the debugging information of a kernel and of modules.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "niclab/complaints.h"
#include "niclab/vm_spec.h"

namespace niclab {

/// One program or module file; opened when first asked.
class DebugFile {
  public:
    explicit DebugFile(std::filesystem::path path);
    DebugFile(DebugFile &&) noexcept;
    ~DebugFile();
    /// "file:line" of a frame, or nothing when the file does not know it.
    std::string source_of(const Frame &frame);

  private:
    struct Impl;
    std::filesystem::path path_;
    std::unique_ptr<Impl> impl_;
};

class Symbols {
  public:
    /// The file that module `name` was loaded from; "" is the kernel. A later file replaces an earlier one.
    void add(const std::string &module, const std::filesystem::path &file);
    /// Fills Frame::source where a file knows it.
    void explain(std::vector<Complaint> &complaints);

  private:
    std::map<std::string, DebugFile> files_;
};

/// Files with debugging information for the kernel ("") and the modules of a machine, as far as there are
/// any.
std::map<std::string, std::filesystem::path> debug_files(const VmSpec &spec);

/// The name the kernel gives the module in `file`: "niclab-test.ko" is niclab_test.
std::string module_name(const std::filesystem::path &file);

} // namespace niclab
