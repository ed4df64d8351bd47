// SPDX-License-Identifier: GPL-2.0-or-later
// A byte stream that follows from its seed, and a digest of a byte stream. Word i does not depend on word
// i-1, so a receiver can say which byte went wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pattern {

/// Word `index` of the stream: a multiplication and two folds spread each bit of the seed and the index.
inline std::uint64_t word(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u ^ seed;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 29;
}

inline void fill(unsigned char *to, std::size_t words, std::uint64_t seed, std::uint64_t first) {
    for (std::size_t i = 0; i < words; ++i) {
        std::uint64_t value = word(seed, first + i);
        std::memcpy(to + 8 * i, &value, 8);
    }
}

/// Order and value of every word count.
class Digest {
  public:
    void add(const unsigned char *from, std::size_t words) {
        for (std::size_t i = 0; i < words; ++i) {
            std::uint64_t value;
            std::memcpy(&value, from + 8 * i, 8);
            state_ = (state_ ^ value) * 0x100000001b3u;
            state_ ^= state_ >> 31;
        }
    }
    std::uint64_t value() const { return state_; }

  private:
    std::uint64_t state_ = 0xcbf29ce484222325u;
};

} // namespace pattern
