// SPDX-License-Identifier: GPL-2.0-or-later
// Registers of the card as a whole.
#include "support/registers.h"

namespace niclab::test {
namespace {

class ManagementTest : public PortTest {
  protected:
    static CommandInput caps(u16 id, u32 group, usize bytes = 0x48) {
        return access(id, kRead, bytes).set(RegisterCaps::access_reg_group, group, kImage);
    }
    // A mask of 128 bits as its four words.
    std::vector<u32> mask(const CommandInput &input, usize at) {
        CommandResult result = must(input);
        std::vector<u32> words;
        for (usize i = 0; i < 4; ++i)
            words.push_back(load_be32(result.out.data() + kImage + at + 4 * i));
        return words;
    }
};

TEST_F(ManagementTest, DescribesItselfInText) {
    CommandResult result = must(access(kNodeDesc, kRead, 64));
    EXPECT_STREQ(reinterpret_cast<const char *>(result.out.data() + kImage), "niclab ConnectX-6 Dx");
    EXPECT_EQ(run(access(kNodeDesc, kWrite, 64)).status(), Status::bad_parameter);
    EXPECT_EQ(driver.run(access(kNodeDesc, kRead, 60), kImage + 64).status(), Status::bad_input_length);
}

// ---- which registers there are
TEST_F(ManagementTest, TellsWhichPortRegistersThereAre) {
    // 0x5002, 0x5003, 0x5004, 0x5006, 0x5007, 0x5008; 0x5023, 0x5031; 0x5041; PCAM itself.
    EXPECT_EQ(mask(caps(kPcam, 0, 0x50), 0x08),
              (std::vector<u32>{0x8000'0000, 1 << 1, 1 << 3 | 1 << 17, 0x0000'01dc}));
    // Extended PTYS 13, pause masks 9, errors by lane 5, buffer fullness 4, connector 3, statistics 0.
    EXPECT_EQ(mask(caps(kPcam, 0, 0x50), 0x28), (std::vector<u32>{0, 0, 0, 0x2239}));
}

TEST_F(ManagementTest, TellsWhichManagementRegistersThereAre) {
    // MCAM itself, 0x9060, 0x9061; 0x9051, 0x9053, 0x9054, 0x9055; 0x902b; 0x9009, 0x900a, 0x9014.
    EXPECT_EQ(mask(caps(kMcam, 0), 0x08),
              (std::vector<u32>{0x8000'0003, 1 << 17 | 7 << 19, 1 << 11, 1 << 9 | 1 << 10 | 1 << 20}));
    // Clock: scaled units 15, farther moves 14; pins: duration 1, period 0. PCIe stalls 4, overflow 3, pins'
    // adjustment 2 and selection 1, performance 0. Not the long MCIA, for which the later kernel leaves no
    // room.
    EXPECT_EQ(mask(caps(kMcam, 0), 0x28), (std::vector<u32>{0, 0, 0xc003, 0x1f}));
    for (u32 group : {1u, 2u, 3u})
        EXPECT_EQ(mask(caps(kMcam, group), 0x08), (std::vector<u32>{0, 0, 0, 0})) << group;
}

TEST_F(ManagementTest, TellsWhichQosRegistersThereAre) {
    EXPECT_EQ(mask(caps(kQcam, 0), 0x08), (std::vector<u32>{0, 0, 0, 0x0200'0000})) << "QCAM itself";
}

TEST_F(ManagementTest, KnowsNoOtherGroups) {
    EXPECT_EQ(run(caps(kPcam, 1, 0x50)).status(), Status::bad_parameter);
    EXPECT_EQ(run(caps(kMcam, 4)).status(), Status::bad_parameter);
    EXPECT_EQ(run(caps(kQcam, 1)).status(), Status::bad_parameter);
    for (u16 id : {kMcam, kQcam})
        EXPECT_EQ(run(caps(id, 0).set(RegisterCaps::feature_group, 1, kImage)).status(),
                  Status::bad_parameter)
            << id;
}

} // namespace
} // namespace niclab::test
