// SPDX-License-Identifier: GPL-2.0-or-later
// The initialization segment, and how BAR0 is decoded.
#include <gtest/gtest.h>

#include "support/command_driver.h"

namespace niclab::test {
namespace {

constexpr u64 kMillisecond = 1'000'000;

TEST(InitSegment, HoldsTheConstantsThatProbeLooksAt) {
    FakeHost host;
    EXPECT_EQ(host.read32(0x000) & 0xffff, 22u) << "firmware major";
    EXPECT_EQ(host.read32(0x004) >> 16, 5u) << "command interface revision";
    EXPECT_EQ(host.read32(0x014), 0x56u) << "32 entries of 64 bytes, no address, full interface";
    EXPECT_EQ(host.read32(0x1fc), 1u << 30) << "not initializing, and can be reset";
    EXPECT_EQ(host.read32(0x240), 0u) << "no boot agent rings";
    EXPECT_EQ(host.read32(0xff8), 0u) << "built-in timeouts";
    EXPECT_EQ(host.read32(0xffc), 0u) << "built-in timeouts";
}

TEST(InitSegment, FirmwareVersionIsTheSameInBothPlacesAndNeverAllOnes) {
    FakeHost host;
    u32 rev = host.read32(0x000), sub = host.read32(0x004) & 0xffff;
    EXPECT_EQ(host.read32(0x230), (rev & 0xffff) << 24 | (rev >> 16) << 16 | sub);
    EXPECT_NE(host.read32(0x230), ~0u);
}

TEST(InitSegment, HealthBufferOfAHealthyCardHasNoSyndrome) {
    FakeHost host;
    EXPECT_EQ(cx_core_read(host.core(), 0x23d, 1), 0u) << "syndrome";
    EXPECT_EQ(cx_core_read(host.core(), 0x23e, 2), 0u) << "extended syndrome";
    EXPECT_EQ(cx_core_read(host.core(), 0x238, 1), 0u) << "reset flow request and severity";
    for (u64 at = 0x200; at < 0x228; at += 4)
        EXPECT_EQ(host.read32(at), 0u) << at;
}

TEST(InitSegment, HealthCounterDiffersAtEachPollAndIsNeverZero) {
    FakeHost host;
    u32 last = 0;
    for (u64 step : {50 * kMillisecond, 2000 * kMillisecond, 2999 * kMillisecond}) {
        host.now_ns += step;
        u32 now = host.read32(0x1010);
        EXPECT_NE(now, last);
        EXPECT_EQ(now >> 24, 0u) << "syndrome";
        last = now;
    }
    host.now_ns = 0;
    EXPECT_NE(host.read32(0x1010), 0u);
    host.now_ns = u64{0xfffffe} * kMillisecond; // where 24 bits end
    EXPECT_NE(host.read32(0x1010), 0u);
}

TEST(InitSegment, TimerIsTheClockInTwoWords) {
    FakeHost host;
    host.now_ns = 0x0000'0012'3456'789a;
    EXPECT_EQ(host.read32(0x1000), 0x12u);
    EXPECT_EQ(host.read32(0x1004), 0x3456789au);
    EXPECT_EQ(cx_core_read(host.core(), 0x1000, 8), 0x12'3456'789aull);
}

TEST(InitSegment, ReadsOfEverySizeAreCutFromTheSameBigEndianWords) {
    FakeHost host;
    u32 word = host.read32(0x230);
    EXPECT_EQ(cx_core_read(host.core(), 0x230, 1), word >> 24);
    EXPECT_EQ(cx_core_read(host.core(), 0x233, 1), word & 0xff);
    EXPECT_EQ(cx_core_read(host.core(), 0x232, 2), word & 0xffff);
    EXPECT_EQ(cx_core_read(host.core(), 0x230, 8) >> 32, word);
}

TEST(InitSegment, AddressOfTheCommandQueueReadsBackWithTheSizesAlwaysInPlace) {
    FakeHost host;
    host.write32(0x010, 0x12);
    host.write32(0x014, 0x3456'7000);
    EXPECT_EQ(host.read32(0x010), 0x12u);
    EXPECT_EQ(host.read32(0x014), 0x3456'7056u);
    host.write32(0x014, 0x3456'7fff & ~0x700u); // the low bits are not the guest's
    EXPECT_EQ(host.read32(0x014), 0x3456'7056u);
}

TEST(InitSegment, OneWriteOfEightBytesSetsBothHalvesOfTheQueueAddress) {
    FakeHost host;
    host.write64(0x010, 0x0000'0001'2345'6000);
    EXPECT_EQ(host.read32(0x010), 1u);
    EXPECT_EQ(host.read32(0x014), 0x2345'6056u);
}

TEST(InitSegment, DisablingTheInterfaceReadsBackAndForgetsTheGuest) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    u32 low = host.read32(0x014);
    host.write32(0x014, (low & 0xfffff000) | 1 << 8);
    EXPECT_EQ(host.read32(0x014), low | 1 << 8);
    EXPECT_EQ(host.counter("live_pages"), 0u);
    driver.prepare(CommandInput(Opcode::query_issi, 0x10).raw, 0x70, 0);
    driver.ring(0);
    EXPECT_FALSE(driver.collect(0).completed) << "a disabled interface takes no commands";
}

TEST(InitSegment, SoftwareResetPassesToDisabled) {
    FakeHost host;
    CommandDriver driver(host);
    host.write32(0x014, host.read32(0x014) | 7 << 8);
    EXPECT_EQ(host.read32(0x014) >> 8 & 7, 1u);
}

TEST(InitSegment, RegisteringTheQueueAgainEnablesADisabledInterface) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    host.write32(0x014, host.read32(0x014) | 1 << 8);
    driver.register_queue();
    EXPECT_EQ(host.read32(0x014) >> 8 & 7, 0u);
    EXPECT_NO_THROW(driver.bring_up());
}

struct BadWrite {
    u64 offset;
    unsigned size;
};
class InitSegmentRefuses : public testing::TestWithParam<BadWrite> {};

TEST_P(InitSegmentRefuses, AWriteWhereNoRegisterIsOrOfAWrongSize) {
    FakeHost host;
    u32 before = host.read32(0x014);
    cx_core_write(host.core(), GetParam().offset, ~0ull, GetParam().size);
    EXPECT_EQ(host.guest_errors.size(), 1u);
    EXPECT_EQ(host.counter("guest_errors"), 1u);
    EXPECT_EQ(host.read32(0x014), before);
}
INSTANTIATE_TEST_SUITE_P(Writes, InitSegmentRefuses,
                         testing::Values(BadWrite{0x000, 4}, BadWrite{0x014, 1}, BadWrite{0x014, 2},
                                         BadWrite{0x012, 4}, BadWrite{0x200, 4}, BadWrite{0x1010, 4},
                                         BadWrite{0x8000, 4}));

TEST(InitSegment, ClearInterruptIsAccepted) {
    FakeHost host;
    host.write32(0x100c, 1);
    EXPECT_TRUE(host.guest_errors.empty());
}

TEST(InitSegment, ReadsBehindTheSegmentAreZero) {
    FakeHost host;
    EXPECT_EQ(host.read32(0x4010), 0u);
    EXPECT_EQ(cx_core_read(host.core(), CX_BAR_BYTES - 8, 8), 0u);
    EXPECT_EQ(cx_core_read(host.core(), 0x400e, 4), 0u) << "across the end";
}

TEST(DoorbellPage, OfNobodyIsRefused) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    for (u64 offset : {u64{0x10000 + 0x40}, u64{0x10000 + 0x800}, u64{CX_BAR_BYTES - 8}}) {
        host.guest_errors.clear();
        cx_core_write(host.core(), offset, 0, 4);
        EXPECT_EQ(host.guest_errors.size(), 1u) << offset;
    }
    EXPECT_EQ(host.counter("doorbells_invalid"), 3u);
}

TEST(DoorbellPage, CountsEachDoorbellByItsKind) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    u64 page = u64{driver.alloc(Opcode::alloc_uar)} * kPage;
    u64 commands = host.counter("doorbells_command");
    host.write64(page + 0x800, 0);
    host.write64(page + 0x900, 0); // the second buffer of the first register
    host.write64(page + 0x808, 0); // the rest of a BlueFlame copy rings nothing
    host.write64(page + 0x020, 0); // CQ arm
    host.write32(page + 0x020, 0); // CQ arm in two halves
    host.write32(page + 0x024, 0);
    EXPECT_EQ(host.counter("doorbells_send"), 2u);
    EXPECT_EQ(host.counter("doorbells_cq"), 2u);
    EXPECT_EQ(host.counter("doorbells_command"), commands);
}

TEST(DoorbellPage, RefusesWhatIsNoDoorbell) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    u64 page = u64{driver.alloc(Opcode::alloc_uar)} * kPage;
    host.write32(page + 0x000, 0);
    host.write32(page + 0x044, 0);
    host.write64(page + 0x040, 0);
    cx_core_write(host.core(), page + 0x020, 0, 1);
    EXPECT_EQ(host.counter("doorbells_invalid"), 4u);
}

// A guest may give the card's own BAR as a place to write to.
TEST(Reentrance, ARegisterWriteFromTheCardsOwnDmaIsRefused) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    host.on_access = [&](const FakeHost::Access &) {
        host.on_access = nullptr;
        host.write32(0x018, 1);
    };
    EXPECT_TRUE(driver.run({Opcode::query_issi, 0x10}, 0x70).ok());
    EXPECT_EQ(host.guest_errors.size(), 1u);
}

TEST(Configuration, OutOfRangeIsRefusedWithASentenceThatNamesValueAndRange) {
    struct Case {
        const char *says;
        void (*spoil)(cx_config &);
    };
    for (auto [says, spoil] : {
             Case{"queues is 0, it must be from 1 to 63", [](cx_config &c) { c.queues = 0; }},
             Case{"inline-headers is 4, it must be from 0 to 3", [](cx_config &c) { c.inline_headers = 4; }},
             Case{"queues is 64, it must be from 1 to 63", [](cx_config &c) { c.queues = 64; }},
             Case{"vectors is 8, it must be from queues + 1 = 9 to 2048",
                  [](cx_config &c) { c.vectors = 8; }},
             Case{"speed is 1234, it must be one of 1000, 10000, 25000, 40000, 50000, 100000",
                  [](cx_config &c) { c.speed_mbps = 1234; }},
             Case{"mac starts with byte 01, it must be a unicast address",
                  [](cx_config &c) { c.mac[0] = 1; }},
         }) {
        cx_config config = default_config();
        spoil(config);
        try {
            FakeHost host(config);
            FAIL() << says;
        } catch (const std::invalid_argument &error) {
            EXPECT_STREQ(error.what(), says);
        }
    }
}

TEST(Counters, HaveUniqueNamesAndReadZeroOnANewCard) {
    FakeHost host;
    std::map<std::string, int> names;
    for (usize i = 0; i < cx_core_counter_count(); ++i) {
        EXPECT_EQ(names[cx_core_counter_name(i)]++, 0) << cx_core_counter_name(i);
        EXPECT_EQ(cx_core_counter(host.core(), i), 0u) << cx_core_counter_name(i);
    }
    EXPECT_EQ(names.count("dma_page_list_bytes_written"), 1u);
    EXPECT_EQ(cx_core_counter_name(cx_core_counter_count()), nullptr);
}

} // namespace
} // namespace niclab::test
