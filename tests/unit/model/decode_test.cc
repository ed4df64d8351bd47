// SPDX-License-Identifier: GPL-2.0-or-later
// What passes between driver and card, in words.
#include "niclab/model/dump.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/model/tables.h"
#include "unit/model/bytes.h"

namespace niclab::model {
namespace {

using test::good_cqe;
using test::kSend;
using testing::HasSubstr;
using testing::Not;

std::string words(const std::vector<Piece> &pieces, const std::vector<u8> &bytes) {
    return one_line(pieces, bytes);
}

TEST(Decode, ASendWqeWithOnePointer) {
    EXPECT_EQ(words(wqe_pieces(kSend), kSend),
              "wqe_index=5 opcode=send qpn=0x12 ds=3 ce=2 l4_csum=1 l3_csum=1 byte_count=0x3c lkey=0x1234 "
              "address=0x1000");
}

// An inline header of 18 bytes fills the Ethernet segment's last 2 and 16 more.
TEST(Decode, DataSegmentsStartBehindTheInlineHeader) {
    std::vector<u8> wqe = kSend;
    wqe[0x1d] = 18;
    wqe.insert(wqe.begin() + 0x20, 16, 0xee);
    auto pieces = wqe_pieces(wqe);
    ASSERT_EQ(pieces.size(), 3u);
    EXPECT_EQ(pieces[2].layout, "DataSegment");
    EXPECT_EQ(pieces[2].at, 0x30u);
    EXPECT_THAT(words(pieces, wqe), HasSubstr("inline_hdr_sz=0x12 byte_count=0x3c"));
}

// 13 bytes of inline data and their length fill two units.
TEST(Decode, InlineDataTakesTheUnitsItFills) {
    std::vector<u8> wqe(kSend.begin(), kSend.begin() + 0x20);
    wqe[7] = 5;
    std::vector<u8> data(0x30);
    data[0] = 0x80;
    data[3] = 13;
    data[0x23] = 7; // the next segment: 7 bytes
    wqe.insert(wqe.end(), data.begin(), data.end());
    auto pieces = wqe_pieces(wqe);
    ASSERT_EQ(pieces.size(), 4u);
    EXPECT_EQ(pieces[3].at, 0x40u);
    EXPECT_THAT(words(pieces, wqe), HasSubstr("inline_data=1 inline_byte_count=0xd byte_count=7"));
}

TEST(Decode, CompletionsGoodAndInError) {
    std::vector<u8> cqe = good_cqe();
    EXPECT_EQ(words(cqe_pieces(cqe), cqe), "qpn=0x12 wqe_counter=5 opcode=requester owner=1");
    cqe[0x3f] = 0xd1; // requester error
    cqe[0x37] = 0x04;
    cqe[0x38] = 0x0a;
    EXPECT_EQ(
        words(cqe_pieces(cqe), cqe),
        "syndrome=local_protection wqe_opcode=send qpn=0x12 wqe_counter=5 opcode=requester_error owner=1");
}

TEST(Decode, AnEventShowsOnlyTheDataOfItsType) {
    std::vector<u8> eqe(64);
    eqe[1] = 0x0a; // command
    eqe[0x23] = 2; // entry 1
    EXPECT_EQ(words(eqe_pieces(eqe), eqe), "type=command command_vector=2");
    eqe[1] = 0x04; // CQ error
    EXPECT_EQ(words(eqe_pieces(eqe), eqe), "type=cq_error cq_error_cqn=2");
}

// CREATE_CQ: log size 6 and UAR 0x11 in word 0x0c of the context, which starts at 0x10; EQ 3 at 0x14.
TEST(Decode, ACommandByItsOpcode) {
    std::vector<u8> input(0x110);
    input[0] = 4;
    input[0x1c] = 6;
    input[0x1f] = 0x11;
    input[0x27] = 3;
    EXPECT_EQ(words(command_pieces(input, 0x400, false), input),
              "opcode=create_cq mini_cqe_res_format=hash log_cq_size=6 uar_page=0x11 c_eqn=3");
    std::vector<u8> output(0x10);
    output[0x0b] = 0x44;
    EXPECT_EQ(words(command_pieces(output, 0x400, true), output), "status=ok number=0x44");
}

TEST(Decode, ARegisterOfAnAccessByItsNumber) {
    std::vector<u8> input(0x20);
    input[0] = 0x08;
    input[1] = 0x05; // ACCESS_REG
    input[0x0a] = 0x50;
    input[0x0b] = 0x03; // PMTU
    input[0x11] = 1;
    input[0x18] = 0x05;
    input[0x19] = 0xf2;
    EXPECT_EQ(words(command_pieces(input, 0x805, false), input),
              "opcode=access_register register_id=pmtu local_port=1 admin_mtu=0x5f2");
}

TEST(Decode, EveryLengthAndManyBytesAreTaken) {
    std::mt19937 random(1); // NOLINT: the same bytes on each run
    for (size_t length = 0; length <= 0x120; ++length) {
        std::vector<u8> bytes(length);
        for (unsigned round = 0; round < 8; ++round) {
            for (u8 &byte : bytes)
                byte = static_cast<u8>(random());
            constexpr u8 kOpcodes[] = {0x00, 0x0a, 0x0e, 0x25, 0x29, 0xff};
            if (length > 3) bytes[3] = kOpcodes[random() % 6];
            for (const auto &pieces : {wqe_pieces(bytes), cqe_pieces(bytes), eqe_pieces(bytes)})
                for (const Piece &piece : pieces)
                    EXPECT_TRUE(holds(bytes, piece)) << piece.layout;
            one_line(wqe_pieces(bytes), bytes);
        }
        constexpr size_t kStep = 15; // there are many commands
        for (const EnumRow &each : enumerators())
            if (each.type == "Opcode" && length % kStep == 0)
                for (bool output : {false, true})
                    one_line(command_pieces(bytes, static_cast<u16>(each.value), output), bytes);
    }
}

TEST(Dump, TakesDigitsAsPeopleHaveThem) {
    for (const char *text : {"000102ff", "00 01 02 ff", "0x00,0x01,0x02,0xff", "00:01:02:ff",
                             "00000000: 0001 02ff\n", "0001\n02ff"}) {
        auto bytes = parse_hex(text);
        ASSERT_TRUE(bytes.ok()) << text << bytes.why();
        EXPECT_EQ(*bytes, (std::vector<u8>{0, 1, 2, 0xff})) << text;
    }
    for (const char *text : {"", "0", "0g", "zz", "00 1", ":"})
        EXPECT_FALSE(parse_hex(text).ok()) << text;
}

TEST(Dump, NamesOfLayoutsAndOfKinds) {
    EXPECT_TRUE(pieces_of("wqe", kSend).ok());
    EXPECT_TRUE(pieces_of("CtrlSegment", kSend).ok());
    EXPECT_THAT(pieces_of("CtrlSegmant", kSend).why(), HasSubstr("no layout 'CtrlSegmant'"));
    EXPECT_THAT(pieces_of("Cqe", kSend).why(), HasSubstr("48 bytes are too few for 'Cqe', which has 64"));
    EXPECT_FALSE(pieces_of("command", std::vector<u8>{1}).ok());
    std::string lines = many_lines(*pieces_of("wqe", kSend), kSend);
    EXPECT_THAT(lines, HasSubstr("EthSegment at 0x10\n"));
    EXPECT_THAT(lines, HasSubstr("0xa  send\n"));
    EXPECT_THAT(lines, Not(HasSubstr("vlan_tci"))); // bit 31 of the word says that it is something else
}

} // namespace
} // namespace niclab::model
