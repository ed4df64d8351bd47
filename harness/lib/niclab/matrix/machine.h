// SPDX-License-Identifier: GPL-2.0-or-later
// The words for a machine's vIOMMU, as the matrix's file has them and as the suites take them out of their
// environment.
#pragma once

#include <span>
#include <string>

#include "niclab/vm_spec.h"

namespace niclab::matrix {

inline constexpr const char *kIommuVariable = "NICLAB_IOMMU";
inline constexpr const char *kIommuModeVariable = "NICLAB_IOMMU_MODE";

inline constexpr const char *kNoIommu = "none";

std::span<const std::string> iommu_words();
std::span<const std::string> iommu_mode_words();

/// Gives the machine that vIOMMU in that mode; without a vIOMMU there is no mode.
Status set_iommu(VmSpec &spec, const std::string &iommu, const std::string &mode);

/// The same with the words of the environment; what it does not name stays as it is.
Status set_iommu_from_environment(VmSpec &spec);

} // namespace niclab::matrix
