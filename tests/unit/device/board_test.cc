// SPDX-License-Identifier: GPL-2.0-or-later
// The cable module, the indicator light, temperature, PCI Express counters and firmware components.
#include <numeric>

#include "support/registers.h"

namespace niclab::test {
namespace {

class BoardTest : public PortTest {
  protected:
    static CommandInput mcia(u32 at, u32 size, u32 page = 0, u32 i2c = 0x50) {
        return access(kMcia, kRead, 0x90)
            .set(Mcia::i2c_device_address, i2c, kImage)
            .set(Mcia::page_number, page, kImage)
            .set(Mcia::device_address, at, kImage)
            .set(Mcia::size, size, kImage);
    }
    std::vector<u8> module_bytes(u32 at, u32 size, u32 from_page = 0) {
        CommandResult result = must(mcia(at, size, from_page));
        EXPECT_EQ(result.get(Mcia::status, kImage), 0u);
        auto first = result.out.begin() + kImage + 0x10;
        return {first, first + size};
    }
    static CommandInput mtmp(u16 op, u32 sensor = 0) {
        return access(kMtmp, op, 0x20).set(Mtmp::sensor_index, sensor, kImage);
    }
    static CommandInput mlcr(u16 op, u32 seconds = 0) {
        return access(kMlcr, op, 0x0c)
            .set(Mlcr::local_port, 1, kImage)
            .set(Mlcr::beacon_duration, seconds, kImage);
    }
    static CommandInput mcqi(u32 size, u32 at = 0) {
        CommandInput input = access(kMcqi, kRead, 0x18 + 0x7c);
        return input.set(Mcqi::info_type, 1, kImage)
            .set(Mcqi::data_size, size, kImage)
            .set(Mcqi::offset, at, kImage);
    }
};

// ---- module
TEST_F(BoardTest, ThePortUsesFourLanesOfModuleZero) {
    CommandResult result = must(access(kPmlp, kRead, 0x40).set(Pmlp::local_port, 1, kImage));
    EXPECT_EQ(load_be32(result.out.data() + kImage), 0x0001'0004u);
    for (u32 lane = 0; lane < 4; ++lane)
        EXPECT_EQ(load_be32(result.out.data() + kImage + 4 + 4 * lane), lane << 24 | lane << 16);
}

TEST_F(BoardTest, TheModuleIsACopperCableBySff8636) {
    std::vector<u8> low = module_bytes(0, 128), high = module_bytes(128, 128);
    EXPECT_EQ(low[0], 0x11) << "QSFP28";
    EXPECT_EQ(low[2] & 4, 4) << "one page";
    EXPECT_EQ(high[0], 0x11);
    EXPECT_EQ(high[130 - 128], 0x23) << "no separable connector";
    EXPECT_EQ(high[192 - 128], 0x0b) << "100GBASE-CR4";
    EXPECT_EQ(high[191 - 128], static_cast<u8>(std::accumulate(high.begin(), high.begin() + 63, 0)));
    EXPECT_EQ(high[223 - 128], static_cast<u8>(std::accumulate(high.begin() + 64, high.begin() + 95, 0)));
    EXPECT_EQ(std::string(high.begin() + 20, high.begin() + 36), "niclab          ");
}

TEST_F(BoardTest, ModuleBytesCanBeReadInPiecesAndOtherPagesFallBackToTheOnlyOne) {
    std::vector<u8> high = module_bytes(128, 128);
    EXPECT_EQ(module_bytes(148, 1), std::vector<u8>{'n'});
    EXPECT_EQ(module_bytes(255, 1).size(), 1u);
    EXPECT_EQ(module_bytes(128, 128, 3), high);
}

TEST_F(BoardTest, RefusesModuleReadsOutsideItsMemory) {
    for (auto [at, size] :
         {std::pair{0u, 0u}, {0u, 129u}, {255u, 2u}, {256u, 1u}, {0xffffu, 0xffffu}, {0xffffu, 1u}})
        EXPECT_EQ(run(mcia(at, size)).status(), Status::bad_parameter) << at << " " << size;
    CommandInput shorter = mcia(0, 49);
    shorter.raw.resize(kImage + 0x40);
    EXPECT_EQ(run(shorter).status(), Status::bad_parameter) << "no room in the short image";
    EXPECT_TRUE(run(shorter.set(Mcia::size, 48, kImage)).ok());
    EXPECT_EQ(run(mcia(0, 1).set(Mcia::module, 1, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mcia(0, 1).set(Mcia::l, 1, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mcia(0, 1).set(CommandIn::op_mod, kWrite)).status(), Status::bad_parameter);
    EXPECT_EQ(must(mcia(0, 1, 0, 0x51)).get(Mcia::status, kImage), 9u)
        << "nothing answers on that I2C address";
}

TEST_F(BoardTest, TakingTheModuleOutDropsTheLinkAndTellsBoth) {
    set_up(true);
    listen(1 << 9 | 1 << 22);
    cx_core_set_module(host.core(), false);
    cx_core_set_module(host.core(), false); // it is
    EXPECT_FALSE(cx_core_link_up(host.core()));
    EXPECT_FALSE(cx_core_module(host.core()));
    EXPECT_EQ(must(mcia(0, 1)).get(Mcia::status, kImage), 3u) << "not connected";
    cx_core_set_module(host.core(), true);
    EXPECT_TRUE(cx_core_link_up(host.core()));
    ASSERT_EQ(port_events(), (std::vector<u32>{0, 1, 0, 4}));
    EXPECT_EQ(event(0)[1], 0x16);
    EXPECT_EQ(load_be32(event(0).data() + 0x20), 2u) << "module 0 unplugged";
    EXPECT_EQ(event(2)[1], 0x16);
    EXPECT_EQ(load_be32(event(2).data() + 0x20), 1u) << "module 0 plugged";
}

TEST_F(BoardTest, AModuleTakenOutStaysOutOverAReset) {
    cx_core_set_module(host.core(), false);
    cx_core_reset(host.core());
    EXPECT_FALSE(cx_core_module(host.core()));
}

// ---- temperature, in units of 0.125 degrees
TEST_F(BoardTest, HasOneTemperatureSensor) {
    CommandResult caps = must(access(kMtcap, kRead, 0x10));
    EXPECT_EQ(load_be32(caps.out.data() + kImage), 1u);
    EXPECT_EQ(load_be64(caps.out.data() + kImage + 8), 1u);
    CommandResult chip = must(mtmp(kRead));
    EXPECT_EQ(chip.get(Mtmp::temperature, kImage), 45u * 8);
    EXPECT_EQ(chip.get(Mtmp::temp_threshold_hi, kImage), 105u * 8);
    EXPECT_EQ(std::string(chip.out.begin() + kImage + 0x18, chip.out.begin() + kImage + 0x1c), "asic");
    EXPECT_EQ(must(mtmp(kRead, 64)).get(Mtmp::temperature, kImage), 0u) << "the cable has no sensor";
    for (u32 sensor : {1u, 63u, 65u, 0xfffu})
        EXPECT_EQ(run(mtmp(kRead, sensor)).status(), Status::bad_parameter) << sensor;
}

TEST_F(BoardTest, KeepsTheHighestTemperatureWhenAsked) {
    cx_core_set_temperature(host.core(), 60'000);
    EXPECT_EQ(must(mtmp(kRead)).get(Mtmp::max_temperature, kImage), 45u * 8) << "not asked yet";
    must(mtmp(kWrite).set(Mtmp::mte, 1, kImage));
    cx_core_set_temperature(host.core(), 70'000);
    cx_core_set_temperature(host.core(), 50'500);
    CommandResult result = must(mtmp(kRead));
    EXPECT_EQ(result.get(Mtmp::mte, kImage), 1u);
    EXPECT_EQ(result.get(Mtmp::temperature, kImage), 50u * 8 + 4);
    EXPECT_EQ(result.get(Mtmp::max_temperature, kImage), 70u * 8);
    must(mtmp(kWrite).set(Mtmp::mtr, 1, kImage));
    result = must(mtmp(kRead));
    EXPECT_EQ(result.get(Mtmp::max_temperature, kImage), 50u * 8 + 4);
    EXPECT_EQ(result.get(Mtmp::mte, kImage), 1u) << "still kept";
}

TEST_F(BoardTest, RefusesToChangeThresholds) {
    EXPECT_EQ(run(mtmp(kWrite).set(Mtmp::temp_threshold_hi, 90 * 8, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mtmp(kWrite).set(Mtmp::temp_threshold_lo, 1, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mtmp(kWrite).set(Mtmp::tee, 1, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mtmp(kWrite, 64)).status(), Status::bad_parameter);
}

TEST_F(BoardTest, WarnsOnceWhenItGetsTooHot) {
    listen(1 << 23);
    for (int degrees : {104, 105, 110, 101, 106, 99, 107})
        cx_core_set_temperature(host.core(), degrees * 1000);
    ASSERT_EQ(port_events().size(), 2u);
    EXPECT_EQ(event(0)[1], 0x17);
    EXPECT_EQ(load_be64(event(0).data() + 0x20), 0u);
    EXPECT_EQ(load_be64(event(0).data() + 0x28), 1u) << "sensor 0";
    EXPECT_EQ(cx_core_temperature(host.core()), 107'000);
    cx_core_set_temperature(host.core(), -5'000);
    EXPECT_EQ(must(mtmp(kRead)).get(Mtmp::temperature, kImage), 0xffffu & -40u) << "below zero";
}

// ---- indicator light
TEST_F(BoardTest, TheLightBlinksForAsLongAsAsked) {
    EXPECT_FALSE(cx_core_beacon(host.core()));
    must(mlcr(kWrite, 10));
    EXPECT_TRUE(cx_core_beacon(host.core()));
    host.now_ns += 3'500'000'000;
    CommandResult result = must(mlcr(kRead));
    EXPECT_EQ(result.get(Mlcr::beacon_duration, kImage), 10u);
    EXPECT_EQ(result.get(Mlcr::beacon_remain, kImage), 7u);
    host.now_ns += 6'500'000'000;
    EXPECT_FALSE(cx_core_beacon(host.core()));
    EXPECT_EQ(must(mlcr(kRead)).get(Mlcr::beacon_duration, kImage), 0u);
    must(mlcr(kWrite, 0xffff));
    host.now_ns += 100'000'000'000'000;
    EXPECT_TRUE(cx_core_beacon(host.core()));
    EXPECT_EQ(must(mlcr(kRead)).get(Mlcr::beacon_remain, kImage), 0xffffu);
    must(mlcr(kWrite, 0));
    EXPECT_FALSE(cx_core_beacon(host.core()));
    EXPECT_EQ(run(mlcr(kWrite, 1).set(Mlcr::local_port, 2, kImage)).status(), Status::bad_parameter);
}

// ---- PCI Express counters
TEST_F(BoardTest, ThePciExpressLinkMakesNoErrors) {
    CommandResult result = must(access(kMpcnt, kRead, 0x100));
    for (usize at = 0; at < 0x100; at += 4)
        EXPECT_EQ(load_be32(result.out.data() + kImage + at), 0u) << at;
    EXPECT_EQ(run(access(kMpcnt, kRead, 0x100).set(Mpcnt::grp, 2, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(run(access(kMpcnt, kRead, 0x100).set(Mpcnt::pcie_index, 1, kImage)).status(),
              Status::bad_parameter);
}

// ---- firmware
TEST_F(BoardTest, TheFirmwareIsOneComponentInUse) {
    CommandResult result = must(access(kMcqs, kRead, 0x10));
    EXPECT_EQ(load_be32(result.out.data() + kImage), 0x8000'0000u) << "the last one";
    EXPECT_EQ(load_be32(result.out.data() + kImage + 4), 1u) << "boot image";
    EXPECT_EQ(load_be32(result.out.data() + kImage + 8), 0x20u) << "in use, nothing pending";
    EXPECT_EQ(run(access(kMcqs, kRead, 0x10).set(Mcqs::component_index, 1, kImage)).status(),
              Status::bad_parameter);
}

TEST_F(BoardTest, TheFirmwareVersionIsThatOfTheInitializationSegment) {
    CommandResult result = must(mcqi(0x7c));
    const u8 *data = result.out.data() + kImage + 0x18;
    u32 major = host.read32(0) & 0xffff, minor = host.read32(0) >> 16, sub = host.read32(4) & 0xffff;
    EXPECT_EQ(load_be32(data + 4), major << 24 | minor << 16 | sub);
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(data + 0x20), data[3]),
              std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(sub));
    EXPECT_EQ(load_be32(must(mcqi(4, 4)).out.data() + kImage + 0x18), load_be32(data + 4)) << "a part of it";
}

TEST_F(BoardTest, RefusesFirmwareFactsItDoesNotHave) {
    EXPECT_EQ(run(mcqi(0x7d)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mcqi(4, 0xffff'fffc)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mcqi(4).set(Mcqi::info_type, 0, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mcqi(4).set(Mcqi::component_index, 1, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(run(mcqi(4).set(Mcqi::read_pending_component, 1, kImage)).status(), Status::bad_parameter);
    EXPECT_EQ(driver.run(mcqi(0x7c), kImage + 0x18 + 0x7b).status(), Status::bad_parameter)
        << "no room for it";
}

} // namespace
} // namespace niclab::test
