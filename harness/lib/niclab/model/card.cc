// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/model/card.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "connectx/caps.h"
#include "connectx/command.h"
#include "connectx/cx_core.h"
#include "connectx/registers.h"
#include "niclab/model/decode.h"
#include "niclab/model/tables.h"

namespace niclab::model {
namespace {

namespace cx = connectx;

const char *phase_name(cx::Phase phase) {
    constexpr std::array kNames = {"any time", "ENABLE_HCA", "INIT_HCA"};
    return kNames.at(static_cast<size_t>(phase));
}

void add_capabilities(Document &rows, CapType type, std::string_view layout, usize at) {
    cx::Caps caps;
    std::array<u8, kCapBytes> current{}, maximum{};
    caps.query(static_cast<u16>(type), /*maximum=*/false, current);
    caps.query(static_cast<u16>(type), /*maximum=*/true, maximum);
    for (const FieldRow &field : fields()) {
        if (field.layout != layout) continue;
        u64 now = field.get(Bytes(current).subspan(at)), most = field.get(Bytes(maximum).subspan(at));
        if (now != 0 || most != 0)
            rows.push_back({{"group", name_of("CapType", static_cast<u64>(type))},
                            {"capability", field.name},
                            {"value", now},
                            {"most", most},
                            {"meaning", field.says}});
    }
}

} // namespace

std::string hex(u64 value, int digits) { return fmt::format("{:#0{}x}", value, digits + 2); }

Document identity() {
    return Document::array({
        {{"what", "vendor"}, {"value", hex(CX_PCI_VENDOR, 4)}},
        {{"what", "device"}, {"value", hex(CX_PCI_DEVICE, 4)}},
        {{"what", "class"}, {"value", "0x0200"}},
        {{"what", "BAR0"}, {"value", fmt::format("{} MiB", CX_BAR_BYTES >> 20)}},
        {{"what", "MSI-X vectors"}, {"value", std::to_string(CX_VECTORS)}},
    });
}

Document properties() {
    Document rows = Document::array();
    for (size_t i = 0; i < cx_core_property_count(); ++i) {
        const cx_property *property = cx_core_property(i);
        rows.push_back(
            {{"property", property->name}, {"default", property->initially}, {"meaning", property->meaning}});
    }
    return rows;
}

/// The card's own commands, and those that its layouts know and it refuses.
Document commands() {
    Document rows = Document::array();
    for (const EnumRow &each : enumerators()) {
        if (each.type != "Opcode") continue;
        auto opcode = static_cast<u16>(each.value);
        std::string name(each.name);
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return std::toupper(c); });
        const cx::Command *command = cx::find_command(opcode);
        rows.push_back({{"opcode", hex(each.value, 3)},
                        {"command", command ? command->name : name},
                        {"least input", command ? hex(command->min_in) : ""},
                        {"least output", command ? hex(command->min_out) : ""},
                        {"input", fmt::format("{}", fmt::join(layouts_of_command(opcode, false), " "))},
                        {"output", fmt::format("{}", fmt::join(layouts_of_command(opcode, true), " "))},
                        {"after", command ? phase_name(command->since) : "refused: bad_operation"}});
    }
    return rows;
}

Document registers() {
    Document rows = Document::array();
    for (const cx::Register &each : cx::all_registers())
        rows.push_back({{"id", hex(static_cast<u64>(each.id), 4)},
                        {"register", each.name},
                        {"bytes", each.bytes},
                        {"access", each.write ? "read, write" : "read"}});
    return rows;
}

Document capabilities() {
    Document rows = Document::array();
    add_capabilities(rows, CapType::general, "GeneralCaps", 0);
    add_capabilities(rows, CapType::ethernet, "EthernetCaps", 0);
    add_capabilities(rows, CapType::flow_table, "FlowTableCaps", FlowTableCaps::kNicRx);
    return rows;
}

Document all_layouts() {
    Document rows = Document::array();
    for (const LayoutRow &each : layouts())
        rows.push_back({{"layout", each.name}, {"bytes", hex(each.bytes)}, {"meaning", each.says}});
    return rows;
}

Document events() {
    Document rows = Document::array();
    for (const EnumRow &each : enumerators())
        if (each.type == "Event") rows.push_back({{"type", hex(each.value, 2)}, {"event", each.name}});
    return rows;
}

Document counters() {
    Document rows = Document::array();
    for (size_t i = 0; i < cx_core_counter_count(); ++i)
        rows.push_back({{"counter", cx_core_counter_name(i)}});
    return rows;
}

} // namespace niclab::model
