// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>

#include "niclab/vm_spec.h"

namespace niclab {

/// Writes the guest's image with the spec's archives and extra files behind it: the kernel unpacks one
/// archive after the other.
Status write_initramfs(const VmSpec &spec, const std::filesystem::path &to);

} // namespace niclab
