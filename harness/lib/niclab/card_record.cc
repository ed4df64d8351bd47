// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/card_record.h"

#include <fmt/format.h>

namespace fs = std::filesystem;

namespace niclab {
namespace {

constexpr const char *kModel = "connectx";

std::string path_of(size_t index) { return fmt::format("/machine/peripheral/nic{}", index); }

/// One record at a time: a second would end the first in the middle of somebody's watch.
Status require_no_record(Vm &vm, size_t index) {
    nlohmann::json now = NICLAB_TRY(vm.qmp("qom-get", {{"path", path_of(index)}, {"property", "record"}}));
    if (now.is_string() && now.get<std::string>().empty()) return {};
    return Error{fmt::format("nic{} is recorded already, to {}", index, now.dump())};
}

Status record_to(Vm &vm, size_t index, const std::string &path) {
    auto set = vm.qmp("qom-set", {{"path", path_of(index)}, {"property", "record"}, {"value", path}});
    return set.ok() ? Status() : Status(set.error());
}

} // namespace

Result<std::vector<fs::path>> start_recording(Vm &vm) {
    std::vector<fs::path> files;
    for (size_t i = 0; i < vm.spec().nics.size(); ++i) {
        if (vm.spec().nics[i].model != kModel) continue;
        NICLAB_TRY(require_no_record(vm, i));
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
