// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/wall.h"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "niclab/artifacts.h"

namespace niclab::bench {
namespace {

constexpr auto kScriptLimit = std::chrono::minutes(10);

VmSpec timed_machine(const Setting &setting) {
    VmSpec spec = counting_machine(setting);
    spec.vcpus = 2;
    spec.nics[1] = spec.nics[0];
    return spec;
}

Timed timed(std::istream &words, unsigned units) {
    double once = 0, twice = 0;
    if (!(words >> once >> twice)) return {0, "the guest printed no times"};
    if (twice <= once) return {0, "twice the work took no longer than the work: too little of it"};
    return {units * 1e9 / (twice - once), {}};
}

} // namespace

Result<std::vector<Timed>> read_times(const std::string &printed, const std::vector<Planned> &planned) {
    std::map<std::string, std::pair<std::string, std::string>> lines; // of a name: the verb and the rest
    std::istringstream text(printed);
    for (std::string line; std::getline(text, line);) {
        std::istringstream words(line);
        std::string verb, name, rest;
        words >> verb >> name;
        std::getline(words >> std::ws, rest);
        if (verb == "broken") return Error{fmt::format("{} {}", name, rest)};
        lines[name] = {verb, rest};
    }
    std::vector<Timed> all;
    for (const Planned &each : planned) {
        const auto &[verb, rest] = lines[each.scenario->name];
        std::istringstream words(rest);
        if (verb == "time")
            all.push_back(timed(words, each.units));
        else
            all.push_back({0, rest.empty() ? "the guest did not come to it" : rest});
    }
    return all;
}

Result<std::vector<Timed>> timed_run(const Setting &setting, const std::vector<Planned> &planned,
                                     const RunFolder &run) {
    Driver pair = *setting.driver;
    pair.peer = pair.name;
    VmSpec spec = timed_machine(setting);
    if (std::string(pair.name) == "niclab") NICLAB_TRY(add_driver(spec));
    Vm vm = NICLAB_TRY(Vm::boot(std::move(spec), run));
    auto result = NICLAB_TRY(vm.script(timed_script(pair, planned), kScriptLimit));
    if (std::string complaints = describe(vm.kernel_complaints()); !complaints.empty())
        return Error{"the guest's kernel complained: " + complaints};
    return read_times(result.out, planned);
}

std::string rate(const Scenario &scenario, std::vector<double> per_second) {
    bool bytes = std::string(scenario.unit) == "KiB";
    for (double &each : per_second)
        each *= bytes ? 1024 * 8 / 1e6 : 1e-3;
    std::sort(per_second.begin(), per_second.end());
    return fmt::format("{:.1f} ({:.1f} to {:.1f}) {}", per_second[per_second.size() / 2], per_second.front(),
                       per_second.back(), bytes ? "Mbit/s" : fmt::format("k{}/s", scenario.unit));
}

} // namespace niclab::bench
