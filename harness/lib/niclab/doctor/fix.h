// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "niclab/doctor/host.h"

namespace niclab::doctor {

/// Does what no one can miss: folders that are not there, leftovers of dead runs, cache entries that nobody
/// needs. Gives a sentence for each thing done, or not done and why.
std::vector<std::string> fix(const Host &host);

} // namespace niclab::doctor
