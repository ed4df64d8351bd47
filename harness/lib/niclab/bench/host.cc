// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/host.h"

#include <filesystem>

#include <fmt/format.h>

#include "niclab/artifacts.h"
#include "niclab/bench/marks.h"
#include "niclab/paths.h"

namespace fs = std::filesystem;

namespace niclab::bench {
namespace {

constexpr auto kMarkLimit = std::chrono::minutes(30); // the guest boots under callgrind

/// The program that libvirt starts instead of QEMU. It is also asked what it can do; that needs no counting.
constexpr const char *kWrapper = R"(#!/bin/sh
case " $* " in
*" -plugin "*) exec valgrind --tool=callgrind --instr-atstart=no --fair-sched=yes --vgdb=no --callgrind-out-file='{0}' '{1}' "$@" ;;
esac
exec '{1}' "$@"
)";

Result<std::string> make_wrapper(const std::string &qemu, const fs::path &dumps, const RunFolder &run) {
    std::string name = "qemu-for-" + dumps.filename().string();
    NICLAB_TRY(run.write(name, fmt::format(kWrapper, dumps.string(), qemu)));
    std::error_code failed;
    fs::permissions(run.file(name), fs::perms::owner_all, failed);
    if (failed) return Error{"the program that counts QEMU: " + failed.message()};
    return run.file(name).string();
}

Status prepare(VmSpec &spec, const MarkListener &listener, const fs::path &dumps, const RunFolder &run) {
    std::string qemu = NICLAB_TRY(qemu_binary());
    spec.qemu = NICLAB_TRY(make_wrapper(qemu, dumps, run));
    std::string plugin = NICLAB_TRY(counting_plugin(qemu));
    spec.counting = CountingSpec{listener.path(), plugin + ",host=on"};
    return {};
}

/// False at the last mark.
Result<bool> take(const Mark &mark, std::map<std::string, std::string> &skipped) {
    constexpr std::string_view kSkip = "note skip ", kBroken = "note broken ";
    if (mark.text.starts_with(kBroken)) return Error{mark.text.substr(kBroken.size())};
    if (mark.text.starts_with(kSkip)) {
        std::string rest = mark.text.substr(kSkip.size());
        skipped[rest.substr(0, rest.find(' '))] = rest;
    }
    return mark.text != "note done";
}

/// callgrind writes one file for each dump, their names end in numbers.
Result<std::map<std::string, CallgrindDump>> read_dumps(const fs::path &all) {
    std::map<std::string, CallgrindDump> dumps;
    for (const auto &entry : fs::directory_iterator(all.parent_path())) {
        if (!entry.path().string().starts_with(all.string() + ".")) continue;
        std::string text = NICLAB_TRY(read_file(entry.path()));
        CallgrindDump dump = NICLAB_TRY(parse_callgrind(text));
        dumps[dump.trigger] = std::move(dump);
    }
    return dumps;
}

/// Adds what the second window of a load took more than the first, `sign` times; false when one is missing.
bool add_windows(const std::map<std::string, CallgrindDump> &dumps, const std::string &load, double sign,
                 std::map<std::string, double> &sums) {
    auto once = dumps.find("end " + load + " 1"), twice = dumps.find("end " + load + " 2");
    if (once == dumps.end() || twice == dumps.end()) return false;
    for (const auto &[function, count] : twice->second.functions)
        sums[function] += sign * static_cast<double>(count);
    for (const auto &[function, count] : once->second.functions)
        sums[function] -= sign * static_cast<double>(count);
    return true;
}

} // namespace

Measured host_cost(const std::map<std::string, CallgrindDump> &dumps, const Planned &planned,
                   const Driver &driver) {
    std::string name = planned.scenario->name;
    std::map<std::string, double> sums;
    bool complete = add_windows(dumps, name, 1.0, sums);
    if (planned.scenario->has_baseline())
        complete = add_windows(dumps, name + kBaselineSuffix, -1.0, sums) && complete;
    if (!complete) return {{}, "the guest did not come to it"};
    Measured measured;
    for (const auto &[function, sum] : sums)
        if (sum != 0)
            measured.cost.functions.push_back(
                {function, host_group(function, driver), sum / planned.units, 0});
    sort_by_cost(measured.cost.functions);
    return measured;
}

Result<std::map<std::string, Measured>> host_run(const Setting &setting, const std::vector<Planned> &planned,
                                                 const RunFolder &run) {
    VmSpec spec = counting_machine(setting);
    if (std::string(setting.driver->name) == "niclab") NICLAB_TRY(add_driver(spec));
    NICLAB_TRY(add_script(spec, setting, planned, run));
    MarkListener listener = NICLAB_TRY(MarkListener::open());
    fs::path all = run.file(fmt::format("callgrind-{}-{}", setting.driver->name, setting.iommu->name));
    NICLAB_TRY(prepare(spec, listener, all, run));
    Vm vm = NICLAB_TRY(Vm::launch(std::move(spec), run));
    std::map<std::string, std::string> skipped;
    for (bool more = true; more;) {
        Mark mark = NICLAB_TRY(listener.next(vm, kMarkLimit));
        more = NICLAB_TRY(take(mark, skipped));
        NICLAB_TRY(listener.answer());
    }
    auto dumps = NICLAB_TRY(read_dumps(all));
    std::map<std::string, Measured> results;
    for (const Planned &each : planned) {
        auto skip = skipped.find(each.scenario->name);
        results[each.scenario->name] =
            skip == skipped.end() ? host_cost(dumps, each, *setting.driver) : Measured{{}, skip->second};
    }
    return results;
}

std::string host_heading() {
    std::string line = fmt::format("{:<18}{:<11}{:<8}", "scenario", "driver", "vIOMMU");
    for (const char *group : host_groups())
        line += fmt::format("{:>11}", group);
    return line + "\n";
}

std::string host_line(const std::string &scenario, const Setting &setting, const Measured &measured) {
    std::string line = fmt::format("{:<18}{:<11}{:<8}", scenario, setting.driver->name, setting.iommu->name);
    if (!measured.why_not.empty()) return line + " not measured: " + measured.why_not + "\n";
    for (const char *group : host_groups()) {
        std::string name = group;
        line += fmt::format("{:>11.1f}", measured.cost.instructions_in({&name, 1}));
    }
    return line + "\n";
}

} // namespace niclab::bench
