// SPDX-License-Identifier: GPL-2.0-or-later
// A record of what the card did, as a file: a header, then events. Numbers are little-endian. The recorder
// writes it, the harness reads it.
#pragma once

#include <bit>

#include "spec/types.h"

namespace niclab::connectx {

struct RecordHeader {
    static constexpr char kMagic[8] = {'n', 'i', 'c', 'l', 'a', 'b', 'r', 'c'};
    static constexpr u32 kVersion = 1;
    char magic[8];
    u32 version;
    u32 header_bytes;      // the first event starts there
    u64 guest_ns, unix_ns; // one moment by the guest's clock and by the host's
    char port[32];         // name of the card; ends with a zero byte
};

// An event and the bytes that belong to it, filled up to a multiple of 8.
struct RecordEvent {
    static constexpr u16 kFull = 0xffff; // as kind: the file has reached its limit, nothing follows
    static constexpr u32 kMostBytes = 64u << 10;
    u64 guest_ns;
    u16 kind; // enum cx_trace_event
    u16 reserved;
    u32 length; // of what happened
    u32 bytes;  // of it that follow, at most kMostBytes
    u32 reserved_too;
    u64 a, b, c; // as the kind says
};
constexpr usize record_padding(usize bytes) { return (8 - bytes % 8) % 8; }
constexpr u64 kMostRecordBytes = u64{1} << 30; // a forgotten record must not fill the disk

static_assert(sizeof(RecordHeader) == 64 && sizeof(RecordEvent) == 48);
static_assert(std::endian::native == std::endian::little);

} // namespace niclab::connectx
