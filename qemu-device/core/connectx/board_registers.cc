// SPDX-License-Identifier: GPL-2.0-or-later
// MTCAP, MTMP, MLCR, MPCNT: temperature, indicator light, PCI Express counters.
#include <cstring>

#include "connectx/device.h"
#include "connectx/registers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynSensor = 0x540301, kSynThreshold = 0x540302, kSynPcieGroup = 0x540303;
constexpr u32 kChipSensor = 0, kModuleSensor = Mtmp::kFirstModule;
constexpr char kChipName[] = "asic";

u32 wire(Board::Temperature temperature) { return static_cast<u16>(temperature); }

} // namespace

// ---- MTCAP, MTMP
Reply read_mtcap(Device &, RegisterIn, RegisterOut out) {
    View<Mtcap>(out.data()).set(Mtcap::sensor_count, 1).set(Mtcap::sensor_map, u64{1} << kChipSensor);
    return kOk;
}

// The copper cable has no sensor: its temperature reads as zero, which says so.
Reply read_mtmp(Device &device, RegisterIn in, RegisterOut out) {
    u32 sensor = ConstView<Mtmp>(in.data()).get(Mtmp::sensor_index);
    if (sensor != kChipSensor && sensor != kModuleSensor) return fail(Status::bad_parameter, kSynSensor);
    View<Mtmp> image(out.data());
    image.set(Mtmp::sensor_index, sensor);
    if (sensor == kModuleSensor) return kOk;
    image.set(Mtmp::temperature, wire(device.board.temperature()))
        .set(Mtmp::mte, device.board.tracks_highest())
        .set(Mtmp::max_temperature, wire(device.board.highest()))
        .set(Mtmp::temp_threshold_hi, wire(Board::kLimit))
        .set(Mtmp::temp_threshold_lo, wire(Board::kLimitBelow));
    std::memcpy(out.data() + Mtmp::sensor_name, kChipName, sizeof(kChipName) - 1);
    return kOk;
}

// The thresholds are the board's. An image may repeat them or leave them out, as one that only forgets does.
Reply write_mtmp(Device &device, RegisterIn in, RegisterOut out) {
    ConstView<Mtmp> image(in.data());
    if (image.get(Mtmp::sensor_index) != kChipSensor) return fail(Status::bad_parameter, kSynSensor);
    u32 high = image.get(Mtmp::temp_threshold_hi), low = image.get(Mtmp::temp_threshold_lo);
    bool other = (high && high != wire(Board::kLimit)) || (low && low != wire(Board::kLimitBelow));
    if (other || image.get(Mtmp::tee)) return fail(Status::bad_parameter, kSynThreshold);
    if (image.get(Mtmp::mtr))
        device.board.forget_highest();
    else
        device.board.track_highest(image.get(Mtmp::mte));
    return read_mtmp(device, in, out);
}

// ---- MLCR
Reply read_mlcr(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Mlcr>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    View<Mlcr>(out.data())
        .set(Mlcr::local_port, kPort)
        .set(Mlcr::beacon_duration, device.board.blink_seconds())
        .set(Mlcr::beacon_remain, device.board.blink_left());
    return kOk;
}
Reply write_mlcr(Device &device, RegisterIn in, RegisterOut out) {
    if (wrong_port<Mlcr>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    device.board.blink(ConstView<Mlcr>(in.data()).get(Mlcr::beacon_duration));
    return read_mlcr(device, in, out);
}

// ---- MPCNT
// The model's PCI Express link makes no errors and never stalls, so each counter of the group stays zero.
Reply read_mpcnt(Device &, RegisterIn in, RegisterOut out) {
    ConstView<Mpcnt> asked(in.data());
    if (asked.get(Mpcnt::grp) != Mpcnt::kPerformance || asked.get(Mpcnt::pcie_index) != 0)
        return fail(Status::bad_parameter, kSynPcieGroup);
    View<Mpcnt>(out.data()).set(Mpcnt::grp, Mpcnt::kPerformance);
    return kOk;
}

} // namespace niclab::connectx
