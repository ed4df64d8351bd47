// SPDX-License-Identifier: GPL-2.0-or-later
// What is to be read first when a kernel complained.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "niclab/complaints.h"
#include "niclab/vm_spec.h"

namespace niclab {

/// The complaints in console text, with source lines where the machine's files bring them.
std::vector<Complaint> explained_complaints(const VmSpec &spec, std::string_view console);

/// The complaints, then what each card did last (`recent` names the cards' files). Empty without a complaint.
std::string crash_report(const std::vector<Complaint> &complaints,
                         const std::vector<std::filesystem::path> &recent);

} // namespace niclab
