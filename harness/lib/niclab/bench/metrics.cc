// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/metrics.h"

namespace niclab::bench {
namespace {

// Where two kernels name a function differently, both names stand. Of functions that call each other only the
// outer ones are listed, so that nothing counts twice.
const std::vector<Metric> &metric_table() {
    static const std::vector<Metric> table = {
        {"dma_maps",
         "maps",
         "DMA mappings made",
         {"dma_map_page_attrs", "dma_map_sg_attrs", "dma_map_sgtable"},
         {}},
        {"dma_unmaps", "unmaps", "DMA mappings undone", {"dma_unmap_page_attrs", "dma_unmap_sg_attrs"}, {}},
        {"iotlb_invalidations", "inval", "invalidations submitted to the vIOMMU", {"qi_submit_sync"}, {}},
        {"page_allocations",
         "pages",
         "calls of the page allocator",
         {"__alloc_pages", "__alloc_pages_bulk", "__alloc_pages_noprof", "alloc_pages_bulk_noprof"},
         {}},
        {"slab_allocations",
         "slab",
         "objects from the slab allocator",
         {"kmem_cache_alloc", "kmem_cache_alloc_node", "kmem_cache_alloc_lru", "kmem_cache_alloc_bulk",
          "__kmalloc", "__kmalloc_node", "__kmalloc_node_track_caller", "kmalloc_trace", "kmalloc_node_trace",
          "kmem_cache_alloc_noprof", "kmem_cache_alloc_node_noprof", "kmem_cache_alloc_lru_noprof",
          "kmem_cache_alloc_bulk_noprof", "__kmalloc_noprof", "__kmalloc_node_noprof",
          "__kmalloc_node_track_caller_noprof", "__kmalloc_cache_noprof", "__kmalloc_cache_node_noprof"},
         {}},
        {"napi_polls", "polls", "NAPI polls", {"__napi_poll"}, {}},
        {"interrupts", "irqs", "interrupts of devices", {"common_interrupt"}, {}},
        {"doorbells", "bells", "doorbells that the card heard", {}, {"doorbells_*"}},
        {"dma_accesses", "", "DMA accesses of the card", {}, {"dma_*_reads", "dma_*_writes"}},
        {"dma_bytes",
         "DMA B",
         "bytes that the card moved by DMA",
         {},
         {"dma_*_bytes_read", "dma_*_bytes_written"}},
        {"link_bytes", "link B", "bytes on the PCI Express link, headers included", {}, {"*_link_bytes"}},
        {"mmio_writes", "mmio", "register writes of the driver", {}, {"mmio_writes"}},
        {"card_interrupts", "", "interrupts that the card raised", {}, {"interrupts"}},
    };
    return table;
}

bool matches(const std::string &name, const std::string &pattern) {
    size_t star = pattern.find('*');
    return name.starts_with(pattern.substr(0, star)) && name.ends_with(pattern.substr(star + 1));
}

double card_sum(const Cost &cost, const std::vector<std::string> &patterns) {
    double sum = 0;
    for (const auto &[name, value] : cost.card)
        for (const std::string &pattern : patterns)
            if (matches(name, pattern)) sum += value;
    return sum;
}

} // namespace

std::span<const Metric> metrics() { return metric_table(); }

std::map<std::string, double> values_of(const Cost &cost, const Driver &driver) {
    std::map<std::string, double> values;
    values[kInstructions] = cost.instructions();
    values[kDriverInstructions] = cost.instructions_in(driver.modules);
    for (const Metric &metric : metrics()) {
        if (!metric.functions.empty())
            values[metric.name] = cost.entries(metric.functions);
        else if (!cost.card.empty())
            values[metric.name] = card_sum(cost, metric.card_counters);
    }
    return values;
}

} // namespace niclab::bench
