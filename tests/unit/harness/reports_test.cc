// SPDX-License-Identifier: GPL-2.0-or-later
// Whole reports as kernels print them: one complaint each, with its kind, headline, frames and fingerprint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/complaints.h"

namespace niclab {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Complaint only(std::string_view console) {
    auto found = find_complaints(console);
    EXPECT_EQ(found.size(), 1u) << describe(found);
    return found.empty() ? Complaint{} : found.front();
}

constexpr const char *kOops =
    R"([   30.000001] BUG: kernel NULL pointer dereference, address: 0000000000000010
[   30.000002] #PF: supervisor write access in kernel mode
[   30.000003] #PF: error_code(0x0002) - not-present page
[   30.000004] PGD 0 P4D 0 
[   30.000005] Oops: 0002 [#1] PREEMPT SMP NOPTI
[   30.000006] CPU: 1 PID: 311 Comm: ip Tainted: G           OE      6.1.0-57-amd64 #1  Debian 6.1.192-3
[   30.000007] Hardware name: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16.2-debian-1.16.2-1 04/01/2014
[   30.000008] RIP: 0010:_ZN6niclab9TxChannel4postERKNS_6PacketE+0x21/0x90 [niclab]
[   30.000009] Code: 48 8b 04 24
[   30.000010] RSP: 0018:ffffb3c2c0a3bb58 EFLAGS: 00010246
[   30.000011] RAX: 0000000000000000 RBX: ffff9a1e02d54000 RCX: 0000000000000000
[   30.000012] Call Trace:
[   30.000013]  <TASK>
[   30.000014]  ? __die_body.cold+0x1a/0x1f
[   30.000015]  niclab_start_xmit.isra.0+0x1d4/0x2c0 [niclab]
[   30.000016]  dev_hard_start_xmit+0x63/0x1f0
[   30.000017]  </TASK>
[   30.000018] Modules linked in: niclab(OE) virtio_console
[   30.000019] CR2: 0000000000000010
[   30.000020] ---[ end trace 0000000000000000 ]---
[   30.000021] RIP: 0010:_ZN6niclab9TxChannel4postERKNS_6PacketE+0x21/0x90 [niclab]
)";

TEST(Reports, AnOopsNamesWhereAndFromWhere) {
    Complaint oops = only(kOops);
    EXPECT_EQ(oops.kind, ComplaintKind::oops);
    EXPECT_EQ(oops.headline, "BUG: kernel NULL pointer dereference, address: 0000000000000010");
    EXPECT_EQ(oops.fingerprint, "oops: niclab::TxChannel::post < niclab_start_xmit < dev_hard_start_xmit");
    ASSERT_EQ(oops.frames.size(), 4u);
    EXPECT_TRUE(oops.frames[0].is_place);
    EXPECT_EQ(oops.frames[0].module, "niclab");
    EXPECT_EQ(oops.frames[0].offset, 0x21u);
    EXPECT_EQ(oops.frames[0].size, 0x90u);
    EXPECT_FALSE(oops.frames[1].reliable);
    EXPECT_FALSE(oops.frames[2].is_place);
    EXPECT_EQ(oops.frames[3].module, "");
}

TEST(Reports, AreEqualWhateverTheBuild) {
    std::string other = kOops;
    for (auto [from, to] :
         {std::pair{"+0x21/0x90", "+0x7/0x64"}, {".isra.0", ".constprop.3"}, {"30.0", "99.1"}})
        for (size_t at; (at = other.find(from)) != std::string::npos;)
            other.replace(at, std::string(from).size(), to);
    EXPECT_EQ(only(other).fingerprint, only(kOops).fingerprint);
}

TEST(Reports, APanicBehindAnOopsIsItsOwn) {
    auto found = find_complaints(std::string(kOops) +
                                 "[   30.1] Kernel panic - not syncing: Fatal exception in interrupt\n");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].kind, ComplaintKind::panic);
}

TEST(Reports, AnOopsOfALaterKernelIsTheSame) {
    Complaint oops = only(R"([    8.1] BUG: unable to handle page fault for address: ffffdead00000000
[    8.1] #PF: supervisor read access in kernel mode
[    8.1] Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI
[    8.1] CPU: 0 UID: 0 PID: 88 Comm: modprobe Tainted: G           OE      6.12.0 #1
[    8.1] Tainted: [O]=OOT_MODULE, [E]=UNSIGNED_MODULE
[    8.1] RIP: 0010:niclab_probe+0x10/0x200 [niclab]
[    8.1] Call Trace:
[    8.1]  <TASK>
[    8.1]  local_pci_probe+0x42/0x90
[    8.1]  </TASK>
[    8.1] ---[ end trace 0000000000000000 ]---
)");
    EXPECT_EQ(oops.fingerprint, "oops: niclab_probe < local_pci_probe");
}

constexpr const char *kKasan = R"([   44.0] ==================================================================
[   44.0] BUG: KASAN: slab-use-after-free in niclab_poll+0x2f0/0x410 [niclab]
[   44.0] Read of size 8 at addr ffff888004c1a008 by task ksoftirqd/0/15
[   44.0] 
[   44.0] CPU: 0 UID: 0 PID: 15 Comm: ksoftirqd/0 Tainted: G           O       6.12.117-niclab-debug #1
[   44.0] Call Trace:
[   44.0]  <TASK>
[   44.0]  dump_stack_lvl+0x5d/0x80
[   44.0]  print_report+0x171/0x4c0
[   44.0]  kasan_report+0xb0/0xe0
[   44.0]  niclab_poll+0x2f0/0x410 [niclab]
[   44.0]  __napi_poll+0x9d/0x300
[   44.0]  net_rx_action+0x5a0/0x7e0
[   44.0]  </TASK>
[   44.0] 
[   44.0] Allocated by task 77:
[   44.0]  kasan_save_stack+0x24/0x50
[   44.0]  niclab_open+0x40/0x90 [niclab]
[   44.0] 
[   44.0] Freed by task 80:
[   44.0]  kfree+0xd0/0x300
[   44.0]  niclab_stop+0x40/0x90 [niclab]
[   44.0] 
[   44.0] The buggy address belongs to the object at ffff888004c1a000
[   44.0]  which belongs to the cache kmalloc-64 of size 64
[   44.0] Memory state around the buggy address:
[   44.0] >ffff888004c1a000: fa fb fb fb fb fb fb fb fc fc fc fc
[   44.0]                       ^
[   44.0] ==================================================================
[   44.0] Disabling lock debugging due to kernel taint
[   44.1] niclab 0000:01:00.0 eth0: link up
)";

TEST(Reports, KasanTellsTheKindOfAccessAndWhoFreed) {
    Complaint kasan = only(kKasan);
    EXPECT_EQ(kasan.kind, ComplaintKind::kasan);
    EXPECT_THAT(kasan.headline, StartsWith("BUG: KASAN: slab-use-after-free in niclab_poll"));
    EXPECT_EQ(kasan.fingerprint, "kasan: slab-use-after-free: niclab_poll < __napi_poll < net_rx_action");
    EXPECT_THAT(kasan.lines.back(), HasSubstr("====="));
    EXPECT_THAT(report(kasan), HasSubstr("niclab_stop+0x40/0x90 [niclab]"));
}

TEST(Reports, UbsanTellsWhat) {
    Complaint ubsan = only(R"([    3.0] ------------[ cut here ]------------
[    3.0] UBSAN: shift-out-of-bounds in core/rx/ring.cc:71:9
[    3.0] shift exponent 64 is too large for 32-bit type 'unsigned int'
[    3.0] CPU: 1 PID: 9 Comm: x Not tainted 6.12.0 #1
[    3.0] Call Trace:
[    3.0]  <TASK>
[    3.0]  dump_stack_lvl+0x5d/0x80
[    3.0]  __ubsan_handle_shift_out_of_bounds+0x156/0x2e0
[    3.0]  fill_ring+0x10/0x20 [niclab]
[    3.0]  </TASK>
[    3.0] ---[ end trace ]---
)");
    EXPECT_EQ(ubsan.kind, ComplaintKind::ubsan);
    EXPECT_EQ(ubsan.fingerprint, "ubsan: shift-out-of-bounds: fill_ring");
}

TEST(Reports, LockdepIsOneWithAllItsTraces) {
    Complaint lock = only(R"([   12.0] ======================================================
[   12.0] WARNING: possible circular locking dependency detected
[   12.0] 6.12.117-niclab-debug #1 Tainted: G           O      
[   12.0] ------------------------------------------------------
[   12.0] ip/102 is trying to acquire lock:
[   12.0] ffff888001 (&nic->lock){+.+.}-{3:3}, at: niclab_stop+0x10/0x50 [niclab]
[   12.0] 
[   12.0] but task is already holding lock:
[   12.0] ffffffff82 (rtnl_mutex){+.+.}-{3:3}, at: rtnl_newlink+0x10/0x50
[   12.0] 
[   12.0] which lock already depends on the new lock.
[   12.0] the existing dependency chain (in reverse order) is:
[   12.0] -> #1 (rtnl_mutex){+.+.}-{3:3}:
[   12.0]        lock_acquire+0xd0/0x2c0
[   12.0]        __mutex_lock+0xa0/0x900
[   12.0]        niclab_link_work+0x20/0x90 [niclab]
[   12.0] -> #0 (&nic->lock){+.+.}-{3:3}:
[   12.0]        __lock_acquire+0x1000/0x2000
[   12.0]        niclab_stop+0x10/0x50 [niclab]
[   12.0] 
[   12.0]  *** DEADLOCK ***
[   12.0] stack backtrace:
[   12.0] CPU: 0 UID: 0 PID: 102 Comm: ip Tainted: G           O
[   12.0] Call Trace:
[   12.0]  <TASK>
[   12.0]  check_noncircular+0x100/0x130
[   12.0]  niclab_stop+0x10/0x50 [niclab]
[   12.0]  </TASK>
[   12.1] fine
)");
    EXPECT_EQ(lock.kind, ComplaintKind::lockdep);
    EXPECT_THAT(lock.fingerprint, StartsWith("lockdep: possible circular locking dependency detected: "));
    EXPECT_THAT(lock.fingerprint, HasSubstr("niclab_link_work < niclab_stop"));
    EXPECT_THAT(lock.lines.back(), HasSubstr("</TASK>"));
}

TEST(Reports, SuspiciousRcuIsALockMatter) {
    Complaint rcu = only(R"([    2.0] =============================
[    2.0] WARNING: suspicious RCU usage
[    2.0] 6.12.117-niclab-debug #1 Not tainted
[    2.0] -----------------------------
[    2.0] kernel/x.c:71 suspicious rcu_dereference_check() usage!
[    2.0] stack backtrace:
[    2.0] Call Trace:
[    2.0]  <TASK>
[    2.0]  lockdep_rcu_suspicious+0x150/0x1f0
[    2.0]  niclab_xdp+0x10/0x20 [niclab]
[    2.0]  </TASK>
)");
    EXPECT_EQ(rcu.fingerprint, "lockdep: suspicious RCU usage: niclab_xdp");
}

TEST(Reports, AListThatBreaksIsOneWithTheBugThatFollows) {
    Complaint list = only(
        R"([    2.0] list_del corruption. prev->next should be ffff88801, but was ffff88802. (prev=ffff88803)
[    2.0] ------------[ cut here ]------------
[    2.0] kernel BUG at lib/list_debug.c:62!
[    2.0] Oops: invalid opcode: 0000 [#1] PREEMPT SMP KASAN NOPTI
[    2.0] RIP: 0010:__list_del_entry_valid_or_report+0xfc/0x110
[    2.0] Call Trace:
[    2.0]  <TASK>
[    2.0]  niclab_remove_rule+0x3e/0x70 [niclab]
[    2.0]  </TASK>
[    2.0] ---[ end trace 0000000000000000 ]---
)");
    EXPECT_EQ(list.kind, ComplaintKind::list_corruption);
    EXPECT_EQ(list.fingerprint, "list corruption: niclab_remove_rule");
}

TEST(Reports, ABrokenSlabObjectIsOne) {
    Complaint slab =
        only(R"([    5.0] =============================================================================
[    5.0] BUG kmalloc-64 (Tainted: G           O      ): Right Redzone overwritten
[    5.0] -----------------------------------------------------------------------------
[    5.0] 
[    5.0] 0xffff888005c04540-0xffff888005c04547 @offset=1344. First byte 0x0 instead of 0xcc
[    5.0] Slab 0xffffea0000170100 objects=21 used=8 fp=0xffff888005c04000 flags=0x80
[    5.0] Object   ffff888005c04500: 6b 6b 6b 6b 6b 6b 6b 6b
[    5.0] CPU: 0 PID: 99 Comm: rmmod
[    5.0] Call Trace:
[    5.0]  <TASK>
[    5.0]  check_bytes_and_report+0x100/0x140
[    5.0]  kfree+0x200/0x2b0
[    5.0]  niclab_remove+0x10/0x90 [niclab]
[    5.0]  </TASK>
[    5.0] FIX kmalloc-64: Restoring Right Redzone 0xffff888005c04540-0xffff888005c04547=0xcc
)");
    EXPECT_EQ(slab.kind, ComplaintKind::slab_corruption);
    EXPECT_EQ(slab.fingerprint, "slab corruption: kfree < niclab_remove");
}

TEST(Reports, WordsOfAWarningAreItsHeadline) {
    Complaint warning = only(R"([    7.0] ------------[ cut here ]------------
[    7.0] niclab: ring 3 is not empty
[    7.0] WARNING: CPU: 1 PID: 70 at kernel/pci.c:40 niclab_remove+0x33/0x80 [niclab]
[    7.0] RIP: 0010:niclab_remove+0x33/0x80 [niclab]
[    7.0] Call Trace:
[    7.0]  <TASK>
[    7.0]  pci_device_remove+0x3e/0xb0
[    7.0]  </TASK>
[    7.0] ---[ end trace 0000000000000000 ]---
)");
    EXPECT_EQ(warning.headline, "niclab: ring 3 is not empty");
    EXPECT_EQ(warning.fingerprint, "warning: niclab_remove < pci_device_remove");
}

TEST(Reports, DmaDebuggingIsOneWithItsWarning) {
    Complaint dma = only(R"([    9.0] ------------[ cut here ]------------
[    9.0] DMA-API: niclab 0000:01:00.0: device driver frees DMA memory with different size [device address=0x00000000fff3e000] [map size=64 bytes] [unmap size=128 bytes]
[    9.0] WARNING: CPU: 0 PID: 12 at kernel/dma/debug.c:1027 check_unmap+0x5c7/0x8d0
[    9.0] RIP: 0010:check_unmap+0x5c7/0x8d0
[    9.0] Call Trace:
[    9.0]  <IRQ>
[    9.0]  debug_dma_unmap_phys+0x5b/0x70
[    9.0]  niclab_complete+0x10/0x20 [niclab]
[    9.0]  </IRQ>
[    9.0]  <TASK>
[    9.0]  run_ksoftirqd+0x28/0x40
[    9.0]  </TASK>
)");
    EXPECT_EQ(dma.kind, ComplaintKind::dma_api);
    EXPECT_EQ(dma.fingerprint, "dma api: debug_dma_unmap_phys < niclab_complete < run_ksoftirqd");
}

TEST(Reports, AHungTaskNamesWhoSleeps) {
    Complaint hung = only(R"([  242.0] INFO: task ip:310 blocked for more than 120 seconds.
[  242.0]       Tainted: G           OE      6.1.0-57-amd64 #1
[  242.0] "echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.
[  242.0] task:ip              state:D stack:0     pid:310   ppid:309    flags:0x00004002
[  242.0] Call Trace:
[  242.0]  <TASK>
[  242.0]  __schedule+0x34d/0x9e0
[  242.0]  schedule+0x5a/0xd0
[  242.0]  niclab_wait_command+0x80/0xa0 [niclab]
[  242.0]  niclab_open+0x80/0xa0 [niclab]
[  242.0]  </TASK>
)");
    EXPECT_EQ(hung.kind, ComplaintKind::hung_task);
    EXPECT_EQ(hung.fingerprint, "hung task: niclab_wait_command < niclab_open");
}

TEST(Reports, ALockupIsOneWithItsRegisters) {
    Complaint lockup = only(R"([   60.0] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [ip:300]
[   60.0] Modules linked in: niclab(OE)
[   60.0] CPU: 1 PID: 300 Comm: ip Tainted: G           OE
[   60.0] RIP: 0010:niclab_spin+0x8/0x10 [niclab]
[   60.0] Call Trace:
[   60.0]  <TASK>
[   60.0]  niclab_open+0x80/0xa0 [niclab]
[   60.0]  </TASK>
)");
    EXPECT_EQ(lockup.fingerprint, "lockup: niclab_spin < niclab_open");
}

TEST(Reports, InJsonHaveTheirFingerprint) {
    auto json = to_json(find_complaints(kOops));
    ASSERT_EQ(json.size(), 1u);
    EXPECT_EQ(json[0]["kind"], "oops");
    EXPECT_EQ(json[0]["fingerprint"], only(kOops).fingerprint);
    EXPECT_EQ(json[0]["frames"][0]["module"], "niclab");
    EXPECT_GT(json[0]["lines"].size(), 15u);
}

TEST(Reports, FramesShowTheirSource) {
    Complaint oops = only(kOops);
    oops.frames[0].source = "core/tx/channel.cc:71";
    EXPECT_THAT(report(oops), HasSubstr("niclab::TxChannel::post+0x21/0x90 [niclab]"));
    EXPECT_THAT(report(oops), HasSubstr(" core/tx/channel.cc:71\n"));
}

TEST(PlainNames, AreThoseOfTheSource) {
    EXPECT_EQ(plain_name("_ZN6niclab9TxChannel4postERKNS_6PacketE"), "niclab::TxChannel::post");
    EXPECT_EQ(plain_name("mlx5e_xmit.isra.0"), "mlx5e_xmit");
    EXPECT_EQ(plain_name("_ZN6niclab12_GLOBAL__N_14fillEv.cold"), "niclab::(anonymous namespace)::fill");
    EXPECT_EQ(plain_name("kfree"), "kfree");
}

} // namespace
} // namespace niclab
