// SPDX-License-Identifier: GPL-2.0-or-later
// Frames for tests, byte by byte, with checksums computed the slow and obvious way: nothing here is shared
// with the card.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "spec/layout.h"

namespace niclab::test {

using Bytes = std::vector<u8>;

inline Bytes operator+(Bytes left, const Bytes &right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}
inline Bytes be16(u32 value) { return {static_cast<u8>(value >> 8), static_cast<u8>(value)}; }
inline Bytes be32(u32 value) { return be16(value >> 16) + be16(value); }
inline Bytes zeros(usize n) { return Bytes(n); }
// 1, 2, 3 ... so that a byte in the wrong place shows.
inline Bytes pattern(usize n, u8 first = 1) {
    Bytes bytes(n);
    for (usize i = 0; i < n; ++i)
        bytes[i] = static_cast<u8>(first + i % 251);
    return bytes;
}

// RFC 1071 as it is written: 16-bit words, end-around carry, last odd byte padded with zero.
inline u16 slow_sum(const Bytes &bytes) {
    u32 sum = 0;
    for (usize i = 0; i < bytes.size(); i += 2) {
        sum += bytes[i] * 256u + (i + 1 < bytes.size() ? bytes[i + 1] : 0u);
        if (sum > 0xffff) sum = sum - 0xffff;
    }
    return static_cast<u16>(sum);
}
inline u16 slow_checksum(const Bytes &bytes) { return static_cast<u16>(0xffff - slow_sum(bytes)); }

inline Bytes ethernet(u16 type, const Bytes &tags = {}) {
    Bytes destination{0x52, 0x54, 0x00, 0x12, 0x34, 0x56}, source{0x02, 0x00, 0x00, 0x00, 0x00, 0x01};
    return destination + source + tags + be16(type);
}
inline Bytes vlan_tag(u16 tpid, u16 tci) { return be16(tpid) + be16(tci); }

struct Ipv4 {
    Bytes source{192, 0, 2, 1}, destination{198, 51, 100, 7};
    u8 protocol = 6, tos = 0, ttl = 64;
    u16 id = 0x1234, fragment = 0x4000; // don't fragment
    Bytes options = {};

    Bytes header(usize payload) const {
        usize bytes = 20 + options.size();
        Bytes h = Bytes{static_cast<u8>(0x40 | bytes / 4), tos} + be16(static_cast<u32>(bytes + payload)) +
                  be16(id) + be16(fragment) + Bytes{ttl, protocol} + be16(0) + source + destination + options;
        u16 sum = slow_checksum(h);
        h[10] = static_cast<u8>(sum >> 8);
        h[11] = static_cast<u8>(sum);
        return h;
    }
    Bytes pseudo(usize l4) const {
        return source + destination + Bytes{0, protocol} + be16(static_cast<u32>(l4));
    }
};
struct Ipv6 {
    Bytes source{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    Bytes destination{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 2};
    u8 protocol = 6, traffic_class = 0, ttl = 64;
    Bytes extensions = {}; // whole headers
    u8 first_header = 0;   // what the fixed header names when there are extensions

    Bytes header(usize payload) const {
        u8 next = extensions.empty() ? protocol : first_header;
        return Bytes{static_cast<u8>(0x60 | traffic_class >> 4), static_cast<u8>(traffic_class << 4), 0, 0} +
               be16(static_cast<u32>(extensions.size() + payload)) + Bytes{next, ttl} + source + destination +
               extensions;
    }
    Bytes pseudo(usize l4) const {
        return source + destination + be32(static_cast<u32>(l4)) + Bytes{0, 0, 0, protocol};
    }
};

struct Tcp {
    u16 sport = 1024, dport = 80;
    u32 sequence = 0x01020304, ack = 0x0a0b0c0d;
    u8 flags = 0x10;
    Bytes options = {};

    Bytes header(u16 checksum) const {
        return be16(sport) + be16(dport) + be32(sequence) + be32(ack) +
               Bytes{static_cast<u8>((20 + options.size()) / 4 << 4), flags} + be16(0xffff) + be16(checksum) +
               be16(0) + options;
    }
    template <class Ip>
    Bytes segment(const Ip &ip, const Bytes &payload) const {
        usize l4 = 20 + options.size() + payload.size();
        return header(slow_checksum(ip.pseudo(l4) + header(0) + payload)) + payload;
    }
};
struct Udp {
    u16 sport = 1024, dport = 53;
    Bytes header(usize payload, u16 checksum) const {
        return be16(sport) + be16(dport) + be16(static_cast<u32>(8 + payload)) + be16(checksum);
    }
    template <class Ip>
    Bytes segment(const Ip &ip, const Bytes &payload) const {
        u16 sum = slow_checksum(ip.pseudo(8 + payload.size()) + header(payload.size(), 0) + payload);
        return header(payload.size(), sum == 0 ? 0xffff : sum) + payload;
    }
};

// Whole frames with right checksums.
template <class Ip, class L4>
Bytes frame(Ip ip, const L4 &l4, const Bytes &payload, const Bytes &tags = {}) {
    ip.protocol = std::is_same_v<L4, Tcp> ? 6 : 17;
    Bytes segment = l4.segment(ip, payload);
    u16 type = std::is_same_v<Ip, Ipv4> ? 0x0800 : 0x86dd;
    return ethernet(type, tags) + ip.header(segment.size()) + segment;
}

// IPv4 and IPv6 with all that makes headers long: tags, options, extension headers.
inline std::vector<Bytes> frames_with_long_headers(const Bytes &payload) {
    return {
        frame(Ipv4{.options = Bytes(40, 1)}, Tcp{.options = Bytes(40, 1)}, payload,
              vlan_tag(0x88a8, 1) + vlan_tag(0x8100, 2)),
        frame(Ipv6{.extensions = Bytes{43, 0, 1, 4, 0, 0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0,
                                       60, 0, 0, 0, 0, 0, 0, 1, 17, 0, 1, 4, 0, 0, 0, 0},
                   .first_header = 0},
              Udp{}, payload),
    };
}

} // namespace niclab::test
