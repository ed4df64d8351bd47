// SPDX-License-Identifier: GPL-2.0-or-later
// Has the cards of a machine record what they do.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "niclab/vm.h"

namespace niclab {

/// Every ConnectX card of the machine records from now on, each to a file of its own in the run's folder.
/// Gives the files.
Result<std::vector<std::filesystem::path>> start_recording(Vm &vm);
Status stop_recording(Vm &vm);

} // namespace niclab
