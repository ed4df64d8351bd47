/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device seam: everything that passes between a ConnectX device core and its host.
 *
 * QEMU implements the host once in C; tests implement it in GoogleTest. The core knows no QEMU type, the host
 * makes no decision about the device. All calls into one core come from one thread at a time (QEMU: under its
 * big lock). The core may call any host operation from within any call into it.
 */
#ifndef NICLAB_CX_CORE_H
#define NICLAB_CX_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cx_core;

/* What a trace call reports; the comment names its three arguments, and the bytes that come with it. */
enum cx_trace_event {
    CX_TRACE_COMMAND,      /* opcode, op_mod, queue entry; the input */
    CX_TRACE_COMMAND_DONE, /* opcode, status, syndrome; the output, whose status is not written yet */
    CX_TRACE_DOORBELL,     /* offset in BAR0, value, size */
    CX_TRACE_STATE,        /* kind of object (enum cx_object), number, new state */
    CX_TRACE_WQE,          /* SQ number, WQE counter, opcode << 8 | DS count; the WQE */
    CX_TRACE_COMPLETION,   /* CQ number, opcode << 8 | syndrome, WQE counter; the CQE */
    CX_TRACE_EVENT,        /* EQ number, event type << 8 | sub-type, data; the EQE without owner */
    CX_TRACE_INTERRUPT,    /* MSI-X vector, EQ number, 0 */
    CX_TRACE_FRAME_OUT,    /* bytes, SQ number, 0; the frame */
    CX_TRACE_FRAME_IN,     /* bytes, RQ number or 0 when dropped, drop reason (index of its counter) or 0 */
    CX_TRACE_DMA_FAULT,    /* address, bytes, 1 for a write */
    CX_TRACE_DMA,          /* address, bytes, purpose << 1 | 1 for a write */
    CX_TRACE_WIRE,         /* bytes, 0, 0; a frame as it comes from the wire */
    CX_TRACE_GUEST_ERROR,  /* value, 0, 0; what broke. Hosts record it; the core calls guest_error() */
    CX_TRACE_KINDS,        /* how many there are */
};

enum cx_object { CX_EQ, CX_CQ, CX_SQ, CX_RQ, CX_PORT, CX_HCA };

struct cx_host_ops {
    /* Access guest memory through the device's own address space (the vIOMMU). 0, or -errno when any byte
     * faulted. */
    int (*dma_read)(void *host, uint64_t iova, void *dst, size_t len);
    int (*dma_write)(void *host, uint64_t iova, const void *src, size_t len);
    /* The same for an entry that the guest polls: its last four bytes, aligned in guest memory, become
     * visible in one piece and after all others. `len` is 8 or more and a multiple of 4. */
    int (*dma_write_entry)(void *host, uint64_t iova, const void *src, size_t len);
    /* Raise MSI-X vector `vector`; it is below cx_config.vectors. */
    void (*interrupt)(void *host, unsigned vector);
    /* One Ethernet frame without FCS leaves the port. The memory is the core's and valid during the call. */
    void (*frame_out)(void *host, const void *frame, size_t len);
    /* Guest time in nanoseconds; never goes back. */
    uint64_t (*now_ns)(void *host);
    /* Call cx_core_timer() once now_ns() has reached `at_ns`, from outside any call into the core. There is
     * one such wake-up: a new time replaces the old one, CX_TIMER_OFF cancels it. */
    void (*set_timer)(void *host, uint64_t at_ns);
    /* The guest broke a rule of the programming interface; `what` is a constant string. */
    void (*guest_error)(void *host, const char *what, uint64_t value);
    /* Called only while cx_core_set_tracing() is on. */
    void (*trace)(void *host, enum cx_trace_event event, uint64_t a, uint64_t b, uint64_t c,
                  const void *bytes, size_t len);
};

struct cx_config {
    uint8_t mac[6];
    unsigned queues;  /* completion vectors offered: 1..63 */
    unsigned vectors; /* size of the MSI-X table: queues + 1 or more */
    /* What a send WQE must hold inline: 0 nothing, 1 the Ethernet header, 2 also IP, 3 also TCP or UDP. */
    unsigned inline_headers;
    unsigned speed_mbps;  /* 1000, 10000, 25000, 40000, 50000, 100000 */
    bool real_time_clock; /* offer time stamps in seconds and nanoseconds, and a clock that can be set */
};

#define CX_TIMER_OFF UINT64_MAX
#define CX_BAR_BYTES (32u << 20) /* BAR0: initialization segment, then doorbell pages */
#define CX_PCI_VENDOR 0x15b3
#define CX_PCI_DEVICE 0x101d
#define CX_VECTORS 64
#define CX_DEFAULT_QUEUES 8
#define CX_DEFAULT_SPEED 100000

/*
 * Make a core in its power-on state. Returns NULL when a configuration value is out of range and writes one
 * sentence naming the property, its value and its range into `error`.
 */
struct cx_core *cx_core_new(const struct cx_host_ops *ops, void *host, const struct cx_config *config,
                            char *error, size_t error_bytes);
void cx_core_free(struct cx_core *core);

/* Back to power-on: forgets queues, pages, keys and tables; no DMA or interrupt follows. FLR, bus reset, cold
 * reset. */
void cx_core_reset(struct cx_core *core);

/*
 * BAR0 access of 1, 2, 4 or 8 bytes. Values are big-endian integers: the most significant byte is the one at
 * the lowest address (QEMU: DEVICE_BIG_ENDIAN). Work that a doorbell starts is done before cx_core_write()
 * returns.
 */
uint64_t cx_core_read(struct cx_core *core, uint64_t offset, unsigned size);
void cx_core_write(struct cx_core *core, uint64_t offset, uint64_t value, unsigned size);

/* One frame without FCS arrives from the wire. Drops are counted by the core; the frame is always consumed.
 */
void cx_core_frame_in(struct cx_core *core, const void *frame, size_t len);

/* The wake-up that was asked for with set_timer(). One that comes early or was replaced does no harm. */
void cx_core_timer(struct cx_core *core);

/* The cable is plugged (true) or pulled. Power-on: plugged. Survives reset. */
void cx_core_set_cable(struct cx_core *core, bool plugged);
/* The cable's module is in the port's cage (true) or taken out. Power-on: in. Survives reset. */
void cx_core_set_module(struct cx_core *core, bool plugged);
bool cx_core_module(const struct cx_core *core);
/* Of the chip, in thousandths of a degree. Kept within -128 to 255 degrees and in steps of 125. */
void cx_core_set_temperature(struct cx_core *core, int millidegrees);
int cx_core_temperature(const struct cx_core *core);
/* So many of the next frames arrive with a wrong checksum. */
void cx_core_damage_frames(struct cx_core *core, uint32_t frames);
uint32_t cx_core_damaged_frames(const struct cx_core *core);
/* Trouble in the health buffer: a syndrome of the manual, 0 for none. A fatal one asks software for a reset,
 * which ends it. */
void cx_core_set_health(struct cx_core *core, uint8_t syndrome, bool fatal);
uint8_t cx_core_health(const struct cx_core *core, bool fatal);
/* As cx_config.inline_headers; counts from the next time a driver takes the card over. False, with one
 * sentence in `error`, when out of range. */
bool cx_core_set_inline_headers(struct cx_core *core, unsigned headers, char *error, size_t error_bytes);
/* As cx_config.real_time_clock; counts from the next time a driver takes the card over. */
void cx_core_set_real_time_clock(struct cx_core *core, bool on);
/* Level at the input for pulses. Power-on: low. Survives reset. */
void cx_core_set_pulse_input(struct cx_core *core, bool high);
bool cx_core_pulse_input(const struct cx_core *core);
/* The port's indicator light blinks. */
bool cx_core_beacon(const struct cx_core *core);
/* True when the port is up: admin up, cable plugged at both ends. */
bool cx_core_link_up(const struct cx_core *core);

void cx_core_set_tracing(struct cx_core *core, bool on);

/* Counters by name, for monitors and tests. Index 0..count-1; names are unique, constant, lower_snake. */
size_t cx_core_counter_count(void);
const char *cx_core_counter_name(size_t index);
uint64_t cx_core_counter(const struct cx_core *core, size_t index);

/* What can be set at the card from outside, and read. */
struct cx_property {
    const char *name, *initially, *meaning;
};
size_t cx_core_property_count(void);
const struct cx_property *cx_core_property(size_t index);

/*
 * A record of trace calls in a file (record.h). Opening fails with one sentence in `error`. What is added is
 * seen by readers of the file after a flush; a file that grows too long takes no more.
 */
struct cx_recorder;
struct cx_recorder *cx_recorder_open(const char *path, const char *port, uint64_t guest_ns, uint64_t unix_ns,
                                     char *error, size_t error_bytes);
void cx_recorder_add(struct cx_recorder *recorder, uint64_t guest_ns, enum cx_trace_event kind, uint64_t a,
                     uint64_t b, uint64_t c, const void *bytes, size_t length);
void cx_recorder_flush(struct cx_recorder *recorder);
void cx_recorder_close(struct cx_recorder *recorder);

/* What a DMA access is for, by the purpose of CX_TRACE_DMA. */
const char *cx_core_dma_purpose(unsigned purpose);

/* Name of a command opcode as the manual prints it, or "UNKNOWN". */
const char *cx_core_command_name(unsigned opcode);

#ifdef __cplusplus
}
#endif

#endif
