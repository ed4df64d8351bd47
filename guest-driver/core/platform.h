/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The platform seam: all that the driver core may ask of the world. The kernel glue implements it in C, a fake implements
 * it in GoogleTest. Plain C types only, so that kernel C, freestanding C++ and hosted C++ read the same header.
 * Calls that may sleep are marked; the others may be made from interrupt and NAPI context.
 * Errors are negative errno values.
 */
#ifndef NICLAB_PLATFORM_H
#define NICLAB_PLATFORM_H

#ifdef __cplusplus
extern "C" {
#endif

struct plat;     /* one device; the glue's or the fake's own */
struct plat_page; /* one (compound) page; the kernel's struct page */

/* ---- Memory ---- */
void *plat_alloc(unsigned long bytes); /* zeroed, may sleep; NULL when there is none */
void plat_free(void *);                /* NULL is fine */

struct plat_dma {
	void *cpu;
	unsigned long long bus;
	unsigned long bytes;
};
/* Coherent memory, zeroed, aligned to its size rounded up to a page. May sleep. */
int plat_dma_alloc(struct plat *, unsigned long bytes, struct plat_dma *out);
void plat_dma_free(struct plat *, struct plat_dma *);

/* A page of 2^order * 4096 bytes holding one reference. `can_sleep` 0 in NAPI context. */
struct plat_page *plat_page_alloc(struct plat *, unsigned order, int can_sleep);
void plat_page_ref(struct plat_page *);    /* one more reference */
void plat_page_unref(struct plat_page *);  /* drop one; the last frees the page */
void *plat_page_address(struct plat_page *);

enum plat_direction { PLAT_TO_DEVICE, PLAT_FROM_DEVICE, PLAT_BOTH };
/* Streaming mappings. A mapping is undone with the same length and direction. */
int plat_map(struct plat *, struct plat_page *, unsigned offset, unsigned bytes, enum plat_direction,
	     unsigned long long *bus);
void plat_unmap(struct plat *, unsigned long long bus, unsigned bytes, enum plat_direction);
void plat_sync_for_cpu(struct plat *, unsigned long long bus, unsigned bytes, enum plat_direction);
void plat_sync_for_device(struct plat *, unsigned long long bus, unsigned bytes, enum plat_direction);

/* ---- Device registers: BAR0. Values are in CPU order, the registers big-endian. ---- */
unsigned plat_bar_bytes(struct plat *); /* the core never touches an offset at or beyond this */
unsigned plat_read32(struct plat *, unsigned offset);
void plat_write32(struct plat *, unsigned offset, unsigned value);
/* One 64-bit store of eight bytes exactly as they stand in memory at `bytes`. */
void plat_ring(struct plat *, unsigned offset, const void *bytes);

/* The card is given up: it may do no more DMA, whatever it does (kernel: clear bus mastering). For good; may sleep. */
void plat_stop_dma(struct plat *);
/* Returns when no interrupt handler of this device is running that started before the call. Sleeps. */
void plat_quiesce_interrupts(struct plat *);

/* ---- Ordering. Each barrier's use names its pair. ---- */
void plat_publish(void);  /* stores to DMA memory before this are seen by the device before those after it */
void plat_acquire(void);  /* loads of DMA memory after this are not made before those before it */
void plat_before_ring(void); /* DMA memory stores before this are seen before a register write after it */

/* ---- Waiting and exclusion ---- */
unsigned long long plat_now_ms(struct plat *);
void plat_sleep_ms(unsigned ms); /* sleeps */

struct plat_mutex;
struct plat_mutex *plat_mutex_new(void); /* may sleep; NULL when there is no memory */
void plat_mutex_free(struct plat_mutex *);
void plat_mutex_lock(struct plat_mutex *); /* sleeps */
void plat_mutex_unlock(struct plat_mutex *);

struct plat_event; /* counts like a semaphore: signals are not lost */
struct plat_event *plat_event_new(void); /* may sleep */
void plat_event_free(struct plat_event *);
void plat_event_signal(struct plat_event *);
int plat_event_wait(struct plat_event *, unsigned ms); /* sleeps; 0, or -ETIMEDOUT */

/* ---- Log. One line without newline; rate-limited by the glue. ---- */
enum plat_level { PLAT_ERROR, PLAT_WARN, PLAT_INFO, PLAT_DEBUG };
void plat_log(struct plat *, enum plat_level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif
