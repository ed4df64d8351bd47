// SPDX-License-Identifier: GPL-2.0-or-later
// Internet checksums (RFC 1071) of whole frames: filled in on send, verified on receive.
#pragma once

#include <span>

#include "connectx/packet.h"

namespace niclab::connectx {

// Ones-complement sum of big-endian 16-bit words, not inverted; an odd last byte counts as the high half of a
// word.
u16 ones_sum(const u8 *data, usize bytes);
constexpr u16 ones_add(u32 a, u32 b) {
    u32 sum = a + b;
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<u16>(sum + (sum >> 16));
}

// True when the frame has a TCP or UDP checksum that can be computed: not a fragment, not cut, lengths agree.
bool has_l4_checksum(const u8 *frame, const Packet &packet);
// Where its bytes end: the end of the datagram, for UDP the end that the UDP header tells.
u32 l4_end(const u8 *frame, const Packet &packet);

// Write the checksums from scratch, whatever the fields hold. A packet without such a checksum stays as it
// is.
void fill_l3_checksum(u8 *frame, const Packet &packet);
void fill_l4_checksum(u8 *frame, const Packet &packet);

// What the receive path reports about a frame.
struct ReceivedSums {
    u16 datagram =
        0; // from the IP header to the end of the datagram, without tags and padding (manual: CQE check_sum)
    bool l3_ok = false, l4_ok = false;
};
ReceivedSums received_sums(std::span<const u8> frame, const Packet &packet);

// The sum over everything behind the Ethernet header of `frame`, which is the received frame with its tag
// taken off or an FCS added: tags that stayed, the datagram that starts at `l3_at`, what follows it. 0 when
// it is not IP.
u16 full_sum(std::span<const u8> frame, usize l3_at, const Packet &packet, const ReceivedSums &sums);

} // namespace niclab::connectx
