// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Fixed-width names shared by the device core (hosted) and the driver core (freestanding).
#pragma once

namespace niclab {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using s8 = signed char;
using s16 = short;
using s32 = int;
using s64 = long long;
using usize = decltype(sizeof(0));

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8);

} // namespace niclab
