// SPDX-License-Identifier: GPL-2.0-or-later
// Coherent memory that the card shares. What the card may write is read through DmaView: every get() is one
// load from memory, so a value that was checked is the value that is used.
#pragma once

#include "core/memory.h"
#include "spec/layout.h"

namespace niclab::driver {

constexpr usize kPageBytes = 4096;

class DmaBlock {
  public:
    DmaBlock() = default;
    static Result<DmaBlock> make(plat *platform, usize bytes) {
        DmaBlock block;
        if (int error = plat_dma_alloc(platform, bytes, &block.memory_)) return Err{error};
        block.platform_ = platform;
        return Result<DmaBlock>(driver::move(block));
    }
    DmaBlock(DmaBlock &&other) noexcept : platform_(other.platform_), memory_(other.memory_) {
        other.platform_ = nullptr;
    }
    DmaBlock &operator=(DmaBlock &&other) noexcept {
        swap(platform_, other.platform_);
        swap(memory_, other.memory_);
        return *this;
    }
    ~DmaBlock() {
        if (platform_) plat_dma_free(platform_, &memory_);
    }
    u8 *cpu() const { return static_cast<u8 *>(memory_.cpu); }
    u64 bus() const { return memory_.bus; }
    usize bytes() const { return memory_.bytes; }
    usize pages() const { return (memory_.bytes + kPageBytes - 1) / kPageBytes; }
    // The block's 4 KiB pages as a list of big-endian addresses, as all queue commands want it.
    void write_page_list(u8 *pas) const {
        for (usize i = 0; i < pages(); ++i)
            store_be64(pas + 8 * i, bus() + i * kPageBytes);
    }

  private:
    plat *platform_ = nullptr;
    plat_dma memory_{};
};

inline u32 load_shared_be32(const u8 *p) {
    return __builtin_bswap32(*reinterpret_cast<const volatile u32 *>(p));
}
inline u8 load_shared_u8(const u8 *p) { return *static_cast<const volatile u8 *>(p); }
inline void store_shared_be32(u8 *p, u32 value) {
    *reinterpret_cast<volatile u32 *>(p) = __builtin_bswap32(value);
}
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the shared loads and stores swap bytes");

// Fields of a Layout in memory that the card may change at any time.
template <class Layout>
class DmaView {
  public:
    explicit DmaView(const u8 *raw) : raw_(raw) {}
    u32 get(Field<Layout> f) const { return (load_shared_be32(raw_ + f.dword) >> f.lo) & f.mask(); }

  private:
    const u8 *raw_;
};

// A field's value at its place in the 32-bit word: whole words are built in registers and stored once.
template <class Layout>
constexpr u32 in_place(Field<Layout> f, u32 value) {
    return (value & f.mask()) << f.lo;
}

} // namespace niclab::driver
