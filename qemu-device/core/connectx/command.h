// SPDX-License-Identifier: GPL-2.0-or-later
// What a command handler sees: the whole input, a zeroed output, and the answer it gives.
#pragma once

#include <span>

#include "spec/command.h"

namespace niclab::connectx {

class Device;

// Answer of a handler. A failure carries a syndrome that tells where it was found: unique per cause, printed
// by drivers.
struct Reply {
    Status status = Status::ok;
    u32 syndrome = 0;
};
constexpr Reply kOk{};
constexpr Reply fail(Status status, u32 syndrome) { return {status, syndrome}; }

struct Request {
    std::span<const u8> bytes; // at least the row's minimum length
    u16 op_mod;

    // A view at byte `offset`; the table's minimum length covers every fixed layout, lists are checked by
    // has().
    template <class Layout>
    ConstView<Layout> view(usize offset = 0) const {
        return ConstView<Layout>(bytes.data() + offset);
    }
    bool has(usize offset, usize length) const {
        return offset <= bytes.size() && length <= bytes.size() - offset;
    }
};
struct Response {
    std::span<u8>
        bytes; // zeroed, at least the row's minimum length; status and syndrome are written by the dispatcher

    template <class Layout>
    View<Layout> view(usize offset = 0) const {
        return View<Layout>(bytes.data() + offset);
    }
};

using Handler = Reply (*)(Device &, const Request &, const Response &);

enum class Phase : u8 { reset, enabled, running }; // power-on / DISABLE_HCA; ENABLE_HCA; INIT_HCA

// One row per command. The table in command_table.cc is sorted by opcode (a static_assert keeps it so).
struct Command {
    Opcode opcode;
    const char *name;
    u16 min_in, min_out;
    Phase since;
    Handler run;
};
const Command *find_command(u16 opcode);

} // namespace niclab::connectx
