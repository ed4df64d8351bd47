// SPDX-License-Identifier: GPL-2.0-or-later
// The witness itself: it must know a good packet and notice any changed byte.
#include "scenarios/frame.h"

#include <gtest/gtest.h>

namespace niclab::scenarios {
namespace {

// Worked out by hand: the sums of the 16-bit words of header and pseudo-header.
TEST(FrameWitness, ChecksumsAreThoseOfTheStandards) {
    Bytes frame = udp(kBroadcast, Family::ipv4, 0x1111, 0x2222, {0x33, 0x44, 0x55});
    // IPv4: 4500+001f+4e4c+4000+4011+0a4d+00c9+0a4d+00ca = 1_29a9 -> 29aa -> ~ = d655.
    EXPECT_EQ(hex({frame[24], frame[25]}), "d655");
    // UDP: 0a4d+00c9+0a4d+00ca+0011+000b + 1111+2222+000b+3344+5500 = d1cb -> ~ = 2e34.
    EXPECT_EQ(hex({frame[40], frame[41]}), "2e34");
}

TEST(FrameWitness, AnyChangedByteOfThePacketIsNoticed) {
    for (Family family : {Family::ipv4, Family::ipv6}) {
        Bytes good = tcp(kBroadcast, family, {}, pattern(41, 1));
        ASSERT_EQ(fault_in(good), "");
        for (std::size_t at = l4_offset(good); at < good.size(); ++at) {
            Bytes bad = good;
            bad[at] ^= 0x20;
            EXPECT_NE(fault_in(bad), "") << "byte " << at;
        }
    }
}

TEST(FrameWitness, SegmentsHoldTheWholePayloadInOrder) {
    Bytes large = tcp(kBroadcast, Family::ipv4, {.sequence = 0xfffffff0, .flags = kAck | kPsh | kFin},
                      pattern(2500, 2));
    std::vector<Bytes> pieces = segments_of(large, 1000);
    ASSERT_EQ(pieces.size(), 3u);
    Bytes together;
    for (const Bytes &piece : pieces) {
        EXPECT_EQ(fault_in(piece), "");
        Bytes part = payload_of(piece);
        together.insert(together.end(), part.begin(), part.end());
    }
    EXPECT_EQ(together, payload_of(large));
    EXPECT_EQ(hex({pieces[1][38], pieces[1][39], pieces[1][40], pieces[1][41]}), "000003d8");
}

} // namespace
} // namespace niclab::scenarios
