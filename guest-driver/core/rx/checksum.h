// SPDX-License-Identifier: GPL-2.0-or-later
// When the card's receive checksum may be trusted as the sum over the delivered frame (manual: RX checksum).
#pragma once

#include "core/memory.h"

namespace niclab::driver {

// The card sums the IP datagram: no VLAN header, no padding. That equals the sum over everything behind the
// Ethernet header only when the frame carries neither. `head` is the start of the frame with at least
// min(bytes, 64) bytes readable.
bool sum_covers_frame(const u8 *head, usize bytes);

} // namespace niclab::driver
