/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the card did last, as a file of fixed size in shared memory: it is there after a crash of the guest
 * and also after the end of the program that holds the card. Numbers are little-endian.
 */
#ifndef NICLAB_CX_RECENT_H
#define NICLAB_CX_RECENT_H

#include "cx_core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CX_RECENT_MAGIC "niclabrr"
#define CX_RECENT_VERSION 1
#define CX_RECENT_SLOTS 64 /* of each group, so that traffic does not push out the commands */
#define CX_RECENT_BYTES 208

enum cx_recent_group {
    CX_RECENT_COMMANDS,
    CX_RECENT_QUEUES, /* doorbells, WQEs, completions */
    CX_RECENT_EVENTS, /* events, states, faults, what the guest did wrong */
    CX_RECENT_GROUPS,
};

struct cx_recent_header {
    char magic[8];
    uint32_t version;
    uint32_t slots; /* in all groups together; they follow this header, group by group */
    uint32_t slot_bytes;
    uint32_t reserved;
    char port[32]; /* name of the card; ends with a zero byte */
    uint64_t reserved_too;
};

struct cx_recent_slot {
    uint64_t serial; /* 0: empty, or being written; else it grows with time */
    uint64_t guest_ns;
    uint16_t kind; /* enum cx_trace_event */
    uint16_t reserved;
    uint32_t length; /* of what happened; `bytes` holds its beginning */
    uint64_t a, b, c;
    uint8_t bytes[CX_RECENT_BYTES];
};

struct cx_recent;

/* Makes the file. NULL, with one sentence in `error`, when it cannot be made. */
struct cx_recent *cx_recent_open(const char *path, const char *port, char *error, size_t error_bytes);
/* The group that keeps this kind, or CX_RECENT_GROUPS for none. */
enum cx_recent_group cx_recent_group_of(enum cx_trace_event kind);
void cx_recent_add(struct cx_recent *recent, uint64_t guest_ns, enum cx_trace_event kind, uint64_t a,
                   uint64_t b, uint64_t c, const void *bytes, size_t length);
void cx_recent_close(struct cx_recent *recent);

#ifdef __cplusplus
}
#endif

#endif
