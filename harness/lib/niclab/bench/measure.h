// SPDX-License-Identifier: GPL-2.0-or-later
// One counting run: a VM that does its work without the host, and what each scenario cost in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "niclab/bench/profile.h"
#include "niclab/bench/script.h"
#include "niclab/run_folder.h"

namespace niclab::bench {

struct Measured {
    Cost cost;
    std::string why_not; ///< why the scenario could not be measured here; empty when it was
};

struct Setting {
    const Driver *driver;
    const IommuKind *iommu;
    std::string kernel = "6.1";
};

/// By scenario name. An error means that nothing was measured.
Result<std::map<std::string, Measured>>
counting_run(const Setting &setting, const std::vector<Planned> &planned, const RunFolder &run);

/// The guest's script as a file that the machine gets.
Status add_script(VmSpec &spec, const Setting &setting, const std::vector<Planned> &planned,
                  const RunFolder &run);

/// The machine of a setting, without what the run itself adds.
VmSpec counting_machine(const Setting &setting);

} // namespace niclab::bench
