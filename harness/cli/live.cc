// SPDX-License-Identifier: GPL-2.0-or-later
#include "live.h"

#include <fmt/format.h>

namespace niclab::cli {
namespace {

std::string listed(const std::vector<LiveVm> &vms) {
    std::string text;
    for (const LiveVm &vm : vms)
        text += fmt::format("{}{} (Linux {})", text.empty() ? "" : ", ", vm.pid, vm.kernel);
    return text;
}

} // namespace

Result<LiveVm> choose_vm(int pid) {
    std::vector<LiveVm> vms = live_vms();
    if (vms.empty()) return Error{"no VM is up; start one with: niclab up"};
    if (pid == 0 && vms.size() > 1) return Error{"several VMs are up, name one with --vm: " + listed(vms)};
    for (const LiveVm &vm : vms)
        if (pid == 0 || vm.pid == pid) return vm;
    return Error{fmt::format("no VM is kept by process {}; there are: {}", pid, listed(vms))};
}

Result<std::vector<std::string>> ask(const LiveVm &vm, const nlohmann::json &order) {
    std::vector<std::string> said;
    NICLAB_TRY(send_order(vm.socket, order, [&](const std::string &line) { said.push_back(line); }));
    return said;
}

} // namespace niclab::cli
