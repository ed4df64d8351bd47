// SPDX-License-Identifier: GPL-2.0-or-later
// Each check looks at one thing of the host and changes nothing.
#pragma once

#include <vector>

#include "niclab/doctor/finding.h"
#include "niclab/doctor/host.h"

namespace niclab::doctor {

using Findings = std::vector<Finding>;

Findings check_system(const Host &host); ///< distribution and architecture
Findings check_processors(const Host &host);
Findings check_memory(const Host &host);
Findings check_disk(const Host &host);
Findings check_packages(const Host &host);
Findings check_permissions(const Host &host);
Findings check_locale(const Host &host);
Findings check_leftovers(const Host &host);
Findings check_cache(const Host &host);
Findings check_libvirt(const Host &host);
Findings check_acceleration(const Host &host);

/// All of them; what starts a VM comes last, and only when nothing before it is bad.
Findings check_all(const Host &host);

} // namespace niclab::doctor
