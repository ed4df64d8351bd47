// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "commands.h"
#include "niclab/artifacts.h"
#include "niclab/bench/scenarios.h"
#include "niclab/card_record.h"
#include "niclab/gdb_script.h"
#include "niclab/guest.h"
#include "niclab/lifeline.h"
#include "niclab/orders.h"
#include "niclab/progress.h"
#include "niclab/trace/pcapng.h"
#include "terminal.h"

namespace niclab::cli {
namespace {

constexpr auto kCommandLimit = std::chrono::hours(24);

constexpr const char *kConnectx = "connectx";

/// The row of a card that is not ours; ours has two drivers.
const bench::Driver *foreign(const std::string &model) {
    if (model == kConnectx) return nullptr;
    for (const bench::Driver &row : bench::drivers())
        if (row.model == model) return &row;
    return nullptr;
}

IommuMode mode_of(const std::string &name) {
    if (name == "lazy") return IommuMode::lazy;
    return name == "pt" ? IommuMode::passthrough : IommuMode::strict;
}

VmSpec machine(const UpOptions &options) {
    VmSpec spec;
    spec.kernel = options.kernel;
    spec.vcpus = options.cpus;
    spec.memory_mib = options.memory_mib;
    NicSpec nic;
    nic.model = options.nic;
    // Behind a vIOMMU a virtio card uses it only when told so.
    if (options.nic.starts_with("virtio"))
        nic.properties = {{"disable-legacy", "on"}, {"iommu_platform", "on"}};
    spec.nics.assign(options.nics, nic);
    spec.gdb = options.gdb;
    spec.iommu = options.iommu != "none";
    spec.iommu_mode = mode_of(options.mode);
    spec.caching_mode = options.caching_mode;
    return spec;
}

/// What contradicts itself, in a sentence.
Status check(const UpOptions &options) {
    if (options.nic != kConnectx && options.driver != UpOptions().driver && options.driver != "none")
        return Error{fmt::format("the driver {} is one for connectx cards, and --nic asks for {}",
                                 options.driver, options.nic)};
    if (options.nic != kConnectx && !options.pcap.empty())
        return Error{
            fmt::format("only connectx cards record their frames, and --nic asks for {}", options.nic)};
    if (options.iommu == "none" && options.mode != UpOptions().mode)
        return Error{fmt::format("{} is a mode of a vIOMMU, and --iommu asks for none", options.mode)};
    return validate(machine(options));
}

Result<Vm> boot(const UpOptions &options, const RunFolder &run) {
    VmSpec spec = machine(options);
    if (options.command.empty()) {
        spec.console = ConsoleMode::pty;
        spec.kernel_command_line = "niclab.shell";
    }
    if (options.driver == "niclab") NICLAB_TRY(add_driver(spec));
    progress(
        fmt::format("booting Linux {} with {} joined {} cards", options.kernel, options.nics, options.nic));
    return Vm::boot(spec, run);
}

/// With no driver asked for, both cards stay free and the namespaces are there all the same.
Status bind(Guest &guest, const UpOptions &options) {
    NICLAB_TRY(guest.prepare());
    if (options.driver == "none") return {};
    const bench::Driver *other = foreign(options.nic);
    if (other) NICLAB_TRY(guest.load_module(other->name));
    std::string driver = other ? other->pci_driver : options.driver;
    progress(fmt::format("binding both ports to {}", driver));
    NICLAB_TRY(guest.connect(driver));
    for (Side side : {Side::a, Side::b})
        progress(fmt::format("  namespace {}: {} is up with {}", side == Side::a ? "a" : "b",
                             guest.interface(side), Guest::address(side)));
    return {};
}

/// Modules are in the guest by now, so that the script finds them.
Status tell_debugger(Vm &vm) {
    if (!vm.spec().gdb) return {};
    progress("a debugger attaches with: " + NICLAB_TRY(write_gdb_script(vm)));
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

/// Records all cards while it lives, and makes one file of frames of it.
class FrameFile {
  public:
    FrameFile(Vm &vm, std::string path) : vm_(vm), path_(std::move(path)) {}
    Status start() {
        if (path_.empty()) return {};
        records_ = NICLAB_TRY(start_recording(vm_));
        return {};
    }
    Status finish() {
        if (path_.empty()) return {};
        (void)stop_recording(vm_); // fails when the VM has gone; the records are there all the same
        std::vector<trace::RecordFile> files;
        files.reserve(records_.size());
        for (const auto &record : records_)
            files.push_back(NICLAB_TRY(trace::RecordFile::open(record)));
        auto events = NICLAB_TRY(trace::read_all(files));
        size_t frames = NICLAB_TRY(trace::write_pcapng(path_, files, events));
        progress(fmt::format("{} frames written to {}", frames, path_));
        return {};
    }

  private:
    Vm &vm_;
    std::string path_;
    std::vector<std::filesystem::path> records_;
};

} // namespace

std::vector<std::string> nic_models() {
    std::vector<std::string> models;
    for (const bench::Driver &row : bench::drivers())
        if (std::find(models.begin(), models.end(), row.model) == models.end())
            models.emplace_back(row.model);
    return models;
}

int up(const UpOptions &options) {
    if (Status right = check(options); !right.ok()) {
        (void)failure(right.why());
        return kUsageStatus;
    }
    if (options.command.empty() && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        return failure("a shell needs a terminal; run a command with --exec instead");
    auto run = RunFolder::create("up");
    if (!run.ok()) return failure(run.why());
    auto vm = boot(options, *run);
    if (!vm.ok()) return failure(vm.why() + "; see " + run->path().string());
    Guest guest(*vm);
    FrameFile frames(*vm, options.pcap);
    if (Status started = frames.start(); !started.ok()) return failure(started.why());
    Status bound = bind(guest, options);
    if (!bound.ok() && (Lifeline::interrupted() || !options.command.empty()))
        return failure(bound.why() + "; see " + run->path().string());
    if (!bound.ok()) failure(bound.why()); // the shell is the place to look into it
    if (Status told = tell_debugger(*vm); !told.ok()) return failure(told.why());
    auto orders = take_orders(guest);
    if (!orders.ok()) return failure(orders.why());
    int status = options.command.empty() ? shell(*vm) : run_command(*vm, options.command);
    Status written = frames.finish();
    return written.ok() ? status : failure(written.why());
}

} // namespace niclab::cli
