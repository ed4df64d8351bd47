// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/toeplitz.h"

namespace niclab::connectx {

// Input bit i, when set, adds key bits i .. i + 31. A nibble adds up to four such windows.
void ToeplitzHash::set_key(std::span<const u8, kKeyBytes> key) {
    auto window = [&](usize bit) {
        u64 run = 0;
        for (usize i = 0; i < 5; ++i) {
            usize at = bit / 8 + i;
            run = run << 8 | (at < kKeyBytes ? key[at] : 0);
        }
        return static_cast<u32>(run >> (8 - bit % 8));
    };
    for (usize nibble = 0; nibble < 2 * kMaxInput; ++nibble)
        for (u32 value = 0; value < 16; ++value) {
            u32 sum = 0;
            for (u32 bit = 0; bit < 4; ++bit)
                if (value & (8u >> bit)) sum ^= window(4 * nibble + bit);
            table_[nibble][value] = sum;
        }
}

} // namespace niclab::connectx
