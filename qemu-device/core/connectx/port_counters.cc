// SPDX-License-Identifier: GPL-2.0-or-later
// PPCNT: what the port counted, group by group.
#include <algorithm>

#include "connectx/device.h"
#include "connectx/registers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynCounterGroup = 0x540008;

// Offsets inside the counter set; counters of a group that no row names stay zero because nothing in the
// model raises them.
struct PpcntRow {
    u8 group;
    u16 offset;
    u64 (*value)(const Port &port, unsigned prio);
    bool narrow = false; // 32 bits
};
static_assert(Ppcnt::prio_tc.mask() < Port::kPriorities);
constexpr PpcntRow kPpcnt[] = {
    {Ppcnt::kIeee8023, 0x00, [](const Port &p, unsigned) { return p.tx().frames; }},
    {Ppcnt::kIeee8023, 0x08, [](const Port &p, unsigned) { return p.rx().frames; }},
    {Ppcnt::kIeee8023, 0x10, [](const Port &p, unsigned) { return p.rx_errors(RxError::fcs); }},
    {Ppcnt::kIeee8023, 0x20, [](const Port &p, unsigned) { return p.tx().octets; }},
    {Ppcnt::kIeee8023, 0x28, [](const Port &p, unsigned) { return p.rx().octets; }},
    {Ppcnt::kIeee8023, 0x30, [](const Port &p, unsigned) { return p.tx().multicast; }},
    {Ppcnt::kIeee8023, 0x38, [](const Port &p, unsigned) { return p.tx().broadcast; }},
    {Ppcnt::kIeee8023, 0x40, [](const Port &p, unsigned) { return p.rx().multicast; }},
    {Ppcnt::kIeee8023, 0x48, [](const Port &p, unsigned) { return p.rx().broadcast; }},
    {Ppcnt::kIeee8023, 0x60, [](const Port &p, unsigned) { return p.rx_errors(RxError::oversize); }},
    {Ppcnt::kIeee8023, 0x78, [](const Port &p, unsigned) { return p.pause.counts().control; }},
    {Ppcnt::kIeee8023, 0x80, [](const Port &p, unsigned) { return p.pause.counts().unsupported; }},
    {Ppcnt::kIeee8023, 0x88, [](const Port &p, unsigned) { return p.pause.counts().pause; }},

    {Ppcnt::kRfc2863, 0x00, [](const Port &p, unsigned) { return p.rx().octets; }},
    {Ppcnt::kRfc2863, 0x08, [](const Port &p, unsigned) { return p.rx().unicast(); }},
    {Ppcnt::kRfc2863, 0x18,
     [](const Port &p, unsigned) {
         return p.rx_errors(RxError::undersize) + p.rx_errors(RxError::oversize) + p.rx_errors(RxError::fcs);
     }},
    {Ppcnt::kRfc2863, 0x28, [](const Port &p, unsigned) { return p.tx().octets; }},
    {Ppcnt::kRfc2863, 0x30, [](const Port &p, unsigned) { return p.tx().unicast(); }},
    {Ppcnt::kRfc2863, 0x38, [](const Port &p, unsigned) { return p.tx_discards(); }},
    {Ppcnt::kRfc2863, 0x40, [](const Port &p, unsigned) { return p.tx_errors(); }},
    {Ppcnt::kRfc2863, 0x48, [](const Port &p, unsigned) { return p.rx().multicast; }},
    {Ppcnt::kRfc2863, 0x50, [](const Port &p, unsigned) { return p.rx().broadcast; }},
    {Ppcnt::kRfc2863, 0x58, [](const Port &p, unsigned) { return p.tx().multicast; }},
    {Ppcnt::kRfc2863, 0x60, [](const Port &p, unsigned) { return p.tx().broadcast; }},

    {Ppcnt::kRfc2819, 0x08, [](const Port &p, unsigned) { return p.rx().octets; }},
    {Ppcnt::kRfc2819, 0x10, [](const Port &p, unsigned) { return p.rx().frames; }},
    {Ppcnt::kRfc2819, 0x18, [](const Port &p, unsigned) { return p.rx().broadcast; }},
    {Ppcnt::kRfc2819, 0x20, [](const Port &p, unsigned) { return p.rx().multicast; }},
    {Ppcnt::kRfc2819, 0x28, [](const Port &p, unsigned) { return p.rx_errors(RxError::fcs); }},
    {Ppcnt::kRfc2819, 0x30, [](const Port &p, unsigned) { return p.rx_errors(RxError::undersize); }},
    {Ppcnt::kRfc2819, 0x38, [](const Port &p, unsigned) { return p.rx_errors(RxError::oversize); }},
    {Ppcnt::kRfc2819, 0x58, [](const Port &p, unsigned) { return p.rx().by_size[0]; }},
    {Ppcnt::kRfc2819, 0x60, [](const Port &p, unsigned) { return p.rx().by_size[1]; }},
    {Ppcnt::kRfc2819, 0x68, [](const Port &p, unsigned) { return p.rx().by_size[2]; }},
    {Ppcnt::kRfc2819, 0x70, [](const Port &p, unsigned) { return p.rx().by_size[3]; }},
    {Ppcnt::kRfc2819, 0x78, [](const Port &p, unsigned) { return p.rx().by_size[4]; }},
    {Ppcnt::kRfc2819, 0x80, [](const Port &p, unsigned) { return p.rx().by_size[5]; }},
    {Ppcnt::kRfc2819, 0x88, [](const Port &p, unsigned) { return p.rx().by_size[6]; }},
    {Ppcnt::kRfc2819, 0x90, [](const Port &p, unsigned) { return p.rx().by_size[7]; }},
    {Ppcnt::kRfc2819, 0x98, [](const Port &p, unsigned) { return p.rx().by_size[8]; }},
    {Ppcnt::kRfc2819, 0xa0, [](const Port &p, unsigned) { return p.rx().by_size[9]; }},

    {Ppcnt::kRfc3635, 0x08, [](const Port &p, unsigned) { return p.rx_errors(RxError::fcs); }},
    {Ppcnt::kRfc3635, 0x50, [](const Port &p, unsigned) { return p.rx_errors(RxError::oversize); }},

    {Ppcnt::kPerPriority, 0x00, [](const Port &p, unsigned prio) { return p.rx().prio_octets[prio]; }},
    {Ppcnt::kPerPriority, 0x20, [](const Port &p, unsigned prio) { return p.rx().prio_frames[prio]; }},
    {Ppcnt::kPerPriority, 0x28, [](const Port &p, unsigned prio) { return p.tx().prio_octets[prio]; }},
    {Ppcnt::kPerPriority, 0x48, [](const Port &p, unsigned prio) { return p.tx().prio_frames[prio]; }},

    // Pauses of the whole port are told as priority 0.
    {Ppcnt::kPerPriority, 0x50,
     [](const Port &p, unsigned prio) { return prio ? 0 : p.pause.counts().obeyed; }},
    {Ppcnt::kPerPriority, 0x58,
     [](const Port &p, unsigned prio) { return prio ? 0 : p.pause.counts().paused_ns / 1000; }},
    {Ppcnt::kPerPriority, 0x70,
     [](const Port &p, unsigned prio) { return prio ? 0 : p.pause.counts().transitions; }},

    {Ppcnt::kPhysicalLayer, 0xc0, [](const Port &p, unsigned) { return p.link_downs(); }, /*narrow=*/true},
};
static_assert(std::size(kPpcnt) <= Port::kMostPpcntRows);

// Of the extended group and the statistical one no counter moves: frames never wait in the port, and the
// wire makes no bit errors.
constexpr u32 kGroups[] = {
    Ppcnt::kIeee8023, Ppcnt::kRfc2863,     Ppcnt::kRfc2819,       Ppcnt::kRfc3635,
    Ppcnt::kExtended, Ppcnt::kPerPriority, Ppcnt::kPhysicalLayer, Ppcnt::kPhysicalStatistical};

} // namespace

Reply read_ppcnt(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Ppcnt>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    ConstView<Ppcnt> image(in.data());
    u32 group = image.get(Ppcnt::grp), prio = image.get(Ppcnt::prio_tc);
    if (std::find(std::begin(kGroups), std::end(kGroups), group) == std::end(kGroups))
        return fail(Status::bad_parameter, kSynCounterGroup);
    if (prio != 0 && group != Ppcnt::kPerPriority) return fail(Status::bad_parameter, kSynRegisterValue);
    View<Ppcnt>(out.data()).set(Ppcnt::local_port, kPort).set(Ppcnt::grp, group).set(Ppcnt::prio_tc, prio);
    for (const PpcntRow &row : kPpcnt) {
        if (row.group != group) continue;
        u64 &base = device.port.ppcnt_base[&row - kPpcnt][prio];
        u64 value = row.value(device.port, prio);
        u8 *at = out.data() + Ppcnt::counters + row.offset;
        row.narrow ? store_be32(at, static_cast<u32>(value - base)) : store_be64(at, value - base);
        if (image.get(Ppcnt::clr)) base = value;
    }
    return kOk;
}

} // namespace niclab::connectx
