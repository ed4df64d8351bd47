// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/trace/recent_file.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "connectx/recent.h"
#include "niclab/trace/words.h"

namespace niclab::trace {
namespace {

Event event_of(const cx_recent_slot &slot) {
    size_t kept = std::min<size_t>(slot.length, CX_RECENT_BYTES);
    return {slot.guest_ns,
            slot.kind,
            slot.length,
            slot.a,
            slot.b,
            slot.c,
            std::vector<u8>(slot.bytes, slot.bytes + kept)};
}

Result<std::vector<Event>> group(const std::string &path, const cx_recent_slot *first) {
    std::vector<const cx_recent_slot *> filled;
    for (const cx_recent_slot *slot = first; slot != first + CX_RECENT_SLOTS; ++slot)
        if (slot->serial != 0) filled.push_back(slot);
    std::sort(filled.begin(), filled.end(), [](auto *a, auto *b) { return a->serial < b->serial; });
    std::vector<Event> events;
    for (const cx_recent_slot *slot : filled) {
        if (slot->kind >= CX_TRACE_KINDS)
            return Error{fmt::format("'{}' is damaged: there is no event of kind {}", path, slot->kind)};
        events.push_back(event_of(*slot));
    }
    return events;
}

std::string lines(const char *title, const std::vector<Event> &events, size_t most) {
    if (events.empty()) return {};
    std::string text = fmt::format("  last {}\n", title);
    for (size_t i = events.size() - std::min(most, events.size()); i < events.size(); ++i)
        text += fmt::format("    {:>14.6f} {:<10} {}\n", static_cast<double>(events[i].guest_ns) / 1e9,
                            kind_of(events[i]), words_of(events[i]));
    return text;
}

} // namespace

Result<Recent> read_recent(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    cx_recent_header header;
    std::vector<cx_recent_slot> slots(CX_RECENT_GROUPS * CX_RECENT_SLOTS);
    if (bytes.size() != sizeof header + slots.size() * sizeof(cx_recent_slot))
        return Error{fmt::format("'{}' has {} bytes, not those of what a card did last", path, bytes.size())};
    std::memcpy(&header, bytes.data(), sizeof header);
    std::memcpy(slots.data(), bytes.data() + sizeof header, bytes.size() - sizeof header);
    if (std::memcmp(header.magic, CX_RECENT_MAGIC, sizeof header.magic) != 0 ||
        header.version != CX_RECENT_VERSION || header.slots != slots.size())
        return Error{fmt::format("'{}' is not what a card did last: it starts with other bytes", path)};
    header.port[sizeof header.port - 1] = 0;
    Recent recent;
    recent.port = header.port;
    for (auto [list, index] :
         {std::pair{&recent.commands, CX_RECENT_COMMANDS}, std::pair{&recent.queues, CX_RECENT_QUEUES},
          std::pair{&recent.events, CX_RECENT_EVENTS}}) {
        auto read = group(path, &slots[static_cast<size_t>(index) * CX_RECENT_SLOTS]);
        if (!read.ok()) return read.error();
        *list = read.take();
    }
    return recent;
}

std::string words_of(const Recent &recent, size_t most) {
    return lines("commands", recent.commands, most) +
           lines("doorbells, WQEs and completions", recent.queues, most) +
           lines("events and states", recent.events, most);
}

} // namespace niclab::trace
