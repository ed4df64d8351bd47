// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/rx/checksum.h"

#include "spec/layout.h"

namespace niclab::driver {

namespace {
constexpr usize kEthernetHeader = 14, kIpv6Header = 40, kShortFrame = 64;
constexpr u16 kEtherIpv4 = 0x0800, kEtherIpv6 = 0x86dd;
constexpr u8 kProtocolSctp = 132; // its checksum is not a ones' complement sum
} // namespace

bool sum_covers_frame(const u8 *head, usize bytes) {
    if (bytes <= kShortFrame) return false;
    const u8 *ip = head + kEthernetHeader;
    switch (load_be16(head + 12)) {
    case kEtherIpv4:
        return load_be16(ip + 2) == bytes - kEthernetHeader && ip[9] != kProtocolSctp;
    case kEtherIpv6:
        return load_be16(ip + 4) + kIpv6Header == bytes - kEthernetHeader && ip[6] != kProtocolSctp;
    default:
        return false;
    }
}

} // namespace niclab::driver
