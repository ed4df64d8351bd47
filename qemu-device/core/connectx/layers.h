// SPDX-License-Identifier: GPL-2.0-or-later
// Where the headers of an outgoing frame are: found by looking, or told by the WQE (manual: software parser).
#pragma once

#include <optional>

#include "connectx/gather.h"
#include "connectx/packet.h"

namespace niclab::connectx {

struct Layers {
    Packet outer;
    std::optional<Packet> inner; // looked for on demand
};

Layers find_layers(const Device &device, const Outgoing &out, ConstView<EthSegment> eth, bool want_inner,
                   Extent extent);

} // namespace niclab::connectx
