// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Registers of the board: module memory, temperature, indicator light, PCIe counters, firmware components.
#pragma once

#include "spec/layout.h"

namespace niclab {

struct Mcia { // memory of the cable module: 48 bytes at once, or 128 in a longer image (mcia_32dwords in
              // MCAM)
    using F = Field<Mcia>;
    static constexpr u16 bytes = 0x40;
    static constexpr F l{0x00, 31, 31}; // lock the page
    static constexpr F module{0x00, 23, 16};
    static constexpr F status{0x00, 7, 0};
    static constexpr F i2c_device_address{0x04, 31, 24};
    static constexpr F page_number{0x04, 23, 16};
    static constexpr F device_address{0x04, 15, 0};
    static constexpr F size{0x08, 15, 0};
    static constexpr u16 data = 0x10, data_bytes = 0x80;
    static constexpr u32 kGood = 0, kNotConnected = 3, kI2cError = 9; // status
    static constexpr F rows[] = {l, module, status, i2c_device_address, page_number, device_address, size};
};
struct Mtcap {
    using F = Field<Mtcap>;
    static constexpr u16 bytes = 0x10;
    static constexpr F sensor_count{0x00, 6, 0};
    static constexpr Field64<Mtcap> sensor_map{0x08};
    static constexpr F rows[] = {sensor_count};
};
struct Mtmp { // temperatures in units of 0.125 degrees
    using F = Field<Mtmp>;
    static constexpr u16 bytes = 0x20;
    static constexpr F sensor_index{0x00, 11, 0};
    static constexpr F temperature{0x04, 15, 0};
    static constexpr F mte{0x08, 31, 31}; // keep the highest
    static constexpr F mtr{0x08, 30, 30}; // forget the highest
    static constexpr F max_temperature{0x08, 15, 0};
    static constexpr F tee{0x0c, 31, 30}; // event mode
    static constexpr F temp_threshold_hi{0x0c, 15, 0};
    static constexpr F temp_threshold_lo{0x10, 15, 0};
    static constexpr u16 sensor_name = 0x18; // eight characters
    static constexpr u32 kFirstModule = 64;  // sensor index of module 0
    static constexpr F rows[] = {sensor_index,      temperature,      mte, mtr, max_temperature, tee,
                                 temp_threshold_hi, temp_threshold_lo};
};
struct Mlcr { // indicator light: seconds to blink, 0xffff for ever
    using F = Field<Mlcr>;
    static constexpr u16 bytes = 0x0c;
    static constexpr F local_port{0x00, 23, 16};
    static constexpr F beacon_duration{0x04, 15, 0};
    static constexpr F beacon_remain{0x08, 15, 0};
    static constexpr F rows[] = {local_port, beacon_duration, beacon_remain};
};
struct Mpcnt { // PCI Express counters
    using F = Field<Mpcnt>;
    static constexpr u16 bytes = 0x100;
    static constexpr F pcie_index{0x00, 23, 16};
    static constexpr F grp{0x00, 5, 0};
    static constexpr F clr{0x04, 31, 31};
    static constexpr u32 kPerformance = 0; // group
    static constexpr F rows[] = {pcie_index, grp, clr};
};
struct Mcqs { // a firmware component's state
    using F = Field<Mcqs>;
    static constexpr u16 bytes = 0x10;
    static constexpr F last_index_flag{0x00, 31, 31};
    static constexpr F component_index{0x00, 15, 0};
    static constexpr F identifier{0x04, 15, 0};
    static constexpr F component_status{0x08, 8, 4};
    static constexpr F component_update_state{0x08, 3, 0};
    static constexpr u32 kBootImage = 1, kPresentAndInUse = 2; // identifier, status
    static constexpr F rows[] = {last_index_flag, component_index, identifier, component_status,
                                 component_update_state};
};
struct Mcqi { // facts about a firmware component; they follow behind the register
    using F = Field<Mcqi>;
    static constexpr u16 bytes = 0x18;
    static constexpr F read_pending_component{0x00, 31, 31};
    static constexpr F component_index{0x00, 15, 0};
    static constexpr F info_type{0x08, 4, 0};
    static constexpr F info_size{0x0c, 31, 0};
    static constexpr F offset{0x10, 31, 0};
    static constexpr F data_size{0x14, 15, 0};
    static constexpr u32 kVersion = 1; // info_type
    static constexpr F rows[] = {
        read_pending_component, component_index, info_type, info_size, offset, data_size};
};
struct McqiVersion {
    using F = Field<McqiVersion>;
    static constexpr u16 bytes = 0x7c;
    static constexpr F version_string_length{0x00, 7, 0};
    static constexpr F version{0x04, 31, 0}; // major, minor, sub-minor of 8, 8 and 16 bits
    static constexpr u16 version_string = 0x20, version_string_bytes = 92;
    static constexpr F rows[] = {version_string_length, version};
};
static_assert(disjoint(Mcia::rows) && disjoint(Mtcap::rows) && disjoint(Mtmp::rows) && disjoint(Mlcr::rows) &&
              disjoint(Mpcnt::rows) && disjoint(Mcqs::rows) && disjoint(Mcqi::rows) &&
              disjoint(McqiVersion::rows));

} // namespace niclab
