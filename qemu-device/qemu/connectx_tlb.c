/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Two things make an entry wrong. The guest changes a mapping and invalidates:
 * the vIOMMU tells its notifiers, for a page, a domain or all alike. Memory
 * itself moves, or the vIOMMU is switched: the memory listener hears of it.
 */

#include "qemu/osdep.h"
#include "qemu/rcu.h"
#include "qapi/error.h"
#include "hw/i386/intel_iommu.h"
#include "hw/virtio/virtio-iommu.h"
#include "connectx_tlb.h"

#define PAGE_BITS  CONNECTX_TLB_PAGE_BITS
#define PAGE_BYTES (1ull << PAGE_BITS)

struct connectx_tlb_iommu {
    QLIST_ENTRY(connectx_tlb_iommu) next;
    struct connectx_tlb *tlb;
    IOMMUMemoryRegion *region;
    uint64_t offset; /* of the region in the device's address space */
    bool tells;
    IOMMUNotifier notifier;
};

static void drop(struct connectx_tlb_entry *entry)
{
    if (entry->cache.ptr) {
        address_space_cache_destroy(&entry->cache);
        entry->cache.ptr = NULL;
    }
    entry->tag = 0;
}

static void drop_all(struct connectx_tlb *tlb)
{
    for (size_t i = 0; i < CONNECTX_TLB_ENTRIES; i++) {
        drop(&tlb->entries[i]);
    }
}

static void drop_page(struct connectx_tlb *tlb, uint64_t iova)
{
    for (int is_write = 0; is_write < 2; is_write++) {
        uint64_t tag = connectx_tlb_tag(iova, is_write);
        struct connectx_tlb_entry *entry = connectx_tlb_entry(tlb, tag);

        if (entry->tag == tag) {
            drop(entry);
            tlb->invalidations++;
        }
    }
}

/* A wide range is rare, and dropping too much is never wrong. */
static void on_unmap(IOMMUNotifier *notifier, IOMMUTLBEntry *gone)
{
    struct connectx_tlb_iommu *iommu =
        container_of(notifier, struct connectx_tlb_iommu, notifier);
    uint64_t pages = (gone->addr_mask >> PAGE_BITS) + 1;

    if (pages > CONNECTX_TLB_ENTRIES / 2) {
        drop_all(iommu->tlb);
        iommu->tlb->invalidations++;
        return;
    }
    for (uint64_t i = 0; i < pages; i++) {
        drop_page(iommu->tlb, gone->iova + iommu->offset + i * PAGE_BYTES);
    }
}

/* AMD's vIOMMU accepts a notifier and never calls it. */
static bool tells_of_unmaps(IOMMUMemoryRegion *region)
{
    return object_dynamic_cast(OBJECT(region),
                               TYPE_INTEL_IOMMU_MEMORY_REGION) ||
           object_dynamic_cast(OBJECT(region),
                               TYPE_VIRTIO_IOMMU_MEMORY_REGION);
}

static bool listen_to(struct connectx_tlb_iommu *iommu,
                      MemoryRegionSection *section)
{
    hwaddr first = section->offset_within_region;
    hwaddr last = first + int128_get64(int128_sub(section->size, int128_one()));

    iommu_notifier_init(&iommu->notifier, on_unmap, IOMMU_NOTIFIER_UNMAP, first,
                        last, memory_region_iommu_attrs_to_index(
                                  iommu->region, MEMTXATTRS_UNSPECIFIED));
    return tells_of_unmaps(iommu->region) &&
           memory_region_register_iommu_notifier(section->mr, &iommu->notifier,
                                                 NULL) == 0;
}

static void on_region_add(MemoryListener *listener,
                          MemoryRegionSection *section)
{
    struct connectx_tlb *tlb =
        container_of(listener, struct connectx_tlb, listener);
    struct connectx_tlb_iommu *iommu;

    if (!memory_region_is_iommu(section->mr)) {
        return;
    }
    iommu = g_new0(struct connectx_tlb_iommu, 1);
    iommu->tlb = tlb;
    iommu->region = IOMMU_MEMORY_REGION(section->mr);
    iommu->offset =
        section->offset_within_address_space - section->offset_within_region;
    iommu->tells = listen_to(iommu, section);
    tlb->deaf += !iommu->tells;
    QLIST_INSERT_HEAD(&tlb->iommus, iommu, next);
}

static void on_region_del(MemoryListener *listener,
                          MemoryRegionSection *section)
{
    struct connectx_tlb *tlb =
        container_of(listener, struct connectx_tlb, listener);
    struct connectx_tlb_iommu *iommu, *next;

    QLIST_FOREACH_SAFE(iommu, &tlb->iommus, next, next) {
        if (MEMORY_REGION(iommu->region) != section->mr ||
            iommu->notifier.start != section->offset_within_region) {
            continue;
        }
        if (iommu->tells) {
            memory_region_unregister_iommu_notifier(section->mr,
                                                    &iommu->notifier);
        }
        tlb->deaf -= !iommu->tells;
        QLIST_REMOVE(iommu, next);
        g_free(iommu);
    }
}

static void on_commit(MemoryListener *listener)
{
    drop_all(container_of(listener, struct connectx_tlb, listener));
}

void connectx_tlb_init(struct connectx_tlb *tlb, PCIDevice *dev)
{
    tlb->listener = (MemoryListener) {
        .name = "connectx-tlb",
        .region_add = on_region_add,
        .region_del = on_region_del,
        .commit = on_commit,
    };
    tlb->as = pci_get_address_space(dev);
    QLIST_INIT(&tlb->iommus);
    memory_listener_register(&tlb->listener, tlb->as);
}

void connectx_tlb_exit(struct connectx_tlb *tlb)
{
    if (tlb->as) {
        memory_listener_unregister(&tlb->listener);
        drop_all(tlb);
        tlb->as = NULL;
    }
}

/* Only memory is kept; a fault or a register is left to the long way. */
static MemoryRegionCache *fill(struct connectx_tlb *tlb, uint64_t iova,
                               struct connectx_tlb_entry *entry, bool is_write)
{
    IOMMUTLBEntry found;
    hwaddr start;

    RCU_READ_LOCK_GUARD();
    iova &= ~(PAGE_BYTES - 1);
    found = address_space_get_iotlb_entry(tlb->as, iova, is_write,
                                          MEMTXATTRS_UNSPECIFIED);
    if (!found.target_as) {
        return NULL;
    }
    start = found.translated_addr | (iova & found.addr_mask);
    address_space_cache_init(&entry->cache, found.target_as, start, PAGE_BYTES,
                             is_write);
    if (entry->cache.ptr && entry->cache.len == PAGE_BYTES) {
        return &entry->cache;
    }
    address_space_cache_destroy(&entry->cache);
    entry->cache.ptr = NULL;
    return NULL;
}

static __attribute__((noinline)) MemoryRegionCache *
evict_or_fill(struct connectx_tlb *tlb, uint64_t iova, size_t len, uint64_t tag)
{
    struct connectx_tlb_entry *entry = connectx_tlb_entry(tlb, tag);

    if (entry->tag != tag) {
        drop(entry);
        entry->tag = tag;
        return NULL;
    }
    if (!connectx_tlb_in_page(iova, len) || !tlb->as || tlb->deaf) {
        return NULL;
    }
    return fill(tlb, iova, entry, tag == connectx_tlb_tag(iova, true));
}

/*
 * A page is kept from its second use on: most payload is used once, and
 * keeping it would cost more than the long way.
 */
MemoryRegionCache *connectx_tlb_miss(struct connectx_tlb *tlb, uint64_t iova,
                                     size_t len, uint64_t tag)
{
    struct connectx_tlb_entry *entry = connectx_tlb_entry(tlb, tag);

    tlb->misses++;
    if (likely(entry->tag != tag && !entry->cache.ptr)) {
        entry->tag = tag;
        return NULL;
    }
    return evict_or_fill(tlb, iova, len, tag);
}

void connectx_tlb_fault(struct connectx_tlb *tlb, uint64_t iova, bool is_write)
{
    drop(connectx_tlb_entry(tlb, connectx_tlb_tag(iova, is_write)));
}
