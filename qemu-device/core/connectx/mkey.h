// SPDX-License-Identifier: GPL-2.0-or-later
// Memory keys. The card knows physical-address keys: the address in a data segment is the DMA address.
#pragma once

#include "connectx/command.h"
#include "spec/objects.h"

namespace niclab::connectx {

constexpr u32 kFirstMkey = 2; // key 0 is reserved, index 1 would make the key that ends a scatter list
constexpr u32 kLogMaxMkeys = 16, kMaxMkeys = 1 << kLogMaxMkeys;

struct Mkey {
    u32 pd = 0;
    u8 key = 0; // low byte of the key, chosen by the driver
    bool local_read = false, local_write = false;
    u64 start = 0, length = 0;
    bool whole_space = false; // no start and length: every address
    u8 context[MkeyContext::bytes] = {};
};

enum class Access : u8 { read, write };

// True when a queue of protection domain `pd` may access [address, address + bytes) through `lkey`.
bool mkey_allows(const Device &device, u32 lkey, u32 pd, Access access, u64 address, u64 bytes);

} // namespace niclab::connectx
