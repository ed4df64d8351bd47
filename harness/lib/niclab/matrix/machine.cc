// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/machine.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

namespace niclab::matrix {
namespace {

const std::array<std::string, 2> kIommus = {"intel", kNoIommu};

struct Mode {
    IommuMode mode;
    bool caching;
};
const std::array<std::string, 4> kModes = {"strict", "lazy", "pt", "caching"};
constexpr std::array<Mode, 4> kMeanings = {{{IommuMode::strict, false},
                                            {IommuMode::lazy, false},
                                            {IommuMode::passthrough, false},
                                            {IommuMode::strict, true}}};

std::string variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

Error unknown(const char *what, const std::string &word, std::span<const std::string> words) {
    return Error{fmt::format("there is no {} '{}'; choose one of {}", what, word, fmt::join(words, ", "))};
}

} // namespace

std::span<const std::string> iommu_words() { return kIommus; }
std::span<const std::string> iommu_mode_words() { return kModes; }

Status set_iommu(VmSpec &spec, const std::string &iommu, const std::string &mode) {
    if (std::find(kIommus.begin(), kIommus.end(), iommu) == kIommus.end())
        return unknown("vIOMMU", iommu, kIommus);
    spec.iommu = iommu != kNoIommu;
    if (!spec.iommu && !mode.empty())
        return Error{fmt::format("{} is a mode of a vIOMMU, and this machine has none", mode)};
    if (mode.empty()) return {};
    auto found = std::find(kModes.begin(), kModes.end(), mode);
    if (found == kModes.end()) return unknown("mode of a vIOMMU", mode, kModes);
    const Mode &meaning = kMeanings.at(static_cast<size_t>(found - kModes.begin()));
    spec.iommu_mode = meaning.mode;
    spec.caching_mode = meaning.caching;
    return {};
}

Status set_iommu_from_environment(VmSpec &spec) {
    std::string iommu = variable(kIommuVariable);
    return iommu.empty() ? Status{} : set_iommu(spec, iommu, variable(kIommuModeVariable));
}

} // namespace niclab::matrix
