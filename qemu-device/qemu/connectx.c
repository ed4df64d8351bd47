/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ConnectX-6 Dx Ethernet port: PCI, MSI-X, net and QOM side.
 *
 * Everything the card decides is decided in the device core behind cx_core.h;
 * this file only connects that core to QEMU.
 */

#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_device.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_aer.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "net/net.h"
#include "qom/object.h"
#include "system/system.h"
#include "connectx_tlb.h"
#include "cx_core.h"
#include "recent.h"
#include "trace.h"

#define TYPE_CONNECTX "connectx"
OBJECT_DECLARE_SIMPLE_TYPE(ConnectxState, CONNECTX)

#define CONNECTX_BAR       0
#define CONNECTX_MSIX_BAR  2
#define CONNECTX_MSIX_PBA  (CX_VECTORS * PCI_MSIX_ENTRY_SIZE)
#define CONNECTX_MSIX_SIZE (4 * KiB)

#define CONNECTX_CAP_PM    0x40
#define CONNECTX_CAP_EXP   0x60
#define CONNECTX_CAP_MSIX  0x9c
#define CONNECTX_CAP_AER   0x100

struct ConnectxState {
    PCIDevice parent_obj;

    MemoryRegion bar;
    MemoryRegion msix_bar;
    NICState *nic;
    const char *name;    /* tells two ports apart in traces and in the log */
    NICConf conf;
    uint32_t queues;
    uint32_t inline_headers;
    uint32_t speed;
    bool real_time_clock;

    struct connectx_tlb tlb;
    struct cx_core *core;
    struct cx_recorder *recorder; /* NULL: nothing is recorded */
    char *record;                 /* its file */
    struct cx_recent *recent;     /* NULL: what came last is not kept */
    char *recent_path;
    QEMUTimer *timer;    /* the core's one wake-up */
    unsigned depth;      /* calls into the core that have not returned */
    bool reset_pending;  /* a reset came while depth was not 0 */
};

/* --- what the core asks of its host -------------------------------------- */

static size_t connectx_page_offset(uint64_t iova)
{
    return iova & ((1 << CONNECTX_TLB_PAGE_BITS) - 1);
}

static int connectx_dma_read(void *host, uint64_t iova, void *dst, size_t len)
{
    ConnectxState *s = host;
    MemoryRegionCache *page = connectx_tlb_lookup(&s->tlb, iova, len, false);

    if (page) {
        smp_mb(); /* what this access follows was seen before, as on a bus */
        memcpy(dst, page->ptr + connectx_page_offset(iova), len);
        return 0;
    }
    if (pci_dma_read(&s->parent_obj, iova, dst, len) == MEMTX_OK) {
        return 0;
    }
    connectx_tlb_fault(&s->tlb, iova, false);
    return -EFAULT;
}

static int connectx_write_long_way(ConnectxState *s, uint64_t iova,
                                   const void *src, size_t len)
{
    if (pci_dma_write(&s->parent_obj, iova, src, len) == MEMTX_OK) {
        return 0;
    }
    connectx_tlb_fault(&s->tlb, iova, true);
    return -EFAULT;
}

static int connectx_dma_write(void *host, uint64_t iova, const void *src,
                              size_t len)
{
    ConnectxState *s = host;
    MemoryRegionCache *page = connectx_tlb_lookup(&s->tlb, iova, len, true);
    size_t offset = connectx_page_offset(iova);

    if (page) {
        smp_mb();
        memcpy(page->ptr + offset, src, len);
        address_space_cache_invalidate(page, offset, len);
        return 0;
    }
    return connectx_write_long_way(s, iova, src, len);
}

/*
 * A memory copy may store its pieces in any order, so the last word, aligned
 * and in one piece, follows a barrier.
 */
static int connectx_dma_write_entry(void *host, uint64_t iova,
                                    const void *src, size_t len)
{
    ConnectxState *s = host;
    const size_t body = len - sizeof(uint32_t);
    const uint8_t *last = (const uint8_t *)src + body;
    MemoryRegionCache *page = connectx_tlb_lookup(&s->tlb, iova, len, true);
    size_t offset = connectx_page_offset(iova);

    if (!page) {
        int ret = connectx_write_long_way(s, iova, src, body);

        return ret ? ret : connectx_write_long_way(s, iova + body, last,
                                                   sizeof(uint32_t));
    }
    smp_mb();
    memcpy(page->ptr + offset, src, body);
    smp_wmb();
    qatomic_set((uint32_t *)(page->ptr + offset + body),
                (uint32_t)ldl_he_p(last));
    address_space_cache_invalidate(page, offset, len);
    return 0;
}

static void connectx_interrupt(void *host, unsigned vector)
{
    msix_notify(PCI_DEVICE(host), vector);
}

static void connectx_frame_out(void *host, const void *frame, size_t len)
{
    ConnectxState *s = host;

    if (s->nic) { /* gone when the guest's own DMA has unplugged the card */
        qemu_send_packet(qemu_get_queue(s->nic), frame, len);
    }
}

static uint64_t connectx_now_ns(void *host)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* Not after the unplug: the core lives on until the object goes. */
static void connectx_set_timer(void *host, uint64_t at_ns)
{
    ConnectxState *s = host;

    if (at_ns == CX_TIMER_OFF || !s->nic) {
        timer_del(s->timer);
    } else {
        timer_mod_ns(s->timer, MIN(at_ns, INT64_MAX));
    }
}

static void connectx_guest_error(void *host, const char *what, uint64_t value)
{
    ConnectxState *s = host;

    trace_connectx_guest_error(s->name, what, value);
    if (s->recent) {
        cx_recent_add(s->recent, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL),
                      CX_TRACE_GUEST_ERROR, value, 0, 0, what, strlen(what));
    }
    if (s->recorder) {
        cx_recorder_add(s->recorder, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL),
                        CX_TRACE_GUEST_ERROR, value, 0, 0, what, strlen(what));
    }
    qemu_log_mask(LOG_GUEST_ERROR, "%s: %s: 0x%" PRIx64 "\n",
                  s->name, what, value);
}

static const char *connectx_object_name(uint64_t kind)
{
    static const char *const names[] = {
        [CX_EQ] = "eq", [CX_CQ] = "cq", [CX_SQ] = "sq",
        [CX_RQ] = "rq", [CX_PORT] = "port", [CX_HCA] = "hca",
    };

    return kind < ARRAY_SIZE(names) ? names[kind] : "?";
}

static void connectx_trace(void *host, enum cx_trace_event event,
                           uint64_t a, uint64_t b, uint64_t c,
                           const void *bytes, size_t len)
{
    ConnectxState *s = host;
    const char *name = s->name;

    if (s->recent && cx_recent_group_of(event) != CX_RECENT_GROUPS) {
        cx_recent_add(s->recent, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL),
                      event, a, b, c, bytes, len);
    }
    if (s->recorder) {
        cx_recorder_add(s->recorder, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL),
                        event, a, b, c, bytes, len);
    }
    switch (event) {
    case CX_TRACE_COMMAND:
        trace_connectx_command(name, cx_core_command_name(a), a, b, c);
        break;
    case CX_TRACE_COMMAND_DONE:
        trace_connectx_command_done(name, cx_core_command_name(a), b, c);
        break;
    case CX_TRACE_DOORBELL:
        trace_connectx_doorbell(name, a, b, c);
        break;
    case CX_TRACE_STATE:
        trace_connectx_state(name, connectx_object_name(a), b, c);
        break;
    case CX_TRACE_WQE:
        trace_connectx_wqe(name, a, b, c >> 8, c & 0xff);
        break;
    case CX_TRACE_COMPLETION:
        trace_connectx_completion(name, a, b >> 8, b & 0xff, c);
        break;
    case CX_TRACE_EVENT:
        trace_connectx_event(name, a, b >> 8, b & 0xff, c);
        break;
    case CX_TRACE_INTERRUPT:
        trace_connectx_interrupt(name, a, b);
        break;
    case CX_TRACE_FRAME_OUT:
        trace_connectx_frame_out(name, a, b);
        break;
    case CX_TRACE_FRAME_IN:
        trace_connectx_frame_in(name, a, b, c);
        break;
    case CX_TRACE_DMA_FAULT:
        trace_connectx_dma_fault(name, a, b, c);
        break;
    case CX_TRACE_DMA:
        trace_connectx_dma(name, cx_core_dma_purpose(c >> 1), a, b, c & 1);
        break;
    case CX_TRACE_WIRE:
        trace_connectx_wire(name, a);
        break;
    case CX_TRACE_GUEST_ERROR:
    case CX_TRACE_KINDS:
        break;
    }
}

/* Tracing may be switched while the VM runs, and nobody tells the device. */
static void connectx_refresh_tracing(ConnectxState *s)
{
    cx_core_set_tracing(s->core, s->recorder || s->recent ||
        (unlikely(trace_events_enabled_count) && (
        trace_event_get_state_backends(TRACE_CONNECTX_COMMAND) ||
        trace_event_get_state_backends(TRACE_CONNECTX_COMMAND_DONE) ||
        trace_event_get_state_backends(TRACE_CONNECTX_DOORBELL) ||
        trace_event_get_state_backends(TRACE_CONNECTX_STATE) ||
        trace_event_get_state_backends(TRACE_CONNECTX_WQE) ||
        trace_event_get_state_backends(TRACE_CONNECTX_COMPLETION) ||
        trace_event_get_state_backends(TRACE_CONNECTX_EVENT) ||
        trace_event_get_state_backends(TRACE_CONNECTX_INTERRUPT) ||
        trace_event_get_state_backends(TRACE_CONNECTX_FRAME_OUT) ||
        trace_event_get_state_backends(TRACE_CONNECTX_FRAME_IN) ||
        trace_event_get_state_backends(TRACE_CONNECTX_DMA_FAULT) ||
        trace_event_get_state_backends(TRACE_CONNECTX_DMA) ||
        trace_event_get_state_backends(TRACE_CONNECTX_WIRE))));
}

static const struct cx_host_ops connectx_host_ops = {
    .dma_read = connectx_dma_read,
    .dma_write = connectx_dma_write,
    .dma_write_entry = connectx_dma_write_entry,
    .interrupt = connectx_interrupt,
    .frame_out = connectx_frame_out,
    .now_ns = connectx_now_ns,
    .set_timer = connectx_set_timer,
    .guest_error = connectx_guest_error,
    .trace = connectx_trace,
};

/* --- calls into the core -------------------------------------------------- */

/*
 * The card's DMA may reach the configuration space of its own function and
 * reset it, so a reset has to wait until the core has returned.
 */
static void connectx_enter(ConnectxState *s)
{
    s->depth++;
    connectx_refresh_tracing(s);
}

static void connectx_leave(ConnectxState *s)
{
    s->depth--;
    if (s->depth == 0 && s->recorder) {
        cx_recorder_flush(s->recorder);
    }
    if (s->depth == 0 && s->reset_pending) {
        s->reset_pending = false;
        cx_core_reset(s->core);
    }
}

/*
 * For what comes from the monitor or from a timer: nothing has engaged the
 * guard yet that keeps the card's DMA out of its own BAR.
 */
static bool connectx_enter_guarded(ConnectxState *s)
{
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;

    guard->engaged_in_io = true;
    connectx_enter(s);
    return engaged;
}

static void connectx_leave_guarded(ConnectxState *s, bool engaged)
{
    connectx_leave(s);
    DEVICE(s)->mem_reentrancy_guard.engaged_in_io = engaged;
}

static void connectx_timer(void *opaque)
{
    ConnectxState *s = opaque;
    bool engaged = connectx_enter_guarded(s);

    trace_connectx_timer(s->name);
    cx_core_timer(s->core);
    connectx_leave_guarded(s, engaged);
}

/* --- BAR0 ---------------------------------------------------------------- */

static uint64_t connectx_bar_read(void *opaque, hwaddr offset, unsigned size)
{
    ConnectxState *s = opaque;
    uint64_t value;

    connectx_enter(s);
    value = cx_core_read(s->core, offset, size);
    connectx_leave(s);
    trace_connectx_read(s->name, offset, size, value);
    return value;
}

static void connectx_bar_write(void *opaque, hwaddr offset, uint64_t value,
                               unsigned size)
{
    ConnectxState *s = opaque;

    trace_connectx_write(s->name, offset, size, value);
    connectx_enter(s);
    cx_core_write(s->core, offset, value, size);
    connectx_leave(s);
}

/* Eight bytes in one piece: a doorbell written whole must arrive whole. */
static const MemoryRegionOps connectx_bar_ops = {
    .read = connectx_bar_read,
    .write = connectx_bar_write,
    .endianness = DEVICE_BIG_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* --- net ----------------------------------------------------------------- */

static ssize_t connectx_receive(NetClientState *nc, const uint8_t *frame,
                                size_t len)
{
    ConnectxState *s = qemu_get_nic_opaque(nc);

    connectx_enter(s);
    cx_core_frame_in(s->core, frame, len);
    connectx_leave(s);
    return len;
}

static void connectx_link_status_changed(NetClientState *nc)
{
    ConnectxState *s = qemu_get_nic_opaque(nc);
    bool engaged;

    trace_connectx_cable(s->name, !nc->link_down);
    engaged = connectx_enter_guarded(s);
    cx_core_set_cable(s->core, !nc->link_down);
    connectx_leave_guarded(s, engaged);
}

static NetClientInfo connectx_net_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .receive = connectx_receive,
    .link_status_changed = connectx_link_status_changed,
};

/* --- PCI ----------------------------------------------------------------- */

static void connectx_config_write(PCIDevice *dev, uint32_t address,
                                  uint32_t value, int len)
{
    pci_default_write_config(dev, address, value, len);
    pcie_cap_flr_write_config(dev, address, value, len);
    pcie_aer_write_config(dev, address, value, len);
}

/* The card keeps its state in D3hot. */
static int connectx_init_pm(PCIDevice *dev, Error **errp)
{
    int cap = pci_pm_init(dev, CONNECTX_CAP_PM, errp);

    if (cap < 0) {
        return cap;
    }
    pci_set_word(dev->config + cap + PCI_PM_PMC, PCI_PM_CAP_VER_1_1);
    pci_set_word(dev->config + cap + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
    pci_set_word(dev->wmask + cap + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
    return 0;
}

static int connectx_init_express(PCIDevice *dev, Error **errp)
{
    int cap = pcie_endpoint_cap_init(dev, CONNECTX_CAP_EXP);

    if (cap < 0) {
        error_setg(errp, "connectx: no room for the PCI Express capability");
        return cap;
    }
    pcie_cap_fill_link_ep_usp(dev, QEMU_PCI_EXP_LNK_X16, QEMU_PCI_EXP_LNK_16GT);
    pcie_cap_deverr_init(dev);
    pcie_cap_lnkctl_init(dev);
    pcie_cap_flr_init(dev);
    return 0;
}

/* The guest chooses which vectors its queues use, so all of them are in use. */
static int connectx_init_msix(ConnectxState *s, Error **errp)
{
    PCIDevice *dev = PCI_DEVICE(s);
    int ret = msix_init(dev, CX_VECTORS,
                        &s->msix_bar, CONNECTX_MSIX_BAR, 0,
                        &s->msix_bar, CONNECTX_MSIX_BAR, CONNECTX_MSIX_PBA,
                        CONNECTX_CAP_MSIX, errp);

    if (ret < 0) {
        return ret;
    }
    for (unsigned vector = 0; vector < CX_VECTORS; vector++) {
        msix_vector_use(dev, vector);
    }
    return 0;
}

static void connectx_exit_msix(ConnectxState *s)
{
    PCIDevice *dev = PCI_DEVICE(s);

    msix_unuse_all_vectors(dev);
    msix_uninit(dev, &s->msix_bar, &s->msix_bar);
}

static bool connectx_make_core(ConnectxState *s, Error **errp)
{
    char error[256];
    struct cx_config config = {
        .queues = s->queues,
        .vectors = CX_VECTORS,
        .inline_headers = s->inline_headers,
        .speed_mbps = s->speed,
        .real_time_clock = s->real_time_clock,
    };

    qemu_macaddr_default_if_unset(&s->conf.macaddr);
    memcpy(config.mac, s->conf.macaddr.a, sizeof(config.mac));
    cx_core_free(s->core); /* of an earlier realization */
    s->core = cx_core_new(&connectx_host_ops, s, &config, error, sizeof(error));
    if (!s->core) {
        error_setg(errp, "connectx: %s", error);
    }
    return s->core;
}

static void connectx_make_nic(ConnectxState *s)
{
    DeviceState *dev = DEVICE(s);

    s->nic = qemu_new_nic(&connectx_net_info, &s->conf,
                          object_get_typename(OBJECT(s)), dev->id,
                          &dev->mem_reentrancy_guard, s);
    s->name = qemu_get_queue(s->nic)->name;
    qemu_format_nic_info_str(qemu_get_queue(s->nic), s->conf.macaddr.a);
}

static void connectx_make_bars(ConnectxState *s)
{
    const uint8_t wide = PCI_BASE_ADDRESS_MEM_TYPE_64 |
                         PCI_BASE_ADDRESS_MEM_PREFETCH;

    memory_region_init_io(&s->bar, OBJECT(s), &connectx_bar_ops, s,
                          "connectx-bar", CX_BAR_BYTES);
    memory_region_init(&s->msix_bar, OBJECT(s), "connectx-msix",
                       CONNECTX_MSIX_SIZE);
    pci_register_bar(PCI_DEVICE(s), CONNECTX_BAR, wide, &s->bar);
    pci_register_bar(PCI_DEVICE(s), CONNECTX_MSIX_BAR, wide, &s->msix_bar);
}

static void connectx_realize(PCIDevice *dev, Error **errp)
{
    ConnectxState *s = CONNECTX(dev);

    if (!connectx_make_core(s, errp)) {
        return;
    }
    dev->config_write = connectx_config_write;
    connectx_make_bars(s);
    if (connectx_init_pm(dev, errp) < 0 ||
        connectx_init_express(dev, errp) < 0) {
        return;
    }
    if (connectx_init_msix(s, errp) < 0) {
        goto exit_express;
    }
    if (pcie_aer_init(dev, PCI_ERR_VER, CONNECTX_CAP_AER, PCI_ERR_SIZEOF,
                      errp) < 0) {
        goto exit_msix;
    }
    connectx_make_nic(s);
    connectx_tlb_init(&s->tlb, dev);
    return;

exit_msix:
    connectx_exit_msix(s);
exit_express:
    pcie_cap_exit(dev);
}

static void connectx_exit(PCIDevice *dev)
{
    ConnectxState *s = CONNECTX(dev);

    s->name = TYPE_CONNECTX;
    qemu_del_nic(s->nic);
    s->nic = NULL;
    timer_del(s->timer);
    connectx_tlb_exit(&s->tlb);
    pcie_aer_exit(dev);
    connectx_exit_msix(s);
    pcie_cap_exit(dev);
}

/* Cold reset, bus reset and FLR alike. */
static void connectx_reset_hold(Object *obj, ResetType type)
{
    ConnectxState *s = CONNECTX(obj);
    PCIDevice *dev = PCI_DEVICE(s);

    trace_connectx_reset(s->name);
    pcie_cap_deverr_reset(dev);
    pcie_cap_lnkctl_reset(dev);
    if (s->depth > 0) {
        s->reset_pending = true;
    } else {
        cx_core_reset(s->core);
    }
}

/* --- QOM ----------------------------------------------------------------- */

static bool connectx_visit_counter(Visitor *v, const char *name, uint64_t value,
                                   Error **errp)
{
    return visit_type_uint64(v, name, &value, errp);
}

static bool connectx_visit_counters(ConnectxState *s, Visitor *v, Error **errp)
{
    for (size_t i = 0; i < cx_core_counter_count(); i++) {
        if (!connectx_visit_counter(v, cx_core_counter_name(i),
                                    cx_core_counter(s->core, i), errp)) {
            return false;
        }
    }
    return connectx_visit_counter(v, "translations", s->tlb.lookups, errp) &&
           connectx_visit_counter(v, "translation_misses", s->tlb.misses,
                                  errp) &&
           connectx_visit_counter(v, "translation_invalidations",
                                  s->tlb.invalidations, errp);
}

static void connectx_get_counters(Object *obj, Visitor *v, const char *name,
                                  void *opaque, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);

    if (!visit_start_struct(v, name, NULL, 0, errp)) {
        return;
    }
    if (!s->core || connectx_visit_counters(s, v, errp)) {
        visit_check_struct(v, errp);
    }
    visit_end_struct(v, NULL);
}

static bool connectx_get_link_up(Object *obj, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);

    return s->core && cx_core_link_up(s->core);
}

static bool connectx_get_module(Object *obj, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);

    return s->core && cx_core_module(s->core);
}

static void connectx_set_module(Object *obj, bool plugged, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    bool engaged;

    if (!s->core) {
        error_setg(errp, "connectx: the module moves while the card runs");
        return;
    }
    engaged = connectx_enter_guarded(s);
    cx_core_set_module(s->core, plugged);
    connectx_leave_guarded(s, engaged);
}

static void connectx_get_temperature(Object *obj, Visitor *v, const char *name,
                                     void *opaque, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    int64_t millidegrees = s->core ? cx_core_temperature(s->core) : 0;

    visit_type_int(v, name, &millidegrees, errp);
}

static void connectx_set_temperature(Object *obj, Visitor *v, const char *name,
                                     void *opaque, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    int64_t millidegrees;
    bool engaged;

    if (!visit_type_int(v, name, &millidegrees, errp)) {
        return;
    }
    if (!s->core || millidegrees < -128000 || millidegrees > 255000) {
        error_setg(errp, "connectx: temperature is %" PRId64 ", it must be "
                   "from -128000 to 255000, and set while the card runs",
                   millidegrees);
        return;
    }
    engaged = connectx_enter_guarded(s);
    cx_core_set_temperature(s->core, millidegrees);
    connectx_leave_guarded(s, engaged);
}

static char *connectx_get_record(Object *obj, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);

    return g_strdup(s->record ? s->record : "");
}

static void connectx_stop_record(ConnectxState *s)
{
    if (s->recorder) {
        cx_recorder_close(s->recorder);
    }
    s->recorder = NULL;
    g_clear_pointer(&s->record, g_free);
}

static void connectx_set_record(Object *obj, const char *path, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    char error[256];
    const char *id = DEVICE(s)->id;

    connectx_stop_record(s);
    if (*path == '\0') {
        return;
    }
    s->recorder = cx_recorder_open(path, id ? id : TYPE_CONNECTX,
                                   qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL),
                                   qemu_clock_get_ns(QEMU_CLOCK_HOST),
                                   error, sizeof(error));
    if (!s->recorder) {
        error_setg(errp, "connectx: %s", error);
        return;
    }
    s->record = g_strdup(path);
}

static char *connectx_get_recent(Object *obj, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);

    return g_strdup(s->recent_path ? s->recent_path : "");
}

static void connectx_stop_recent(ConnectxState *s)
{
    if (s->recent) {
        cx_recent_close(s->recent);
    }
    s->recent = NULL;
    g_clear_pointer(&s->recent_path, g_free);
}

static void connectx_set_recent(Object *obj, const char *path, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    char error[256];
    const char *id = DEVICE(s)->id;

    connectx_stop_recent(s);
    if (*path == '\0') {
        return;
    }
    s->recent = cx_recent_open(path, id ? id : TYPE_CONNECTX, error,
                               sizeof(error));
    if (!s->recent) {
        error_setg(errp, "connectx: %s", error);
        return;
    }
    s->recent_path = g_strdup(path);
}

static bool connectx_require_core(ConnectxState *s, const char *name,
                                  Error **errp)
{
    if (!s->core) {
        error_setg(errp, "connectx: %s is set while the card runs", name);
    }
    return s->core;
}

/* The opaque value is not NULL for the property of fatal trouble. */
static void connectx_get_health(Object *obj, Visitor *v, const char *name,
                                void *opaque, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    uint8_t syndrome = s->core ? cx_core_health(s->core, opaque != NULL) : 0;

    visit_type_uint8(v, name, &syndrome, errp);
}

static void connectx_set_health(Object *obj, Visitor *v, const char *name,
                                void *opaque, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    uint8_t syndrome;

    if (!visit_type_uint8(v, name, &syndrome, errp)) {
        return;
    }
    if (!connectx_require_core(s, name, errp)) {
        return;
    }
    cx_core_set_health(s->core, syndrome, opaque != NULL);
}

static void connectx_get_damaged_frames(Object *obj, Visitor *v,
                                        const char *name, void *opaque,
                                        Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    uint32_t frames = s->core ? cx_core_damaged_frames(s->core) : 0;

    visit_type_uint32(v, name, &frames, errp);
}

static void connectx_set_damaged_frames(Object *obj, Visitor *v,
                                        const char *name, void *opaque,
                                        Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    uint32_t frames;

    if (!visit_type_uint32(v, name, &frames, errp)) {
        return;
    }
    if (!connectx_require_core(s, name, errp)) {
        return;
    }
    cx_core_damage_frames(s->core, frames);
}

static void connectx_get_inline(Object *obj, Visitor *v, const char *name,
                                void *opaque, Error **errp)
{
    visit_type_uint32(v, name, &CONNECTX(obj)->inline_headers, errp);
}

/* Unlike a cable, a card's configuration waits for its next driver. */
static void connectx_set_inline(Object *obj, Visitor *v, const char *name,
                                void *opaque, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    uint32_t headers;
    char error[256];

    if (!visit_type_uint32(v, name, &headers, errp)) {
        return;
    }
    if (s->core && !cx_core_set_inline_headers(s->core, headers, error,
                                               sizeof(error))) {
        error_setg(errp, "connectx: %s", error);
        return;
    }
    s->inline_headers = headers; /* before there is a core, for realize */
}

static bool connectx_get_real_time(Object *obj, Error **errp)
{
    return CONNECTX(obj)->real_time_clock;
}

static void connectx_set_real_time(Object *obj, bool on, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);

    s->real_time_clock = on; /* before there is a core, for realize */
    if (s->core) {
        cx_core_set_real_time_clock(s->core, on);
    }
}

static bool connectx_get_pulse(Object *obj, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);

    return s->core && cx_core_pulse_input(s->core);
}

static void connectx_set_pulse(Object *obj, bool high, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);
    bool engaged;

    if (!connectx_require_core(s, "pulse-input", errp)) {
        return;
    }
    engaged = connectx_enter_guarded(s);
    cx_core_set_pulse_input(s->core, high);
    connectx_leave_guarded(s, engaged);
}

static bool connectx_get_beacon(Object *obj, Error **errp)
{
    ConnectxState *s = CONNECTX(obj);

    return s->core && cx_core_beacon(s->core);
}

static const Property connectx_properties[] = {
    DEFINE_NIC_PROPERTIES(ConnectxState, conf),
    DEFINE_PROP_UINT32("queues", ConnectxState, queues, CX_DEFAULT_QUEUES),
    DEFINE_PROP_UINT32("speed", ConnectxState, speed, CX_DEFAULT_SPEED),
};

static const VMStateDescription connectx_vmstate = {
    .name = TYPE_CONNECTX,
    .unmigratable = 1,
};

static void connectx_instance_init(Object *obj)
{
    ConnectxState *s = CONNECTX(obj);

    s->name = TYPE_CONNECTX;
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, connectx_timer, s);
    device_add_bootindex_property(obj, &s->conf.bootindex, "bootindex",
                                  "/ethernet-phy@0", DEVICE(obj));
}

/* Not sooner: an unplug may come from within a call into the core. */
static void connectx_instance_finalize(Object *obj)
{
    ConnectxState *s = CONNECTX(obj);

    connectx_stop_record(s);
    connectx_stop_recent(s);
    cx_core_free(s->core);
    timer_free(s->timer);
}

static void connectx_class_init_properties(ObjectClass *oc)
{
    device_class_set_props(DEVICE_CLASS(oc), connectx_properties);
    object_class_property_add(oc, "counters", "object", connectx_get_counters,
                              NULL, NULL, NULL);
    object_class_property_add_bool(oc, "link-up", connectx_get_link_up, NULL);
    object_class_property_add_bool(oc, "module-plugged", connectx_get_module,
                                   connectx_set_module);
    object_class_property_add(oc, "temperature", "int",
                              connectx_get_temperature,
                              connectx_set_temperature, NULL, NULL);
    object_class_property_add(oc, "health-syndrome", "uint8",
                              connectx_get_health, connectx_set_health, NULL,
                              NULL);
    object_class_property_add(oc, "fatal-syndrome", "uint8",
                              connectx_get_health, connectx_set_health, NULL,
                              oc);
    object_class_property_add(oc, "damaged-frames", "uint32",
                              connectx_get_damaged_frames,
                              connectx_set_damaged_frames, NULL, NULL);
    object_class_property_add(oc, "inline-headers", "uint32",
                              connectx_get_inline, connectx_set_inline,
                              NULL, NULL);
    object_class_property_add_bool(oc, "real-time-clock",
                                   connectx_get_real_time,
                                   connectx_set_real_time);
    object_class_property_add_bool(oc, "pulse-input", connectx_get_pulse,
                                   connectx_set_pulse);
    object_class_property_add_bool(oc, "beacon", connectx_get_beacon, NULL);
    object_class_property_add_str(oc, "record", connectx_get_record,
                                  connectx_set_record);
    object_class_property_add_str(oc, "recent", connectx_get_recent,
                                  connectx_set_recent);
    for (size_t i = 0; i < cx_core_property_count(); i++) {
        const struct cx_property *property = cx_core_property(i);

        object_class_property_set_description(oc, property->name,
                                              property->meaning);
    }
}

static void connectx_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);

    pc->realize = connectx_realize;
    pc->exit = connectx_exit;
    pc->vendor_id = CX_PCI_VENDOR;
    pc->device_id = CX_PCI_DEVICE;
    pc->subsystem_vendor_id = CX_PCI_VENDOR;
    pc->subsystem_id = CX_PCI_DEVICE;
    pc->class_id = PCI_CLASS_NETWORK_ETHERNET;
    rc->phases.hold = connectx_reset_hold;
    dc->desc = "ConnectX-6 Dx Ethernet port";
    dc->vmsd = &connectx_vmstate;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    connectx_class_init_properties(oc);
}

static const TypeInfo connectx_types[] = {
    {
        .name = TYPE_CONNECTX,
        .parent = TYPE_PCI_DEVICE,
        .instance_size = sizeof(ConnectxState),
        .instance_init = connectx_instance_init,
        .instance_finalize = connectx_instance_finalize,
        .class_init = connectx_class_init,
        .interfaces = (InterfaceInfo[]) {
            { INTERFACE_PCIE_DEVICE },
            { }
        },
    },
};

DEFINE_TYPES(connectx_types)
