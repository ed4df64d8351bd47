// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/toeplitz.h"

#include <gtest/gtest.h>

#include "support/frames.h"

namespace niclab::test {
namespace {

// The definition: for each set input bit, the 32 key bits that start at its position.
u32 slow_hash(const Bytes &key, const Bytes &input) {
    auto bit = [](const Bytes &bytes, usize i) {
        return i / 8 < bytes.size() && (bytes[i / 8] >> (7 - i % 8) & 1);
    };
    u32 result = 0;
    for (usize i = 0; i < input.size() * 8; ++i)
        for (usize j = 0; bit(input, i) && j < 32; ++j)
            result ^= (bit(key, i + j) ? 1u : 0u) << (31 - j);
    return result;
}

TEST(ToeplitzTest, EqualsItsDefinitionForEveryInputLength) {
    Bytes key = pattern(40, 0x3d);
    connectx::ToeplitzHash hash;
    hash.set_key(std::span<const u8, 40>(key.data(), 40));
    for (usize length = 0; length <= connectx::ToeplitzHash::kMaxInput; ++length) {
        Bytes input = pattern(length, 0x91);
        EXPECT_EQ(hash.hash(input.data(), length), slow_hash(key, input)) << length;
    }
}

TEST(ToeplitzTest, LastKeyBitsReachTheLastInputBit) {
    Bytes key = zeros(40);
    key[39] = 1; // bit 319 = bit 31 of the window of input bit 288, which does not exist; bit 287 sees bits
                 // 287..318
    connectx::ToeplitzHash hash;
    hash.set_key(std::span<const u8, 40>(key.data(), 40));
    Bytes ones(36, 0xff);
    EXPECT_EQ(hash.hash(ones.data(), 36), 0u);
    key[39] = 2; // bit 318
    hash.set_key(std::span<const u8, 40>(key.data(), 40));
    EXPECT_EQ(hash.hash(ones.data(), 36), 1u);
}

} // namespace
} // namespace niclab::test
