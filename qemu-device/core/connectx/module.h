// SPDX-License-Identifier: GPL-2.0-or-later
// The memory of the cable module in the port's cage: a passive copper cable of four lanes, one metre long
// (SFF-8636, one page).
#pragma once

#include <array>

#include "spec/types.h"

namespace niclab::connectx {

constexpr usize kModulePageBytes = 256; // lower and upper half
const std::array<u8, kModulePageBytes> &module_memory();

constexpr u8 kModuleI2cAddress = 0x50;

} // namespace niclab::connectx
