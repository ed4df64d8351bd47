// SPDX-License-Identifier: GPL-2.0-or-later
// The Toeplitz hash of receive side scaling, four input bits at a time.
#pragma once

#include <span>

#include "spec/types.h"

namespace niclab::connectx {

class ToeplitzHash {
  public:
    static constexpr usize kKeyBytes = 40;
    static constexpr usize kMaxInput = 36; // two IPv6 addresses and two ports

    void set_key(std::span<const u8, kKeyBytes> key);
    // `bytes` is at most kMaxInput.
    u32 hash(const u8 *input, usize bytes) const {
        u32 result = 0;
        for (usize i = 0; i < bytes; ++i)
            result ^= table_[2 * i][input[i] >> 4] ^ table_[2 * i + 1][input[i] & 15];
        return result;
    }

  private:
    u32 table_[2 * kMaxInput][16] = {}; // contribution of each nibble value at each position
};

} // namespace niclab::connectx
