// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/checksum.h"

#include <gtest/gtest.h>

#include "support/frames.h"

namespace niclab::test {
namespace {

using connectx::ones_sum;

// RFC 1071, section 3: 0001 f203 f4f5 f6f7 sums to ddf2.
TEST(ChecksumTest, ExampleOfTheRfc) {
    Bytes data{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    EXPECT_EQ(ones_sum(data.data(), data.size()), 0xddf2);
}

TEST(ChecksumTest, NothingSumsToZeroAndAnOddByteIsTheHighHalf) {
    Bytes data{0xab};
    EXPECT_EQ(ones_sum(data.data(), 0), 0);
    EXPECT_EQ(ones_sum(data.data(), 1), 0xab00);
}

TEST(ChecksumTest, EqualsTheSlowSumAtEveryLengthAndAlignment) {
    Bytes data = pattern(300, 0x5b);
    for (usize start = 0; start < 9; ++start)
        for (usize length = 0; length < 280; ++length) {
            Bytes part(data.begin() + static_cast<long>(start),
                       data.begin() + static_cast<long>(start + length));
            EXPECT_EQ(ones_sum(data.data() + start, length), slow_sum(part)) << start << " " << length;
        }
}

TEST(ChecksumTest, CarriesSurviveTheLargestSums) {
    Bytes ones(1 << 19, 0xff);
    EXPECT_EQ(ones_sum(ones.data(), ones.size()), 0xffff);
    ones.back() = 0xfe;
    EXPECT_EQ(ones_sum(ones.data(), ones.size()), 0xfffe);
}

TEST(ChecksumTest, UdpLengthThatDisagreesLeavesTheFrameAlone) {
    for (u16 length : {7, 200}) {
        Bytes whole = frame(Ipv4{}, Udp{}, pattern(20));
        store_be16(whole.data() + 38, length);
        Bytes before = whole;
        connectx::fill_l4_checksum(whole.data(), connectx::parse(whole));
        EXPECT_EQ(whole, before) << length;
    }
}

TEST(ChecksumTest, UdpCoversWhatItsOwnLengthSays) {
    Ipv4 ip{.protocol = 17};
    Bytes inner = Udp{}.segment(ip, pattern(20));
    Bytes whole = ethernet(0x0800) + ip.header(inner.size() + 5) + inner + pattern(5, 0x80);
    Bytes right = whole;
    whole[40] = whole[41] = 0x77;
    connectx::fill_l4_checksum(whole.data(), connectx::parse(whole));
    EXPECT_EQ(whole, right);
    EXPECT_TRUE(connectx::received_sums(right, connectx::parse(right)).l4_ok);
}

TEST(ChecksumTest, RoutedPacketsAreLeftAlone) {
    Bytes whole = frame(Ipv6{.extensions = {6, 0, 0, 1, 0, 0, 0, 0}, .first_header = 43}, Tcp{}, pattern(20));
    Bytes before = whole;
    connectx::fill_l4_checksum(whole.data(), connectx::parse(whole));
    EXPECT_EQ(whole, before);
    EXPECT_FALSE(connectx::received_sums(whole, connectx::parse(whole)).l4_ok);
}

} // namespace
} // namespace niclab::test
