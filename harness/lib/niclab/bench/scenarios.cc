// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/scenarios.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace niclab::bench {
namespace {

constexpr Way kOut = Way::out;
constexpr Way kIn = Way::in;
constexpr Drop kNone = Drop::none;

// clang-format off
constexpr Scenario kScenarios[] = {
    // name             load      way   unit     units  size burst flows drop       short  says
    {"tx-60",           "packet", kOut, "frame",  3000,   60,  1,  1, kNone,     true,  "60-byte frames out of a packet socket"},
    {"tx-1514",         "packet", kOut, "frame",  3000, 1514,  1,  1, kNone,     false, "1514-byte frames out of a packet socket"},
    {"tx-60-burst-1",   "pktgen", kOut, "frame",  6000,   60,  1,  1, kNone,     false, "60-byte frames of the kernel's packet generator, each with its doorbell"},
    {"tx-60-burst-8",   "pktgen", kOut, "frame",  6000,   60,  8,  1, kNone,     false, "the same, eight to a doorbell"},
    {"tx-60-burst-32",  "pktgen", kOut, "frame",  6400,   60, 32,  1, kNone,     true,  "the same, 32 to a doorbell"},
    {"tx-1514-burst-32","pktgen", kOut, "frame",  6400, 1514, 32,  1, kNone,     false, "1514-byte frames, 32 to a doorbell"},
    {"rx-drop-60",      "pktgen", kIn,  "frame",  6400,   60, 32,  1, Drop::tc,  true,  "60-byte frames received in bursts of 32 and dropped by tc"},
    {"rx-drop-60-single","pktgen",kIn,  "frame",  6000,   60,  1,  1, Drop::tc,  false, "60-byte frames received one by one and dropped by tc"},
    {"rx-drop-1514",    "pktgen", kIn,  "frame",  6400, 1514, 32,  1, Drop::tc,  false, "1514-byte frames received in bursts of 32 and dropped by tc"},
    {"rx-xdp-drop-60",  "pktgen", kIn,  "frame",  6400,   60, 32,  1, Drop::xdp, false, "60-byte frames received in bursts of 32 and dropped by XDP"},
    {"tcp-out",         "stream", kOut, "KiB",    4096,    0,  1,  1, kNone,     true,  "one TCP stream that the port sends"},
    {"tcp-in",          "stream", kIn,  "KiB",    4096,    0,  1,  1, kNone,     true,  "one TCP stream that the port receives"},
    {"tcp-out-16",      "stream", kOut, "KiB",    8192,    0,  1, 16, kNone,     false, "16 TCP streams that the port sends"},
    {"tcp-in-16",       "stream", kIn,  "KiB",    8192,    0,  1, 16, kNone,     false, "16 TCP streams that the port receives"},
    {"rr-1",            "rr",     kOut, "round",   500,    1,  1,  1, kNone,     true,  "TCP request and response of 1 byte"},
    {"rr-90",           "rr",     kOut, "round",   500,   90,  1,  1, kNone,     false, "TCP request and response of 90 bytes"},
    {"rr-900",          "rr",     kOut, "round",   500,  900,  1,  1, kNone,     false, "TCP request and response of 900 bytes"},
    {"rr-4000",         "rr",     kOut, "round",   300, 4000,  1,  1, kNone,     false, "TCP request and response of 4 000 bytes"},
    {"rr-9000",         "rr",     kOut, "round",   300, 9000,  1,  1, kNone,     false, "TCP request and response of 9 000 bytes"},
    {"rr-60000",        "rr",     kOut, "round",   100,60000,  1,  1, kNone,     false, "TCP request and response of 60 000 bytes"},
    {"rr-90-200",       "rr",     kOut, "round",  1000,   90,  1,200, kNone,     false, "the same of 90 bytes over 200 connections in turn"},
    {"udp-rr-90",       "udp-rr", kOut, "round",   500,   90,  1,  1, kNone,     false, "UDP request and response of 90 bytes"},
};
// clang-format on

const std::vector<Driver> &driver_table() {
    static const std::vector<Driver> table = {
        {"mlx5_core", "mlx5_core", "connectx", {}, "igb", {"mlx5_core"}, "the stock driver on our card"},
        {"niclab", "niclab", "connectx", {}, "igb", {"niclab"}, "our driver on our card"},
        {"igb", "igb", "igb", {}, "e1000e", {"igb"}, "Intel 82576"},
        {"e1000e", "e1000e", "e1000e", {}, "igb", {"e1000e"}, "Intel 82574L"},
        {"vmxnet3", "vmxnet3", "vmxnet3", {}, "igb", {"vmxnet3"}, "VMware's paravirtual card"},
        // Work that QEMU's main loop does later would be done at another instruction each time: the timer of
        // virtual time sends, and the guest's own CPU handles each notification.
        {"virtio_net",
         "virtio-pci",
         "virtio-net-pci",
         {{"tx", "timer"},
          {"x-txtimer", "1000"},
          {"ioeventfd", "off"},
          {"disable-legacy", "on"},
          {"iommu_platform", "on"}},
         "igb",
         {"virtio_net", "virtio_pci", "virtio_pci_modern_dev", "virtio_ring", "virtio"},
         "virtio's network card"},
    };
    return table;
}

constexpr IommuKind kIommuKinds[] = {
    {"none", false, false, "", false, "no vIOMMU"},
    {"lazy", true, false, "iommu.strict=0", true, "a vIOMMU; Linux collects invalidations"},
    {"strict", true, false, "", false, "a vIOMMU; Linux invalidates with each unmap"},
    {"caching", true, true, "", true, "a vIOMMU in caching mode: Linux also flushes with each map"},
};

template <class Row>
Result<const Row *> find(std::span<const Row> rows, const std::string &name, const char *what) {
    std::vector<std::string> names;
    for (const Row &row : rows) {
        if (row.name == name) return &row;
        names.push_back(row.name);
    }
    return Error{fmt::format("there is no {} '{}'; choose one of {}", what, name, fmt::join(names, ", "))};
}

} // namespace

std::span<const Scenario> scenarios() { return kScenarios; }
std::span<const Driver> drivers() { return driver_table(); }
std::span<const IommuKind> iommu_kinds() { return kIommuKinds; }

Result<const Scenario *> find_scenario(const std::string &name) {
    return find(scenarios(), name, "scenario");
}
Result<const Driver *> find_driver(const std::string &name) { return find(drivers(), name, "driver"); }
Result<const IommuKind *> find_iommu(const std::string &name) {
    return find(iommu_kinds(), name, "kind of vIOMMU");
}

} // namespace niclab::bench
