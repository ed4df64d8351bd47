// SPDX-License-Identifier: GPL-2.0-or-later
// What the counting plugin tells its listener at each mark of the guest: a header, the mark's text, an
// attachment of the guest, and how often each instruction ran since the mark before. The guest stands still
// until the listener answers with one byte.
#pragma once

#include <cstdint>

namespace niclab::counting {

struct MarkHeader {
    std::uint32_t magic;
    std::uint32_t text_bytes;
    std::uint32_t attachment_bytes;
    std::uint32_t counts; ///< entries of AddressCount
};

struct AddressCount {
    std::uint64_t address;
    std::uint64_t count;
};

inline constexpr std::uint32_t kMarkMagic = 0x4b52414d;

/// A mark is a no-operation of eight bytes whose displacement nobody else uses: nopl kMarkWord(%rax,%rax,1).
/// Then rdi and rsi are address and length of the text, rdx and rcx those of the attachment.
inline constexpr unsigned char kMarkCode[] = {0x0f, 0x1f, 0x84, 0x00, 'n', 'i', 'c', 'm'};
inline constexpr std::uint64_t kLongestText = 4096;
inline constexpr std::uint64_t kLongestAttachment = 64u << 20;

} // namespace niclab::counting
