// SPDX-License-Identifier: GPL-2.0-or-later
// Large send: one template of headers and a long payload become frames of at most `mss` payload bytes
// (manual: LSO).
#pragma once

#include <span>

#include "connectx/packet.h"

namespace niclab::connectx {

// Works in place: each frame's headers are written in front of its payload, over bytes that have already
// left.
class Segmenter {
  public:
    static constexpr usize kMaxHeaderBytes = 512;

    // `packet` is what is cut, parsed with Extent::frame; `outer` is the packet that carries it through a
    // tunnel, if any. False when it is not TCP or UDP over IP, is a fragment, has longer headers, or when
    // `mss` is 0 or `header_bytes` (0: not told) is not where the payload starts, or when the two packets
    // overlap.
    bool start(std::span<u8> whole, const Packet &packet, const Packet *outer, u32 header_bytes, u16 mss);
    // The next frame, with lengths, IP identification, TCP sequence and flags, and checksums; empty when all
    // have left.
    std::span<u8> next();

    u32 segments() const { return segments_; }

  private:
    void patch_l3(u8 *frame, const Packet &packet) const;
    void patch_l4(u8 *frame) const;
    void patch_outer(u8 *frame) const;

    std::span<u8> whole_;
    Packet packet_, outer_;
    bool tunnel_ = false;
    u32 header_bytes_ = 0, mss_ = 0, segments_ = 0, index_ = 0;
    u8 header_[kMaxHeaderBytes];
};

} // namespace niclab::connectx
