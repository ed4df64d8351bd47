// SPDX-License-Identifier: GPL-2.0-or-later
// What is measured: loads, drivers and kinds of vIOMMU, each a row of a table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "niclab/vm_spec.h"

namespace niclab::bench {

enum class Way {
    out, ///< the measured port sends, a port of another kind is at the other end
    in,  ///< the measured port receives
};

/// What becomes of frames that the measured port receives.
enum class Drop { none, tc, xdp };

struct Scenario {
    const char *name;
    const char *load; ///< verb of the guest's `load`
    Way way;
    const char *unit;
    unsigned units; ///< of the first window
    unsigned size;
    unsigned burst;
    unsigned flows;
    Drop drop;
    bool in_short_set;
    const char *says;

    /// The sender's own work is measured too, with frames that the port does not take, and subtracted.
    bool has_baseline() const { return drop != Drop::none; }
};

struct Driver {
    const char *name; ///< also of the module to load
    const char *pci_driver;
    const char *model;
    std::vector<std::pair<std::string, std::string>> properties;
    const char *peer; ///< name of the driver at the other end; its module is none of this driver's
    std::vector<std::string> modules; ///< whose instructions are the driver's
    const char *says;
};

struct IommuKind {
    const char *name;
    bool present;
    bool caching_mode;
    const char *kernel_words;
    bool in_short_set;
    const char *says;
};

std::span<const Scenario> scenarios();
std::span<const Driver> drivers();
std::span<const IommuKind> iommu_kinds();

/// The row of that name, or a sentence with the names there are.
Result<const Scenario *> find_scenario(const std::string &name);
Result<const Driver *> find_driver(const std::string &name);
Result<const IommuKind *> find_iommu(const std::string &name);

} // namespace niclab::bench
