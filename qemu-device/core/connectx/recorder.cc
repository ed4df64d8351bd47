// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "connectx/cx_core.h"
#include "connectx/record.h"

using niclab::usize;
using niclab::connectx::RecordEvent;
using niclab::connectx::RecordHeader;

struct cx_recorder {
    struct Close {
        void operator()(FILE *open) const { fclose(open); }
    };
    std::unique_ptr<FILE, Close> file;
    uint64_t written = 0;
    bool ended = false; // full, or a write failed

    // After a write that failed the file ends in the middle of a record, as readers must expect anyway.
    void put(const void *from, usize bytes) {
        if (ended || bytes == 0) return;
        ended = fwrite(from, 1, bytes, file.get()) != bytes;
        written += bytes;
    }
    void put_event(const RecordEvent &event, const void *bytes) {
        static constexpr char kZeros[8] = {};
        put(&event, sizeof event);
        put(bytes, event.bytes);
        put(kZeros, niclab::connectx::record_padding(event.bytes));
    }
};

extern "C" {

struct cx_recorder *cx_recorder_open(const char *path, const char *port, uint64_t guest_ns, uint64_t unix_ns,
                                     char *error, size_t error_bytes) {
    auto recorder = std::make_unique<cx_recorder>();
    recorder->file.reset(fopen(path, "wbe"));
    if (!recorder->file) {
        snprintf(error, error_bytes, "cannot record to '%s': %s", path, strerror(errno));
        return nullptr;
    }
    RecordHeader header = {};
    std::copy(std::begin(RecordHeader::kMagic), std::end(RecordHeader::kMagic), header.magic);
    header.version = RecordHeader::kVersion;
    header.header_bytes = sizeof header;
    header.guest_ns = guest_ns;
    header.unix_ns = unix_ns;
    snprintf(header.port, sizeof header.port, "%s", port);
    recorder->put(&header, sizeof header);
    cx_recorder_flush(recorder.get());
    return recorder.release();
}

void cx_recorder_add(struct cx_recorder *recorder, uint64_t guest_ns, enum cx_trace_event kind, uint64_t a,
                     uint64_t b, uint64_t c, const void *bytes, size_t length) {
    if (recorder->ended) return;
    RecordEvent event = {};
    event.guest_ns = guest_ns;
    event.kind = static_cast<uint16_t>(kind);
    event.length = static_cast<uint32_t>(length);
    event.bytes = static_cast<uint32_t>(std::min<size_t>(length, RecordEvent::kMostBytes));
    event.a = a;
    event.b = b;
    event.c = c;
    recorder->put_event(event, bytes);
    if (recorder->written < niclab::connectx::kMostRecordBytes) return;
    RecordEvent full = {};
    full.guest_ns = guest_ns;
    full.kind = RecordEvent::kFull;
    recorder->put(&full, sizeof full);
    recorder->ended = true;
}

void cx_recorder_flush(struct cx_recorder *recorder) {
    if (fflush(recorder->file.get()) != 0) recorder->ended = true;
}

void cx_recorder_close(struct cx_recorder *recorder) { delete recorder; }
}
