// SPDX-License-Identifier: GPL-2.0-or-later
// The VM that an order goes to.
#pragma once

#include <vector>

#include "niclab/control.h"

namespace niclab::cli {

/// The one that process `pid` keeps, or the only one when it is 0.
Result<LiveVm> choose_vm(int pid);

/// Sends an order and gives what is said.
Result<std::vector<std::string>> ask(const LiveVm &vm, const nlohmann::json &order);

} // namespace niclab::cli
