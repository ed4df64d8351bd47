// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/orders.h"

#include <fmt/format.h>

#include "niclab/card_record.h"
#include "niclab/reload.h"

using nlohmann::json;

namespace niclab {
namespace {

Status say_counters(Vm &vm, const Say &say) {
    json all = json::object();
    for (size_t i = 0; i < vm.spec().nics.size(); ++i)
        if (vm.spec().nics[i].model == "connectx")
            all[fmt::format("nic{}", i)] = NICLAB_TRY(vm.card_counters(i));
    if (all.empty()) return Error{"the machine has no card that counts"};
    say(all.dump());
    return {};
}

Status record(Vm &vm, const Say &say) {
    for (const auto &file : NICLAB_TRY(start_recording(vm)))
        say(file.string());
    return {};
}

} // namespace

Status carry_out_order(Guest &guest, const json &order, const Say &say) {
    std::string what = order.value("order", "");
    if (what == "reload")
        return reload_driver(guest, order.value("module", ""), order.value("parameters", ""), say);
    if (what == "counters") return say_counters(guest.vm(), say);
    if (what == "record") return record(guest.vm(), say);
    if (what == "stop-record") return stop_recording(guest.vm());
    return Error{"an order that is not known: " + order.dump()};
}

} // namespace niclab
