// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of QEMU a function belongs to, by the beginning of its name.
#include <algorithm>
#include <string_view>
#include <vector>

#include "niclab/bench/host.h"

namespace niclab::bench {
namespace {

constexpr const char *kCard = "card", *kOther = "other port", *kRest = "processor";
constexpr const char *kGroups[] = {kCard, kOther, "vIOMMU", "net", "PCI, MSI", "memory", "copies", kRest};

struct Part {
    const char *group;
    std::vector<std::string_view> beginnings;
};

struct Model {
    const char *name;
    std::vector<std::string_view> beginnings;
};

const std::vector<Model> &models() {
    static const std::vector<Model> table = {
        {"connectx", {"connectx_", "cx_core_", "niclab::connectx::"}},
        {"igb", {"igb_", "e1000x_", "net_tx_pkt_"}},
        {"e1000e", {"e1000e_", "e1000x_", "net_tx_pkt_"}},
        {"vmxnet3", {"vmxnet3_", "vmxnet_", "vmw_", "net_tx_pkt_"}},
        {"virtio-net-pci", {"virtio_", "virtqueue_", "vring_", "virtnet_"}},
    };
    return table;
}

/// Cards share helpers; of those, these serve a port that receives.
const Part &receivers() {
    static const Part part = {kOther, {"e1000x_rx", "e1000x_hw_rx", "net_rx_pkt_", "eth_get_"}};
    return part;
}

/// glib's hash tables are the vIOMMU's: nothing else that works per frame has one.
const std::vector<Part> &parts() {
    static const std::vector<Part> table = {
        {"vIOMMU", {"vtd_", "x86_iommu_", "memory_region_notify_iommu", "g_hash_table_", "g_tree_"}},
        {"net",
         {"qemu_send_packet", "qemu_sendv_packet", "qemu_net_queue_", "qemu_deliver_packet", "qemu_can_send",
          "qemu_can_receive", "qemu_receive_packet", "qemu_get_queue", "net_hub_", "filter_", "iov_"}},
        {"PCI, MSI", {"pci_", "pcie_", "pcibus_", "msi_", "msix_", "apic_", "ioapic_"}},
        {"memory",
         {"flatview_", "address_space_", "memory_region_", "memory_access_", "phys_page_find", "qemu_ram_",
          "qemu_map_ram_ptr", "invalidate_and_set_dirty", "cpu_physical_memory_", "access_with_adjusted_size",
          "prepare_mmio_access", "dma_memory_", "iotlb_to_section", "section_", "int128_"}},
        {"copies",
         {"memcpy", "memset", "memmove", "memcmp", "__memcpy", "__memset", "__memmove", "__memcmp"}},
    };
    return table;
}

bool begins(std::string_view name, const std::vector<std::string_view> &beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [name](std::string_view beginning) { return name.starts_with(beginning); });
}

} // namespace

std::span<const char *const> host_groups() { return kGroups; }

const char *host_group(std::string_view function, const Driver &driver) {
    if (begins(function, receivers().beginnings)) return kOther;
    for (const Model &model : models())
        if (model.name == std::string_view(driver.model) && begins(function, model.beginnings)) return kCard;
    for (const Model &model : models())
        if (begins(function, model.beginnings)) return kOther;
    for (const Part &part : parts())
        if (begins(function, part.beginnings)) return part.group;
    return kRest;
}

} // namespace niclab::bench
