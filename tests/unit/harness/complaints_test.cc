// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/complaints.h"

#include <gtest/gtest.h>

namespace niclab {
namespace {

TEST(Complaints, AHealthyBootHasNone) {
    const char *console = R"([    0.000000] Linux version 6.1.0-57-amd64 (gcc-12) #1 SMP PREEMPT_DYNAMIC
[    0.004000] tsc: Fast TSC calibration failed
[    0.016000] DMAR-IR: Enabled IRQ remapping in xapic mode
[    0.100000] PCI: Using host bridge windows from ACPI; if necessary, use "pci=nocrs" and report a bug
[    0.104000] Warning: unable to open an initial console.
[    0.200000] ftrace: allocated 159 pages with 6 groups
[    1.500000] iommu: DMA domain TLB invalidation policy: strict mode (set via kernel command line)
[    1.870000] DMAR: Intel(R) Virtualization Technology for Directed I/O
[    3.290000] AMD-Vi: AMD IOMMUv2 functionality not available on this system - This is not a bug.
[    5.000000] niclab: loading out-of-tree module taints kernel.
[    5.100000] mlx5_core 0000:03:00.0: Supported tc offload range - chains: 1, prios: 1
[    5.200000] mlx5_core 0000:03:00.0 eth0: Link up
[    5.300000] rcu: INFO: rcu_preempt detected nothing of note
)";
    EXPECT_EQ(describe(find_complaints(console)), "");
}

struct Case {
    const char *line;
    ComplaintKind kind;
};

class EachKind : public ::testing::TestWithParam<Case> {};

TEST_P(EachKind, IsFoundWithAndWithoutATimeStamp) {
    for (const char *stamp : {"", "[   12.345678] ", "[   12.345678][  T123] ", "[   12.345678][    C1] "}) {
        std::string console =
            std::string("[    1.0] fine\r\n") + stamp + GetParam().line + "\r\n[   13.0] fine again\n";
        auto found = find_complaints(console);
        ASSERT_EQ(found.size(), 1u) << console;
        EXPECT_EQ(found[0].kind, GetParam().kind) << found[0].fingerprint;
        EXPECT_EQ(found[0].lines, std::vector<std::string>{std::string(stamp) + GetParam().line});
    }
}

INSTANTIATE_TEST_SUITE_P(
    Complaints, EachKind,
    ::testing::Values(
        Case{"Kernel panic - not syncing: No working init found.", ComplaintKind::panic},
        Case{"Oops: 0002 [#1] PREEMPT SMP NOPTI", ComplaintKind::oops},
        Case{"general protection fault, probably for non-canonical address 0xdead: 0000 [#1]",
             ComplaintKind::oops},
        Case{"kernel BUG at mm/slub.c:440!", ComplaintKind::oops},
        Case{"BUG: kernel NULL pointer dereference, address: 0000000000000008", ComplaintKind::oops},
        Case{"BUG: sleeping function called from invalid context at kernel/locking/mutex.c:580",
             ComplaintKind::bug},
        Case{"UBSAN: shift-out-of-bounds in drivers/net/a.c:12:3", ComplaintKind::ubsan},
        Case{"Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP",
             ComplaintKind::oops},
        Case{"invalid opcode: 0000 [#1] PREEMPT SMP NOPTI", ComplaintKind::oops},
        Case{"traps: PANIC: double fault, error_code: 0x0", ComplaintKind::oops},
        Case{"list_add corruption. prev->next should be next (ffff888), but was dead. (prev=ffff).",
             ComplaintKind::list_corruption},
        Case{"list_del corruption, ffff8881->next is LIST_POISON1 (dead000000000100)",
             ComplaintKind::list_corruption},
        Case{"ODEBUG: free active (active state 0) object: ffff8 object type: timer_list hint: "
             "niclab_poll+0x0/0x90",
             ComplaintKind::debug_object},
        Case{"watchdog: Watchdog detected hard LOCKUP on cpu 1", ComplaintKind::lockup},
        Case{"BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 35s!",
             ComplaintKind::lockup},
        Case{"rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 0-...D } 26 jiffies s: 301",
             ComplaintKind::rcu_stall},
        Case{"ref_tracker: eth%d@ffff888: has 1/2 users at", ComplaintKind::device_held},
        Case{"WARNING: CPU: 1 PID: 77 at net/core/dev.c:1234 dev_watchdog+0x1f/0x20", ComplaintKind::warning},
        Case{"INFO: task kworker/0:1:9 blocked for more than 120 seconds.", ComplaintKind::hung_task},
        Case{"watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [insmod:99]", ComplaintKind::lockup},
        Case{"rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", ComplaintKind::rcu_stall},
        Case{"rcu: INFO: rcu_sched self-detected stall on CPU", ComplaintKind::rcu_stall},
        Case{"Out of memory: Killed process 12 (iperf3)", ComplaintKind::out_of_memory},
        Case{"kworker/0:1: page allocation failure: order:5, mode:0x40d20", ComplaintKind::out_of_memory},
        Case{"eth0: hw csum failure", ComplaintKind::checksum},
        Case{"DMAR: [DMA Write NO_PASID] Request device [10:00.0] fault addr 0x1000 [fault reason 0x05] PTE "
             "Write "
             "access is not set",
             ComplaintKind::dma_fault},
        Case{"DMAR: [DMA Read] Request device [01:00.0] PASID ffffffff fault addr 0",
             ComplaintKind::dma_fault},
        Case{"DMA-API: niclab 0000:01:00.0: device driver frees DMA memory with different size",
             ComplaintKind::dma_api},
        Case{"page_pool_release_retry() stalled pool shutdown: id 3, 12 inflight 60 sec",
             ComplaintKind::page_pool},
        Case{"kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
             ComplaintKind::kmemleak},
        Case{"unregister_netdevice: waiting for eth0 to become free. Usage count = 2",
             ComplaintKind::device_held},
        Case{"Slab cache still has 3 objects", ComplaintKind::leak},
        Case{"mlx5_core 0000:10:00.0: wait_func:1151:(pid 1): CREATE_SQ(0x904) timeout. Will cause a leak of "
             "a "
             "command resource",
             ComplaintKind::command_timeout},
        Case{"mlx5_core 0000:10:00.0: poll_health:800:(pid 0): device's health compromised - reached miss "
             "count",
             ComplaintKind::command_timeout},
        Case{"mlx5_core 0000:01:00.0: mlx5_cmd_out_err:808:(pid 7): ACCESS_REG(0x805) op_mod(0x1) failed, "
             "status bad "
             "parameter(0x3), syndrome (0x540002), err(-22)",
             ComplaintKind::command_error},
        Case{"NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 0 timed out", ComplaintKind::tx_timeout},
        Case{"refcount_t: underflow; use-after-free.", ComplaintKind::refcount},
        Case{"Call Trace:", ComplaintKind::call_trace}));

constexpr const char *kWarning = R"([   20.100000] ------------[ cut here ]------------
[   20.100001] WARNING: CPU: 1 PID: 4242 at kernel/dma/debug.c:1033 check_unmap+0x5c7/0x8d0
[   20.100002] Modules linked in: niclab(OE) virtio_console
[   20.100003] CPU: 1 PID: 4242 Comm: insmod Tainted: G           OE      6.1.0-57-amd64 #1
[   20.100004] RIP: 0010:check_unmap+0x5c7/0x8d0
[   20.100005] Code: 48 8b 04 24
[   20.100006] Call Trace:
[   20.100007]  <TASK>
[   20.100008]  ? __warn+0x7d/0xd0
[   20.100009]  debug_dma_unmap_page+0x5b/0x70
[   20.100010]  </TASK>
[   20.100011] ---[ end trace 0000000000000000 ]---
[   20.200000] niclab 0000:01:00.0 eth0: link up
)";

TEST(Complaints, AWarningAndItsTraceAreOne) {
    auto found = find_complaints(kWarning);
    ASSERT_EQ(found.size(), 1u) << describe(found);
    EXPECT_EQ(found[0].kind, ComplaintKind::warning);
    EXPECT_EQ(found[0].fingerprint, "warning: debug_dma_unmap_page");
    EXPECT_GE(found[0].lines.size(), 10u);
    EXPECT_EQ(found[0].lines.back().find("link up"), std::string::npos);
}

TEST(Complaints, TwoWarningsInARowAreTwo) {
    EXPECT_EQ(find_complaints(std::string(kWarning) + kWarning).size(), 2u);
}

TEST(Complaints, TheCauseAboveAWarningBelongsToIt) {
    auto found = find_complaints(
        "[ 1.0] refcount_t: underflow; use-after-free.\n"
        "[ 1.1] WARNING: CPU: 0 PID: 1 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110\n");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, ComplaintKind::refcount);
    EXPECT_EQ(found[0].fingerprint, "refcount: refcount_warn_saturate");
}

TEST(Complaints, FingerprintsOfOneFaultAreEqualWhateverTheNumbers) {
    auto first =
        find_complaints("[ 1.0] DMAR: [DMA Write NO_PASID] Request device [01:00.0] fault addr 0xfff3000\n");
    auto second =
        find_complaints("[ 9.5] DMAR: [DMA Write NO_PASID] Request device [02:00.0] fault addr 0x1000\n");
    ASSERT_EQ(first.size(), 1u);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(first[0].fingerprint, second[0].fingerprint);
}

TEST(Complaints, EachFaultCounts) {
    std::string console;
    for (int i = 0; i < 3; ++i)
        console += "[ 1.0] DMAR: DRHD: handling fault status reg 2\n"
                   "[ 1.0] DMAR: [DMA Read NO_PASID] Request device [01:00.0] fault addr 0x0\n";
    EXPECT_EQ(count(find_complaints(console), ComplaintKind::dma_fault), 3u);
}

TEST(Complaints, ALastLineWithoutLineEndCounts) {
    EXPECT_EQ(find_complaints("eth0: hw csum failure").size(), 1u);
    EXPECT_TRUE(find_complaints("").empty());
}

} // namespace
} // namespace niclab
