// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/card_record.h"

#include <fmt/format.h>

namespace fs = std::filesystem;

namespace niclab {
namespace {

constexpr const char *kModel = "connectx";

Status record_to(Vm &vm, size_t index, const std::string &path) {
    auto set = vm.qmp(
        "qom-set",
        {{"path", fmt::format("/machine/peripheral/nic{}", index)}, {"property", "record"}, {"value", path}});
    return set.ok() ? Status() : Status(set.error());
}

} // namespace

Result<std::vector<fs::path>> start_recording(Vm &vm) {
    std::vector<fs::path> files;
    for (size_t i = 0; i < vm.spec().nics.size(); ++i) {
        if (vm.spec().nics[i].model != kModel) continue;
        fs::path file = vm.run_folder().file(fmt::format("nic{}.record", i));
        NICLAB_TRY(record_to(vm, i, file));
        files.push_back(file);
    }
    if (files.empty()) return Error{"the machine has no card that records what it does"};
    return files;
}

Status stop_recording(Vm &vm) {
    for (size_t i = 0; i < vm.spec().nics.size(); ++i)
        if (vm.spec().nics[i].model == kModel) NICLAB_TRY(record_to(vm, i, ""));
    return {};
}

} // namespace niclab
