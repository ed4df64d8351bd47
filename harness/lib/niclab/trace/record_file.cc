// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/trace/record_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "connectx/cx_core.h"
#include "connectx/record.h"

namespace niclab::trace {

using connectx::record_padding;
using connectx::RecordEvent;
using connectx::RecordHeader;

Result<RecordFile> RecordFile::open(const std::string &path) {
    RecordFile record;
    record.path_ = path;
    record.file_.reset(fopen(path.c_str(), "rbe"));
    if (!record.file_) return Error{fmt::format("cannot open '{}': {}", path, std::strerror(errno))};
    RecordHeader header;
    if (fread(&header, sizeof header, 1, record.file_.get()) != 1)
        return Error{fmt::format("'{}' is too short to be a record of a card", path)};
    if (std::memcmp(header.magic, RecordHeader::kMagic, sizeof header.magic) != 0)
        return Error{fmt::format("'{}' is not a record of a card: it starts with other bytes", path)};
    if (header.version != RecordHeader::kVersion || header.header_bytes != sizeof header)
        return Error{fmt::format("'{}' is a record of version {}; this program reads version {}", path,
                                 header.version, RecordHeader::kVersion)};
    header.port[sizeof header.port - 1] = 0;
    record.port_ = header.port;
    record.guest_ns_ = header.guest_ns;
    record.unix_ns_ = header.unix_ns;
    record.at_ = sizeof header;
    return record;
}

Error RecordFile::damaged(const std::string &why) const {
    return Error{fmt::format("'{}' is damaged at byte {}: {}", path_, at_, why)};
}

Result<std::optional<Event>> RecordFile::next() {
    RecordEvent raw;
    if (full_) return std::optional<Event>();
    // The card may have written more since the last look.
    clearerr(file_.get());
    if (fseek(file_.get(), at_, SEEK_SET) != 0) return damaged("it cannot be read");
    size_t got = fread(&raw, 1, sizeof raw, file_.get());
    cut_off_ = got != 0 && got != sizeof raw;
    if (got != sizeof raw) return std::optional<Event>();
    if (raw.kind == RecordEvent::kFull) {
        full_ = true;
        return std::optional<Event>();
    }
    if (raw.kind >= CX_TRACE_KINDS) return damaged(fmt::format("there is no event of kind {}", raw.kind));
    if (raw.bytes > RecordEvent::kMostBytes || raw.bytes > raw.length)
        return damaged(fmt::format("{} bytes of {} are announced", raw.bytes, raw.length));
    Event event{raw.guest_ns, raw.kind, raw.length, raw.a, raw.b, raw.c, std::vector<u8>(raw.bytes)};
    u8 padding[8];
    size_t fill = record_padding(raw.bytes);
    bool whole = fread(event.bytes.data(), 1, raw.bytes, file_.get()) == raw.bytes &&
                 fread(padding, 1, fill, file_.get()) == fill;
    cut_off_ = !whole;
    if (!whole) return std::optional<Event>();
    at_ += static_cast<long>(sizeof raw + raw.bytes + fill);
    return std::optional<Event>(std::move(event));
}

void sort_by_time(std::vector<Event> &events) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event &a, const Event &b) { return a.guest_ns < b.guest_ns; });
}

Result<std::vector<Event>> read_all(std::vector<RecordFile> &files) {
    std::vector<Event> events;
    for (size_t port = 0; port < files.size(); ++port)
        while (auto event = NICLAB_TRY(files[port].next())) {
            event->port = port;
            events.push_back(std::move(*event));
        }
    sort_by_time(events);
    return events;
}

} // namespace niclab::trace
