// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "commands.h"
#include "niclab/artifacts.h"
#include "niclab/guest.h"
#include "niclab/lifeline.h"
#include "niclab/orders.h"
#include "niclab/progress.h"
#include "terminal.h"

namespace niclab::cli {
namespace {

constexpr auto kCommandLimit = std::chrono::hours(24);

Result<Vm> boot(const UpOptions &options, const RunFolder &run) {
    VmSpec spec = two_connectx_ports(options.kernel);
    spec.vcpus = options.cpus;
    spec.memory_mib = options.memory_mib;
    spec.caching_mode = options.caching_mode;
    if (options.command.empty()) {
        spec.console = ConsoleMode::pty;
        spec.kernel_command_line = "niclab.shell";
    }
    if (options.driver == "niclab") NICLAB_TRY(add_driver(spec));
    progress(fmt::format("booting Linux {} with two joined ConnectX ports", options.kernel));
    return Vm::boot(spec, run);
}

/// With no driver asked for, both cards stay free and the namespaces are there all the same.
Status bind(Guest &guest, const std::string &driver) {
    NICLAB_TRY(guest.prepare());
    if (driver == "none") return {};
    progress(fmt::format("binding both ports to {}", driver));
    NICLAB_TRY(guest.connect(driver));
    for (Side side : {Side::a, Side::b})
        progress(fmt::format("  namespace {}: {} is up with {}", side == Side::a ? "a" : "b",
                             guest.interface(side), Guest::address(side)));
    return {};
}

/// Other processes may order while the shell or the command has the VM.
Result<std::unique_ptr<ControlServer>> take_orders(Guest &guest) {
    const Vm &vm = guest.vm();
    std::string socket = NICLAB_TRY(announce(vm.spec().kernel, vm.run_folder().path()));
    return ControlServer::start(socket, [&guest](const nlohmann::json &order, const Say &say) {
        return carry_out_order(guest, order, say);
    });
}

int run_command(Vm &vm, const std::vector<std::string> &command) {
    auto ended = vm.run(command, kCommandLimit);
    if (!ended.ok()) return failure(ended.why());
    std::fwrite(ended->out.data(), 1, ended->out.size(), stdout);
    std::fwrite(ended->err.data(), 1, ended->err.size(), stderr);
    return ended->exit_code;
}

int shell(Vm &vm) {
    auto pty = vm.console_pty();
    if (!pty.ok()) return failure(pty.why());
    progress("a shell follows, try: ip netns exec a ping -c 3 10.77.0.2     (Ctrl-] ends the VM)");
    Status left = attach_terminal(*pty);
    std::fputs("\n", stdout);
    return left.ok() ? 0 : failure(left.why());
}

} // namespace

int up(const UpOptions &options) {
    if (options.command.empty() && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        return failure("a shell needs a terminal; run a command with --exec instead");
    auto run = RunFolder::create("up");
    if (!run.ok()) return failure(run.why());
    auto vm = boot(options, *run);
    if (!vm.ok()) return failure(vm.why() + "; see " + run->path().string());
    Guest guest(*vm);
    Status bound = bind(guest, options.driver);
    if (!bound.ok() && (Lifeline::interrupted() || !options.command.empty()))
        return failure(bound.why() + "; see " + run->path().string());
    if (!bound.ok()) failure(bound.why()); // the shell is the place to look into it
    auto orders = take_orders(guest);
    if (!orders.ok()) return failure(orders.why());
    return options.command.empty() ? shell(*vm) : run_command(*vm, options.command);
}

} // namespace niclab::cli
