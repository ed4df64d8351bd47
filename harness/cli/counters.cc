// SPDX-License-Identifier: GPL-2.0-or-later
// What the cards of a VM that `niclab up` keeps have counted.
#include <chrono>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "commands.h"
#include "live.h"
#include "niclab/deadline.h"
#include "niclab/lifeline.h"
#include "pause.h"

using nlohmann::json;

namespace niclab::cli {
namespace {

using Numbers = std::map<std::string, std::uint64_t>;
using Cards = std::map<std::string, Numbers>;

Result<Cards> read(const LiveVm &vm) {
    auto said = NICLAB_TRY(ask(vm, {{"order", "counters"}}));
    json held = json::parse(said.empty() ? "" : said[0], nullptr, /*allow_exceptions=*/false);
    if (!held.is_object()) return Error{"the VM's answer is not understood"};
    return held.get<Cards>();
}

void subtract(Cards &cards, const Cards &before) {
    for (auto &[card, numbers] : cards)
        for (auto &[name, value] : numbers) {
            auto was = before.find(card);
            if (was != before.end()) value -= was->second.at(name);
        }
}

Result<Cards> counted(const CountersOptions &options) {
    (void)NICLAB_TRY(Lifeline::get()); // Ctrl-C ends the wait
    LiveVm vm = NICLAB_TRY(choose_vm(options.vm));
    if (options.seconds == 0) return read(vm);
    Cards before = NICLAB_TRY(read(vm));
    NICLAB_TRY(pause_for(std::chrono::seconds(options.seconds)));
    Cards after = NICLAB_TRY(read(vm));
    subtract(after, before);
    return after;
}

/// A line for each counter, a column for each card; what is zero everywhere is left out.
std::string as_table(const Cards &cards, bool all) {
    std::map<std::string, std::vector<std::uint64_t>> rows;
    std::string text = fmt::format("{:<34}", "counter");
    for (const auto &[card, numbers] : cards) {
        text += fmt::format("{:>16}", card);
        for (const auto &[name, value] : numbers)
            rows[name].push_back(value);
    }
    text += "\n";
    for (const auto &[name, values] : rows) {
        bool zero = std::all_of(values.begin(), values.end(), [](std::uint64_t value) { return value == 0; });
        if (zero && !all) continue;
        text += fmt::format("{:<34}", name);
        for (std::uint64_t value : values)
            text += fmt::format("{:>16}", value);
        text += "\n";
    }
    return text;
}

} // namespace

int counters(const CountersOptions &options) {
    auto cards = counted(options);
    if (!cards.ok()) return failure(cards.why());
    std::string text = options.json ? json(*cards).dump(2) + "\n" : as_table(*cards, options.all);
    std::fputs(text.c_str(), stdout);
    return 0;
}

} // namespace niclab::cli
