/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The card's own translation cache: pages that it uses again and again, rings
 * above all, are looked up in the vIOMMU once and not for each access.
 */
#ifndef CONNECTX_TLB_H
#define CONNECTX_TLB_H

#include "hw/pci/pci_device.h"

#define CONNECTX_TLB_ENTRIES   1024
#define CONNECTX_TLB_PAGE_BITS 12

struct connectx_tlb_entry {
    uint64_t tag;            /* page and direction; 0: none */
    MemoryRegionCache cache; /* without a pointer: used once, not kept yet */
};

struct connectx_tlb_iommu;

struct connectx_tlb {
    AddressSpace *as; /* NULL before init and after exit */
    MemoryListener listener;
    QLIST_HEAD(, connectx_tlb_iommu) iommus;
    unsigned deaf;    /* vIOMMUs in use that do not tell what they forget */
    uint64_t lookups;
    uint64_t misses;
    uint64_t invalidations; /* entries dropped because the guest said so */
    struct connectx_tlb_entry entries[CONNECTX_TLB_ENTRIES];
};

/* From the moment a device is on its bus until it leaves. */
void connectx_tlb_init(struct connectx_tlb *tlb, PCIDevice *dev);
void connectx_tlb_exit(struct connectx_tlb *tlb);

/* What is to be done when lookup finds nothing. */
MemoryRegionCache *connectx_tlb_miss(struct connectx_tlb *tlb, uint64_t iova,
                                     size_t len, uint64_t tag);

/* Never 0. */
static inline uint64_t connectx_tlb_tag(uint64_t iova, bool is_write)
{
    return ((iova >> CONNECTX_TLB_PAGE_BITS) << 1 | is_write) + 1;
}

static inline struct connectx_tlb_entry *
connectx_tlb_entry(struct connectx_tlb *tlb, uint64_t tag)
{
    return &tlb->entries[tag % CONNECTX_TLB_ENTRIES];
}

static inline bool connectx_tlb_in_page(uint64_t iova, size_t len)
{
    const size_t page = 1 << CONNECTX_TLB_PAGE_BITS;

    return len <= page && (iova & (page - 1)) <= page - len;
}

/*
 * Host memory behind [iova, iova + len), and the cache it belongs to; NULL
 * when the access has to take the long way. Good until the guest runs again.
 * After a write, address_space_cache_invalidate() with the offset.
 */
static inline MemoryRegionCache *
connectx_tlb_lookup(struct connectx_tlb *tlb, uint64_t iova, size_t len,
                    bool is_write)
{
    uint64_t tag = connectx_tlb_tag(iova, is_write);
    struct connectx_tlb_entry *entry = connectx_tlb_entry(tlb, tag);

    tlb->lookups++;
    if (likely(entry->tag == tag && entry->cache.ptr &&
               connectx_tlb_in_page(iova, len))) {
        return &entry->cache;
    }
    return connectx_tlb_miss(tlb, iova, len, tag);
}

/* The long way ended in a fault: its next try is again the first. */
void connectx_tlb_fault(struct connectx_tlb *tlb, uint64_t iova, bool is_write);

#endif
