// SPDX-License-Identifier: GPL-2.0-or-later
// UMR: a send queue's WQE that changes a memory key: its translation list, its rights and range, whether it
// is open.
#pragma once

#include <span>

#include "spec/queues.h"

namespace niclab::connectx {

class Device;

// Executes one UMR WQE of a queue of protection domain `pd`. Everything is checked before the key changes.
CqeSyndrome execute_umr(Device &device, u32 pd, std::span<const u8> wqe);

} // namespace niclab::connectx
