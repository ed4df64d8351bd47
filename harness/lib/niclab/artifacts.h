// SPDX-License-Identifier: GPL-2.0-or-later
// What a VM is made of comes out of the repository's recipes; each prints the path of its product.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "niclab/vm_spec.h"

namespace niclab {

/// A QEMU with our card in it (NICLAB_QEMU names another one).
Result<std::string> qemu_binary();
/// Folder with initramfs.cpio, vmlinuz, release and manifest.txt.
Result<std::string> guest_image(const std::string &kernel);
/// Folder with selftests.cpio: the kernel's own network driver tests and what they need, below /selftests.
Result<std::string> kernel_selftests(const std::string &kernel);
/// The plugin of counting mode for that QEMU.
Result<std::string> counting_plugin(const std::string &qemu);
/// niclab.ko for that kernel.
Result<std::string> driver_module(const std::string &kernel);

/// Fills the artifacts that `spec` leaves empty and adds the guest programs.
Status fill_artifacts(VmSpec &spec);
/// Puts our driver into the guest, as /niclab/niclab.ko.
Status add_driver(VmSpec &spec);

/// What took part in a run: this repository's commit, the host, the recipes' manifests.
nlohmann::json host_versions();

} // namespace niclab
