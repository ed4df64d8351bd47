// SPDX-License-Identifier: GPL-2.0-or-later
// Memory keys: what a queue may reach, and where it lies. A physical key's addresses are DMA addresses; the
// other kinds have a translation list. KLM and KSM entries name other keys, which may not refer to further
// ones.
#pragma once

#include "connectx/command.h"
#include "connectx/counters.h"
#include "connectx/translation.h"
#include "spec/objects.h"

namespace niclab::connectx {

constexpr u32 kFirstMkey = 2; // key 0 is reserved, index 1 would make the key that ends a scatter list
constexpr u32 kLogMaxMkeys = 16, kMaxMkeys = 1 << kLogMaxMkeys;
constexpr u32 kMaxIndirection = 1;
// Of all keys together: what a guest can make us hold.
constexpr u32 kMaxAllOctwords = 1 << 22;

struct Mkey {
    AccessMode mode = AccessMode::physical;
    u32 pd = 0;
    u8 key = 0; // low byte of the key, chosen by the driver
    bool local_read = false, local_write = false;
    bool free = false; // closed until a UMR opens it
    bool umr = false;  // a UMR may change it
    unsigned log_page = 0;
    u64 start = 0, length = 0;
    bool whole_space = false; // no start and length: every address
    Translation translation;
    u8 context[MkeyContext::bytes] = {};
};

// Takes over what `context` says about rights, range and pages. False when such a key cannot be.
bool describe_mkey(Mkey &mkey, ConstView<MkeyContext> context);

// A part of guest memory as a work queue element names it, used by a queue of protection domain `pd`.
struct Region {
    u32 lkey, pd;
    u64 address;
};

// False when the key does not allow the access, or when it faults; what was moved by then is unspecified.
[[nodiscard]] bool mkey_read(Device &device, DmaPurpose purpose, const Region &from, void *to, usize bytes);
[[nodiscard]] bool mkey_write(Device &device, DmaPurpose purpose, const Region &to, const void *from,
                              usize bytes);

} // namespace niclab::connectx
