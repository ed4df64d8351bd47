// SPDX-License-Identifier: GPL-2.0-or-later
// What SEND, LSO and multi-packet WQEs put on the wire.
#pragma once

#include "connectx/sq.h"

namespace niclab::connectx {

// Frames leave as they are made: those before the one in error have left when an error is returned.
CqeSyndrome send(Device &device, const Sq &sq, u32 sqn, const PostedWqe &wqe);
CqeSyndrome send_many(Device &device, const Sq &sq, u32 sqn, const PostedWqe &wqe);

} // namespace niclab::connectx
