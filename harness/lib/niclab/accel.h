// SPDX-License-Identifier: GPL-2.0-or-later
// Whether KVM works is found out by booting a guest with it: /dev/kvm opens on machines where no guest gets
// further than its firmware.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "niclab/vm_spec.h"

namespace niclab {

struct AccelVerdict {
    Accel accel = Accel::tcg;
    std::string reason;
};

/// What an earlier probe on this host, kernel and QEMU found.
std::optional<AccelVerdict> known_accel(const std::string &qemu);
/// The cached verdict, or a probe's.
AccelVerdict probe_accel(const std::string &qemu);
Accel choose_accel(const std::string &qemu);

/// CPU model, running kernel and QEMU version, as the cache's key.
std::string accel_key(const std::string &qemu);

} // namespace niclab
