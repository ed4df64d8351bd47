// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Wire layouts as the manuals print them: a field is (byte offset of a big-endian 32-bit word, high bit, low
// bit).
//
// A layout is a struct with `bytes` (its size) and one `static constexpr Field<Layout>` per row, listed again
// in `rows` so that `disjoint(rows)` can prove while compiling that no two fields share a bit and none leaves
// the layout. `View<Layout>` and `ConstView<Layout>` read and write such fields in raw memory; they accept
// only fields of their own layout.
#pragma once

#include "spec/types.h"

namespace niclab {

void malformed_field(); // never defined: reaching it stops the compile

// One field of a 32-bit big-endian word. `dword` is a byte offset and a multiple of four.
template <class Layout>
struct Field {
    u16 dword;
    u8 hi, lo;
    consteval Field(unsigned d, unsigned h, unsigned l)
        : dword(static_cast<u16>(d)), hi(static_cast<u8>(h)), lo(static_cast<u8>(l)) {
        if (d % 4 != 0 || d > 0xffff || h > 31 || l > h) malformed_field();
    }
    // `value` where it stands in the word; several of one word are joined with |.
    constexpr u32 place(u32 value) const { return (value & mask()) << lo; }
    constexpr u32 mask() const { return (hi - lo == 31) ? ~0u : ((1u << (hi - lo + 1)) - 1); }
};

// A big-endian 64-bit field of two words, high word first.
template <class Layout>
struct Field64 {
    u16 dword;
    consteval explicit Field64(unsigned d) : dword(static_cast<u16>(d)) {
        if (d % 4 != 0 || d > 0xffff) malformed_field();
    }
};

// True when no two rows overlap and every row lies inside the layout.
template <class Layout, usize N>
consteval bool disjoint(const Field<Layout> (&rows)[N]) {
    for (usize i = 0; i < N; ++i) {
        if (rows[i].dword + 4u > Layout::bytes) return false;
        for (usize j = i + 1; j < N; ++j)
            if (rows[i].dword == rows[j].dword && rows[i].lo <= rows[j].hi && rows[j].lo <= rows[i].hi)
                return false;
    }
    return true;
}

constexpr u16 load_be16(const u8 *p) { return static_cast<u16>(p[0] << 8 | p[1]); }
constexpr u32 load_be32(const u8 *p) {
    return static_cast<u32>(p[0]) << 24 | static_cast<u32>(p[1]) << 16 | static_cast<u32>(p[2]) << 8 | p[3];
}
constexpr u64 load_be64(const u8 *p) { return static_cast<u64>(load_be32(p)) << 32 | load_be32(p + 4); }
// One store at run time: compilers do not put single bytes together reliably.
template <class T>
constexpr void store_big_endian(u8 *p, T v) {
    if (!__builtin_is_constant_evaluated() && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        if constexpr (sizeof(T) == 2) v = __builtin_bswap16(v);
        if constexpr (sizeof(T) == 4) v = __builtin_bswap32(v);
        if constexpr (sizeof(T) == 8) v = __builtin_bswap64(v);
        __builtin_memcpy(p, &v, sizeof(v));
        return;
    }
    for (usize i = 0; i < sizeof(T); ++i)
        p[i] = static_cast<u8>(v >> (8 * (sizeof(T) - 1 - i)));
}
constexpr void store_be16(u8 *p, u16 v) { store_big_endian(p, v); }
constexpr void store_be32(u8 *p, u32 v) { store_big_endian(p, v); }
constexpr void store_be64(u8 *p, u64 v) { store_big_endian(p, v); }

// Reads fields of `Layout` from memory that holds at least `Layout::bytes` bytes.
template <class Layout>
class ConstView {
  public:
    constexpr explicit ConstView(const u8 *raw) : raw_(raw) {}
    constexpr u32 get(Field<Layout> f) const { return (load_be32(raw_ + f.dword) >> f.lo) & f.mask(); }
    constexpr u64 get(Field64<Layout> f) const { return load_be64(raw_ + f.dword); }
    constexpr const u8 *raw() const { return raw_; }

  private:
    const u8 *raw_;
};

// Reads and writes fields of `Layout`; a value wider than its field is cut to the field's width.
template <class Layout>
class View {
  public:
    constexpr explicit View(u8 *raw) : raw_(raw) {}
    constexpr u32 get(Field<Layout> f) const { return ConstView<Layout>(raw_).get(f); }
    constexpr u64 get(Field64<Layout> f) const { return load_be64(raw_ + f.dword); }
    constexpr const View &set(Field<Layout> f, u32 value) const {
        u32 keep = load_be32(raw_ + f.dword) & ~(f.mask() << f.lo);
        store_be32(raw_ + f.dword, keep | (value & f.mask()) << f.lo);
        return *this;
    }
    constexpr const View &set(Field64<Layout> f, u64 value) const {
        store_be64(raw_ + f.dword, value);
        return *this;
    }
    constexpr u8 *raw() const { return raw_; }

  private:
    u8 *raw_;
};

} // namespace niclab
