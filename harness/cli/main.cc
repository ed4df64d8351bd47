// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "matrix_verbs.h"
#include "niclab/lifeline.h"
#include "niclab/model/describe.h"
#include "niclab/progress.h"
#include "niclab/trace/words.h"
#include "niclab/vm_spec.h"

namespace niclab::cli {
namespace {

/// "--exec" takes all that follows it, options of the command included, so it is cut off before CLI11 looks.
std::vector<std::string> split_command(std::vector<std::string> &words) {
    auto mark = std::find(words.begin(), words.end(), "--exec");
    if (mark == words.end()) return {};
    std::vector<std::string> command(std::next(mark), words.end());
    words.erase(command.empty() ? words.end() : mark, words.end());
    return command;
}

void add_kernel(CLI::App *verb, std::string &kernel) {
    verb->add_option("--kernel", kernel, "Debian kernel of the guest")
        ->check(CLI::IsMember({"6.1", "6.12"}))
        ->capture_default_str();
}

/// A path without a slash in it would look like a name.
std::string known_kernel(const std::string &kernel) {
    const auto &names = kernel_names();
    if (std::find(names.begin(), names.end(), kernel) != names.end()) return {};
    if (!is_kernel_folder(kernel))
        return "there is no kernel '" + kernel + "'; for a folder give a path with a slash in it";
    return std::filesystem::is_directory(kernel) ? "" : "there is no folder " + kernel;
}

void add_up(CLI::App &app, UpOptions &options, std::string &caching_mode) {
    CLI::App *verb =
        app.add_subcommand("up", "Boot the VM with two joined ConnectX ports and give a shell in it");
    verb->add_option("--kernel", options.kernel,
                     "Kernel of the guest: 6.1 or 6.12 of Debian, or the folder of one that you built")
        ->check(known_kernel)
        ->capture_default_str();
    verb->add_option("--cpus", options.cpus, "Number of CPUs")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    verb->add_option("--memory", options.memory_mib, "Memory in MiB")
        ->check(CLI::Range(256, 1 << 20))
        ->capture_default_str();
    verb->add_option("--driver", options.driver, "Driver to bind both ports to")
        ->check(CLI::IsMember({"none", "mlx5_core", "niclab"}))
        ->capture_default_str();
    verb->add_option("--nic", options.nic,
                     "Model of the cards; each but connectx comes with its stock driver")
        ->check(CLI::IsMember(nic_models()))
        ->capture_default_str();
    verb->add_option("--nics", options.nics, "Number of cards; the first two get addresses")
        ->check(CLI::Range(2, 12))
        ->capture_default_str();
    verb->add_option("--iommu", options.iommu, "Kind of vIOMMU")
        ->check(CLI::IsMember({"intel", "none"}))
        ->capture_default_str();
    verb->add_option("--mode", options.mode, "When Linux takes mappings out of the vIOMMU; pt: it makes none")
        ->check(CLI::IsMember({"strict", "lazy", "pt"}))
        ->capture_default_str();
    verb->add_flag("--gdb", options.gdb,
                   "Let a debugger attach to the guest's kernel; the command to do so is printed");
    verb->add_option("--pcap", options.pcap,
                     "Write all frames to this pcapng file, WQEs and CQEs as comments")
        ->type_name("FILE");
    verb->add_option("--caching-mode", caching_mode, "Caching mode of the vIOMMU")
        ->check(CLI::IsMember({"on", "off"}))
        ->capture_default_str();
    verb->add_option("--exec", options.command,
                     "Run this command (all that follows) instead of a shell, and end with its status")
        ->type_name("COMMAND ...");
}

void add_vm(CLI::App *verb, int &vm) {
    verb->add_option("--vm", vm, "Process that keeps the VM, when there are several")
        ->check(CLI::Range(1, 1 << 22));
}

CLI::App *add_reload(CLI::App &app, ReloadOptions &options) {
    CLI::App *verb = app.add_subcommand("reload", "Build our driver and swap it in a VM that `up` keeps");
    add_vm(verb, options.vm);
    verb->add_option("--parameters", options.parameters, "Parameters of the module, e.g. rx_map=fragment");
    return verb;
}

CLI::App *add_bench(CLI::App &app, BenchOptions &options) {
    CLI::App *verb =
        app.add_subcommand("bench", "Count what a frame, a KiB or a round costs the guest, exactly");
    verb->add_flag("--list", options.list, "Say what can be measured, and measure nothing");
    verb->add_option("--scenario", options.scenarios, "Only these, or all")
        ->delimiter(',')
        ->allow_extra_args(false);
    verb->add_option("--driver", options.drivers, "Only these, or all")
        ->delimiter(',')
        ->allow_extra_args(false);
    verb->add_option("--iommu", options.iommus, "Only these, or all")
        ->delimiter(',')
        ->allow_extra_args(false);
    add_kernel(verb, options.kernel);
    CLI::Option *repeat = verb->add_option("--repeat", options.repetitions, "Runs of each setting")
                              ->check(CLI::Range(1, 100))
                              ->capture_default_str();
    CLI::Option *top = verb->add_option("--top", options.top, "Show that many functions of each cell")
                           ->check(CLI::Range(0, 40))
                           ->capture_default_str();
    CLI::Option *json =
        verb->add_option("--json", options.json, "Also write the result to this file")->type_name("FILE");
    verb->add_flag("--host", options.host,
                   "Count what QEMU itself executes instead; minutes for each setting")
        ->excludes(repeat)
        ->excludes(json);
    verb->add_flag("--wall", options.wall, "Time by the clock instead: medians of --repeat runs in turn")
        ->excludes("--host")
        ->excludes(top)
        ->excludes(json);
    verb->add_option("--compare", options.compare,
                     "Compare two results instead of measuring; status 1 when something got dearer")
        ->expected(2)
        ->type_name("BEFORE AFTER");
    return verb;
}

CLI::App *add_describe(CLI::App &app, DescribeOptions &options) {
    CLI::App *verb = app.add_subcommand("describe", "Say what the card models, out of its own tables");
    std::string known = "connectx and one of: ";
    for (const auto &[name, says] : model::topics())
        known += name + ", ";
    verb->add_option("topic", options.words,
                     known + "layout NAME, syndrome NUMBER, bytes LAYOUT HEX...; nothing for all");
    CLI::Option *json = verb->add_flag("--json", options.json, "As JSON");
    verb->add_flag("--markdown", options.markdown, "As tables of a page; without a topic the whole page")
        ->excludes(json);
    return verb;
}

CLI::App *add_counters(CLI::App &app, CountersOptions &options) {
    CLI::App *verb =
        app.add_subcommand("counters", "Show what the cards of a VM that `up` keeps have counted");
    add_vm(verb, options.vm);
    verb->add_option("--over", options.seconds, "Only what is counted in the next seconds")
        ->check(CLI::Range(1, 86400))
        ->type_name("SECONDS");
    verb->add_flag("--all", options.all, "Also counters that are zero");
    verb->add_flag("--json", options.json, "As JSON, all counters");
    return verb;
}

CLI::App *add_trace(CLI::App &app, TraceOptions &options) {
    CLI::App *verb = app.add_subcommand("trace", "Show what the cards of a VM that `up` keeps do, decoded");
    add_vm(verb, options.vm);
    verb->add_option("--seconds", options.seconds, "End after this time, not at Ctrl-C")
        ->check(CLI::Range(1, 86400));
    std::vector<std::string> kinds(trace::kinds().begin(), trace::kinds().end());
    verb->add_option("--filter", options.filter, "Print only these kinds of events")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember(kinds));
    verb->add_option("--pcap", options.pcap,
                     "Also write the frames to this pcapng file, WQEs and CQEs as comments")
        ->type_name("FILE");
    verb->add_option("--read", options.read, "Show these records instead of a running VM")
        ->type_name("FILE ...");
    return verb;
}

CLI::App *add_doctor(CLI::App &app, DoctorOptions &options) {
    CLI::App *verb = app.add_subcommand("doctor", "Say what this machine can do, and what is missing");
    verb->add_flag("--fix", options.fix,
                   "First do what is safe: end what dead runs left, delete cache entries that nobody needs");
    verb->add_flag("--json", options.json, "As JSON");
    return verb;
}

/// Of the verb that was chosen, or of the whole command.
std::string help_of(const CLI::App &app) {
    auto chosen = app.get_subcommands();
    return chosen.empty() ? app.help() : chosen.front()->help(app.get_name());
}

void timed_line(const std::string &line) {
    static const auto start = std::chrono::steady_clock::now();
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "[%5.1f s] %s\n", passed.count(), line.c_str());
}

int usage_error(const CLI::App &app, const std::string &why) {
    std::fprintf(stderr, "niclab: %s\n\n%s", why.substr(0, why.find('\n')).c_str(), help_of(app).c_str());
    return kUsageStatus;
}

/// CLI11 says of a mistyped command only that one is missing.
std::string why_not_parsed(const CLI::App &app, const CLI::ParseError &error) {
    std::vector<std::string> left = app.remaining(/*recurse=*/true);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) && !left.empty())
        return "'" + left.front() +
               (left.front().starts_with("-") ? "' is not an option" : "' is not a command");
    return error.what();
}

int run(std::vector<std::string> words) {
    CLI::App app("niclab: a network card under QEMU, its driver, and the lab that proves both", "niclab");
    app.require_subcommand(1);
    UpOptions up_options;
    DemoOptions demo_options;
    std::string caching_mode = "off";
    add_up(app, up_options, caching_mode);
    CLI::App *demo_verb =
        app.add_subcommand("demo", "Show the card under the stock driver and under ours, in one VM");
    add_kernel(demo_verb, demo_options.kernel);
    ReloadOptions reload_options;
    CLI::App *reload_verb = add_reload(app, reload_options);
    DescribeOptions describe_options;
    CLI::App *describe_verb = add_describe(app, describe_options);
    CountersOptions counters_options;
    CLI::App *counters_verb = add_counters(app, counters_options);
    TraceOptions trace_options;
    CLI::App *trace_verb = add_trace(app, trace_options);
    BenchOptions bench_options;
    CLI::App *bench_verb = add_bench(app, bench_options);
    DoctorOptions doctor_options;
    CLI::App *doctor_verb = add_doctor(app, doctor_options);
    MatrixOptions matrix_options;
    CLI::App *matrix_verb = add_matrix(app, matrix_options);
    ReportOptions report_options;
    CLI::App *report_verb = add_report(app, report_options);
    BisectOptions bisect_options;
    CLI::App *bisect_verb = add_bisect(app, bisect_options);

    set_progress(timed_line);
    std::vector<std::string> command = split_command(words);
    std::reverse(words.begin(), words.end()); // CLI11 takes them from the back
    try {
        app.parse(words);
    } catch (const CLI::CallForHelp &) {
        std::fputs(help_of(app).c_str(), stdout);
        return 0;
    } catch (const CLI::ParseError &error) {
        return usage_error(app, why_not_parsed(app, error));
    }
    if (!command.empty() && !app.got_subcommand("up")) return usage_error(app, "only up runs a command");
    if (doctor_verb->parsed()) return doctor(doctor_options);
    if (reload_verb->parsed()) return reload(reload_options);
    if (describe_verb->parsed()) return describe(describe_options);
    if (counters_verb->parsed()) return counters(counters_options);
    if (trace_verb->parsed()) return trace(trace_options);
    if (demo_verb->parsed()) return demo(demo_options);
    if (bench_verb->parsed()) return bench(bench_options);
    if (matrix_verb->parsed()) return matrix(matrix_options);
    if (report_verb->parsed()) return report(report_options);
    if (bisect_verb->parsed()) return bisect(bisect_options);
    up_options.caching_mode = caching_mode == "on";
    up_options.command = command;
    return up(up_options);
}

} // namespace

int failure(const std::string &why) {
    std::fprintf(stderr, "niclab: %s\n", why.c_str());
    return Lifeline::interrupted() ? 128 + Lifeline::interrupted() : 1;
}

} // namespace niclab::cli

int main(int argc, char **argv) {
    try {
        return niclab::cli::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        std::fprintf(stderr, "niclab: %s\n", error.what());
        return 1;
    }
}
