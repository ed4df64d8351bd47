// SPDX-License-Identifier: GPL-2.0-or-later
// Where steering hands a frame to a receive queue: transport interface (TIR) and indirection table (RQT).
#pragma once

#include <memory>
#include <vector>

#include "connectx/command.h"
#include "connectx/toeplitz.h"
#include "spec/objects.h"

namespace niclab::connectx {

struct Packet;

constexpr u32 kFirstRqt = 1, kLogMaxRqts = 12, kMaxRqts = 1 << kLogMaxRqts;
constexpr u32 kLogMaxRqtSize = 11, kMaxRqtSize = 1 << kLogMaxRqtSize;
constexpr u32 kFirstTir = 1, kLogMaxTirs = 12, kMaxTirs = 1 << kLogMaxTirs;

struct Rqt {
    std::vector<u32> rqs; // never empty
    u32 max_size = 0;
    u32 users = 0; // TIRs
};

struct Tir {
    TirDispatch dispatch = TirDispatch::direct;
    u32 target = 0; // RQ number or RQT number
    u32 transport_domain = 0;
    HashFunction hash = HashFunction::none;
    bool symmetric = false;
    bool hash_inner = false; // of the packet that a tunnel carries
    bool hash_ipv6 = false, hash_udp = false;
    u32 hash_fields = 0;
    ToeplitzHash toeplitz;                       // made from the key in `context`
    bool merge_ipv4 = false, merge_ipv6 = false; // LRO
    u32 merge_bytes = 0;                         // of one merged IP payload
    u32 merge_microseconds = 0;
    u32 users = 0; // flow table entries
    u8 context[TirContext::bytes] = {};
};

struct HashResult {
    u32 value = 0;
    u8 ip = 0; // CQE rss_hash_ip: 0 none, 1 IPv4, 2 IPv6
    u8 l4 = 0; // CQE rss_hash_l4: 0 none, 1 TCP, 2 UDP, 3 SPI
};
HashResult tir_hash(const Tir &tir, const u8 *frame, const Packet &packet, const Packet *inner);

// The receive queue for a frame with this hash; 0 when there is none.
u32 tir_select(const Device &device, const Tir &tir, u32 hash);

} // namespace niclab::connectx
