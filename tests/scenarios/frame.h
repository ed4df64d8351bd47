// SPDX-License-Identifier: GPL-2.0-or-later
// Builds and judges Ethernet frames with code of its own, so that it can bear witness about the card's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace niclab::scenarios {

using Bytes = std::vector<std::uint8_t>;
using Mac = std::array<std::uint8_t, 6>;

Mac mac_from(const std::string &text);
std::string hex(const Bytes &bytes);
Bytes bytes_from(const std::string &hex);

/// `size` bytes that differ from place to place and from seed to seed.
Bytes pattern(std::size_t size, unsigned seed);

constexpr std::size_t kMinFrame = 60; ///< without FCS
constexpr std::uint16_t kLocalExperimental = 0x88b5;
constexpr Mac kBroadcast = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
/// No machine's address: frames we make carry it as source, so that a capture can tell them from the
/// kernel's.
constexpr Mac kTestSource = {0x02, 0, 0, 0x77, 0, 0x01};

Bytes ethernet(const Mac &to, std::uint16_t ethertype, const Bytes &payload);
/// The frame with an 802.1Q (0x8100) or 802.1ad (0x88a8) tag behind its addresses.
Bytes tagged(const Bytes &frame, std::uint16_t tpid, std::uint16_t tci);
/// The frame as it must look on the wire: filled with zeros up to the shortest legal length.
Bytes padded(Bytes frame);

enum class Family { ipv4, ipv6 };

struct TcpFields {
    std::uint32_t sequence = 1;
    std::uint8_t flags = 0x10; ///< ACK
    Bytes options;             ///< a multiple of four bytes
};
constexpr std::uint8_t kFin = 0x01, kPsh = 0x08, kAck = 0x10;

/// Complete packets with right lengths and checksums between two addresses that no kernel here owns.
Bytes udp(const Mac &to, Family family, std::uint16_t source_port, std::uint16_t destination_port,
          const Bytes &payload);
Bytes tcp(const Mac &to, Family family, const TcpFields &fields, const Bytes &payload);

std::size_t l4_offset(const Bytes &frame);
std::size_t l4_checksum_offset(const Bytes &frame);
std::size_t headers_length(const Bytes &frame);
Bytes payload_of(const Bytes &frame);

/// The same packet with only the pseudo-header's sum in the checksum field, as a stack hands it to a card
/// that is to complete it.
Bytes with_partial_checksum(Bytes frame);
Bytes with_payload_for_zero_udp_checksum(const Mac &to, Family family);
/// Writes all checksums of an IP packet with TCP or UDP in it anew.
void fill_checksums(Bytes &frame);

/// What is wrong with the lengths and checksums of an IP packet with TCP or UDP in it; empty when all is
/// right.
std::string fault_in(const Bytes &frame);

/// What a card must send for one large TCP packet cut into pieces of `mss` bytes of payload.
std::vector<Bytes> segments_of(const Bytes &large, std::size_t mss);

} // namespace niclab::scenarios
