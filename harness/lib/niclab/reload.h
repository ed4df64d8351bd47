// SPDX-License-Identifier: GPL-2.0-or-later
// A new build of our driver in a VM that keeps running.
#pragma once

#include <string>

#include "niclab/control.h"
#include "niclab/guest.h"

namespace niclab {

/// Puts the module into the guest, binds both cards to it with `parameters` (e.g. "rx_map=fragment"), checks
/// the link and traffic both ways, and says what the kernel printed meanwhile. A kernel complaint is a
/// failure.
Status reload_driver(Guest &guest, const std::string &module, const std::string &parameters, const Say &say);

} // namespace niclab
