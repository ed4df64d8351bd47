// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes worked out by hand from the manual's layouts.
#pragma once

#include <vector>

#include "spec/types.h"

namespace niclab::test {

// SEND of one buffer: WQE 5 of SQ 0x12, 3 units of 16 bytes, completion always; layer 3 and 4 checksums; 60
// bytes at 0x1000 by key 0x1234.
inline const std::vector<u8> kSend = {
    0, 0, 5, 0x0a, 0,    0, 0x12, 3,    0, 0, 0, 8, 0, 0, 0,    0,  // control
    0, 0, 0, 0,    0xc0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0,    0,  // Ethernet
    0, 0, 0, 60,   0,    0, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0x10, 0}; // data

// A completion of SQ 0x12, WQE counter 5, owner 1.
inline std::vector<u8> good_cqe() {
    std::vector<u8> cqe(64);
    cqe[0x3a] = 0;
    cqe[0x3b] = 0x12;
    cqe[0x3d] = 5;
    cqe[0x3f] = 0x01;
    return cqe;
}

} // namespace niclab::test
