// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The initialization segment at the start of BAR0, and the doorbell page (UAR). Offsets in bytes, words
// big-endian.
#pragma once

#include "spec/layout.h"

namespace niclab {

// Offsets inside BAR0.
namespace init_segment {
constexpr u32 kFwRev = 0x000;    // [31:16] minor, [15:0] major
constexpr u32 kCmdifRev = 0x004; // [31:16] command interface revision, [15:0] sub-minor
constexpr u32 kCmdqAddrHigh = 0x010;
constexpr u32 kCmdqAddrLow =
    0x014; // [31:12] address, [10:8] nic_interface, [7:4] log entries, [3:0] log stride
constexpr u32 kCmdDoorbell = 0x018;  // bit i: entry i belongs to the device
constexpr u32 kInitializing = 0x1fc; // [31] busy, [30] software may reset the card by the NIC interface
constexpr u32 kResetSupported = 1u << 30;
constexpr u32 kHealthBuffer = 0x200; // 64 bytes, see HealthBuffer
constexpr u32 kCmdExecTimeout = 0xff8;
constexpr u32 kCmdQueueInitTimeout = 0xffc;
constexpr u32 kTimerHigh = 0x1000;
constexpr u32 kTimerLow = 0x1004;
constexpr u32 kClearInt = 0x100c;
constexpr u32 kHealthCounter = 0x1010; // [31:24] syndrome, [23:0] counter
constexpr u32 kRealTimeHigh = 0x1040;  // seconds
constexpr u32 kRealTimeLow = 0x1044;   // nanoseconds
constexpr u32 kBytes = 0x4010;         // nothing else of BAR0 may start before this
constexpr u32 kCmdifRevision = 5;      // the only revision that drivers accept
constexpr u32 kNicInterfaceFull = 0, kNicInterfaceDisabled = 1, kNicInterfaceNoDram = 2,
              kNicInterfaceReset = 7;
} // namespace init_segment

struct HealthBuffer {
    using F = Field<HealthBuffer>;
    static constexpr u16 bytes = 0x40;
    static constexpr F assert_exit_ptr{0x20, 31, 0};
    static constexpr F assert_callra{0x24, 31, 0};
    static constexpr F time{0x2c, 31, 0};
    static constexpr F fw_version{0x30, 31, 0};
    static constexpr F hw_id{0x34, 31, 0};
    static constexpr F rfr{0x38, 31, 31};
    static constexpr F severity_valid{0x38, 27, 27};
    static constexpr F severity{0x38, 26, 24};
    static constexpr F irisc_index{0x3c, 31, 24};
    static constexpr F synd{0x3c, 23, 16};
    static constexpr F ext_synd{0x3c, 15, 0};
    static constexpr F rows[] = {assert_exit_ptr, assert_callra, time,        fw_version, hw_id,   rfr,
                                 severity_valid,  severity,      irisc_index, synd,       ext_synd};
};
static_assert(disjoint(HealthBuffer::rows));

// Offsets inside a 4 KiB doorbell page.
namespace uar {
constexpr u32 kBytes = 0x1000;
constexpr u32 kCqArm = 0x020;        // 64-bit: CqArm
constexpr u32 kEqArm = 0x040;        // 32-bit: EqDoorbell, update consumer index and arm
constexpr u32 kEqUpdate = 0x048;     // 32-bit: EqDoorbell, update consumer index only
constexpr u32 kSendDoorbell = 0x800; // 64-bit: start of the newest WQE's control segment
} // namespace uar

// CQ arm request: the same two words at UAR + 0x20; the first also stands in the doorbell record.
struct CqArm {
    using F = Field<CqArm>;
    static constexpr u16 bytes = 8;
    static constexpr F sn{0x00, 29, 28};
    static constexpr F solicited_only{0x00, 24, 24};
    static constexpr F ci{0x00, 23, 0};
    static constexpr F cqn{0x04, 23, 0};
    static constexpr F rows[] = {sn, solicited_only, ci, cqn};
};
static_assert(disjoint(CqArm::rows));

struct EqDoorbell {
    using F = Field<EqDoorbell>;
    static constexpr u16 bytes = 4;
    static constexpr F eqn{0x00, 31, 24};
    static constexpr F ci{0x00, 23, 0};
    static constexpr F rows[] = {eqn, ci};
};
static_assert(disjoint(EqDoorbell::rows));

// Doorbell records in host memory, 8 bytes each.
struct CqRecord {
    using F = Field<CqRecord>;
    static constexpr u16 bytes = 8;
    static constexpr F consumer{0x00, 23, 0};
    static constexpr F arm{0x04, 31, 0};
    static constexpr F rows[] = {consumer, arm};
};
struct WqRecord {
    using F = Field<WqRecord>;
    static constexpr u16 bytes = 8;
    static constexpr F receive{0x00, 15, 0}; // running count of receive WQEs
    static constexpr F send{0x04, 15, 0};    // running count of 64-byte send basic blocks
    static constexpr F rows[] = {receive, send};
};
static_assert(disjoint(CqRecord::rows) && disjoint(WqRecord::rows));

} // namespace niclab
