// SPDX-License-Identifier: GPL-2.0-or-later
// Builds our driver for the kernel of a VM that `niclab up` keeps, and has it swapped there.
#include <cstdio>

#include <fmt/format.h>

#include "commands.h"
#include "live.h"
#include "niclab/artifacts.h"
#include "niclab/lifeline.h"
#include "niclab/process.h"
#include "niclab/progress.h"

namespace niclab::cli {
namespace {

/// Debugging information is nine tenths of the file, and of no use in the guest.
Result<std::string> without_debug_information(const std::string &module) {
    std::string small = module + ".stripped";
    ProcessResult ended = NICLAB_TRY(run_process({"strip", "--strip-debug", "-o", small, module}));
    if (ended.exit_code != 0) return Error{"strip failed: " + ended.err};
    return small;
}

Status send(const ReloadOptions &options) {
    (void)NICLAB_TRY(Lifeline::get()); // Ctrl-C ends a build as it does everywhere
    LiveVm vm = NICLAB_TRY(choose_vm(options.vm));
    progress(fmt::format("building the driver for Linux {}", vm.kernel));
    std::string built = NICLAB_TRY(driver_module(vm.kernel));
    std::string module = NICLAB_TRY(without_debug_information(built));
    progress(fmt::format("reloading it in the VM of process {}", vm.pid));
    nlohmann::json order = {{"order", "reload"}, {"module", module}, {"parameters", options.parameters}};
    return send_order(vm.socket, order, progress);
}

} // namespace

int reload(const ReloadOptions &options) {
    Status done = send(options);
    if (!done.ok()) return failure(done.why());
    progress("done");
    return 0;
}

} // namespace niclab::cli
