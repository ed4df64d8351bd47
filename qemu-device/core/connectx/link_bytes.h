// SPDX-License-Identifier: GPL-2.0-or-later
// What an access costs on the PCI Express link, headers included: 24 bytes a request (3 or 4 words of header,
// sequence number, checksum, framing), 20 a completion; 256 bytes of payload and reads of 512 bytes at most.
// Packets are as few as these sizes allow, wherever an access starts.
#pragma once

#include "spec/types.h"

namespace niclab::connectx {

constexpr usize kRequestBytes = 24, kCompletionBytes = 20, kMostPayload = 256, kMostReadRequest = 512;

constexpr usize link_packets(usize bytes, usize most) { return (bytes + most - 1) / most; }
constexpr usize link_bytes_of_write(usize bytes) {
    return link_packets(bytes, kMostPayload) * kRequestBytes + bytes;
}
constexpr usize link_bytes_of_read(usize bytes) {
    return link_packets(bytes, kMostReadRequest) * kRequestBytes +
           link_packets(bytes, kMostPayload) * kCompletionBytes + bytes;
}
constexpr usize kInterruptLinkBytes = link_bytes_of_write(4); // a message is a write of one word

} // namespace niclab::connectx
