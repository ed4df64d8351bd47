// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/recent.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static_assert(sizeof(cx_recent_header) == 64 && sizeof(cx_recent_slot) == 256);

namespace {

struct File {
    cx_recent_header header;
    cx_recent_slot slots[CX_RECENT_GROUPS][CX_RECENT_SLOTS];
};

// Space is taken at once: a disk that fills up later would end the program at a store into the mapping.
void *map_new_file(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return MAP_FAILED;
    int refused = posix_fallocate(file, 0, sizeof(File));
    void *memory = MAP_FAILED;
    if (refused == 0) memory = mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int why = refused != 0 ? refused : errno;
    close(file);
    errno = why;
    return memory;
}

} // namespace

struct cx_recent {
    struct Unmap {
        void operator()(File *mapped) const { munmap(mapped, sizeof *mapped); }
    };
    std::unique_ptr<File, Unmap> file;
    uint64_t serial = 0;
    unsigned next[CX_RECENT_GROUPS] = {};
};

extern "C" {

struct cx_recent *cx_recent_open(const char *path, const char *port, char *error, size_t error_bytes) {
    void *memory = map_new_file(path);
    if (memory == MAP_FAILED) {
        snprintf(error, error_bytes, "cannot keep what happens in '%s': %s", path, strerror(errno));
        return nullptr;
    }
    auto recent = std::make_unique<cx_recent>();
    recent->file.reset(static_cast<File *>(memory));
    cx_recent_header &header = recent->file->header;
    std::memcpy(header.magic, CX_RECENT_MAGIC, sizeof header.magic);
    header.version = CX_RECENT_VERSION;
    header.slots = CX_RECENT_GROUPS * CX_RECENT_SLOTS;
    header.slot_bytes = sizeof(cx_recent_slot);
    snprintf(header.port, sizeof header.port, "%s", port);
    return recent.release();
}

enum cx_recent_group cx_recent_group_of(enum cx_trace_event kind) {
    switch (kind) {
    case CX_TRACE_COMMAND:
    case CX_TRACE_COMMAND_DONE:
        return CX_RECENT_COMMANDS;
    case CX_TRACE_DOORBELL:
    case CX_TRACE_WQE:
    case CX_TRACE_COMPLETION:
        return CX_RECENT_QUEUES;
    case CX_TRACE_STATE:
    case CX_TRACE_EVENT:
    case CX_TRACE_DMA_FAULT:
    case CX_TRACE_GUEST_ERROR:
        return CX_RECENT_EVENTS;
    default:
        return CX_RECENT_GROUPS;
    }
}

void cx_recent_add(struct cx_recent *recent, uint64_t guest_ns, enum cx_trace_event kind, uint64_t a,
                   uint64_t b, uint64_t c, const void *bytes, size_t length) {
    enum cx_recent_group group = cx_recent_group_of(kind);
    if (group == CX_RECENT_GROUPS) return;
    cx_recent_slot &slot = recent->file->slots[group][recent->next[group]++ % CX_RECENT_SLOTS];
    std::atomic_ref<uint64_t> serial(slot.serial);
    serial.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    slot.guest_ns = guest_ns;
    slot.kind = static_cast<uint16_t>(kind);
    slot.length = static_cast<uint32_t>(length);
    slot.a = a;
    slot.b = b;
    slot.c = c;
    if (length != 0) std::memcpy(slot.bytes, bytes, std::min<size_t>(length, CX_RECENT_BYTES));
    serial.store(++recent->serial, std::memory_order_release);
}

void cx_recent_close(struct cx_recent *recent) { delete recent; }
}
