// SPDX-License-Identifier: GPL-2.0-or-later
// PMLP and MCIA: the cable module behind the port.
#include <algorithm>

#include "connectx/device.h"
#include "connectx/module.h"
#include "connectx/registers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynModule = 0x540201, kSynRange = 0x540202, kSynLock = 0x540203;
constexpr u32 kModule = 0, kLanes = 4;

} // namespace

Reply read_pmlp(Device &, RegisterIn in, RegisterOut out) {
    if (wrong_port<Pmlp>(in)) return fail(Status::bad_parameter, kSynRegisterPort);
    View<Pmlp>(out.data()).set(Pmlp::local_port, kPort).set(Pmlp::width, kLanes);
    for (u32 lane = 0; lane < kLanes; ++lane)
        View<LaneMapping>(out.data() + Pmlp::lanes + lane * LaneMapping::bytes)
            .set(LaneMapping::rx_lane, lane)
            .set(LaneMapping::tx_lane, lane)
            .set(LaneMapping::module, kModule);
    return kOk;
}

// The module has one page and, as SFF-8636 has it, falls back to it when another one is selected.
Reply read_mcia(Device &device, RegisterIn in, RegisterOut out) {
    ConstView<Mcia> asked(in.data());
    u32 size = asked.get(Mcia::size), at = asked.get(Mcia::device_address);
    if (asked.get(Mcia::module) != kModule) return fail(Status::bad_parameter, kSynModule);
    if (asked.get(Mcia::l)) return fail(Status::bad_parameter, kSynLock);
    if (size == 0 || size > std::min<usize>(Mcia::data_bytes, out.size() - Mcia::data) ||
        at + size > kModulePageBytes)
        return fail(Status::bad_parameter, kSynRange);
    View<Mcia> image(out.data());
    for (auto field :
         {Mcia::module, Mcia::i2c_device_address, Mcia::page_number, Mcia::device_address, Mcia::size})
        image.set(field, asked.get(field));
    if (!device.port.module_plugged()) {
        image.set(Mcia::status, Mcia::kNotConnected);
    } else if (asked.get(Mcia::i2c_device_address) != kModuleI2cAddress) {
        image.set(Mcia::status, Mcia::kI2cError); // nothing answers there
    } else {
        std::copy_n(module_memory().begin() + at, size, out.begin() + Mcia::data);
    }
    return kOk;
}

} // namespace niclab::connectx
