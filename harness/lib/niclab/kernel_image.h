// SPDX-License-Identifier: GPL-2.0-or-later
// QEMU starts an unpacked kernel directly (PVH). Under TCG a packed one spends half of the boot unpacking
// itself.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "niclab/result.h"

namespace niclab {

/// The compressed payload inside a bzImage (Documentation/arch/x86/boot.rst, payload_offset and
/// payload_length).
Result<std::string_view> bzimage_payload(std::string_view image);

/// Path of the unpacked form of `vmlinuz` in the cache, unpacked now if it is not there yet.
Result<std::filesystem::path> unpacked_kernel(const std::filesystem::path &vmlinuz);

} // namespace niclab
