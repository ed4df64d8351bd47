// SPDX-License-Identifier: GPL-2.0-or-later
// Spreading received flows over the receive queues: one indirection table, one transport interface (TIR) per
// kind of traffic.
#pragma once

#include "core/resources.h"
#include "core/rx/rx_ring.h"

namespace niclab::driver {

enum class Traffic : u8 { tcp4, tcp6, udp4, udp6, ipv4, ipv6, other, count };
constexpr unsigned kTrafficKinds = static_cast<unsigned>(Traffic::count);

class Rss {
  public:
    static constexpr u32 kTableEntries = 256;
    static constexpr unsigned kKeyBytes = NIC_RSS_KEY_BYTES;

    Rss() = default;
    // Queues take turns in a table of up to kTableEntries entries.
    Result<void> create(const Resources &, const u32 *rqns, unsigned queues, u32 entries, const u8 *key);
    u32 tir(Traffic kind) const { return tirs_[static_cast<unsigned>(kind)].number(); }

  private:
    Result<void> create_table(const u32 *rqns, unsigned queues, u32 entries);
    Result<void> create_hashed(Traffic, const u8 *key);
    Result<void> create_direct(u32 rqn);

    const Resources *resources_ = nullptr;
    Object table_;
    Object tirs_[kTrafficKinds]; // after the table: destroyed before it
};

} // namespace niclab::driver
