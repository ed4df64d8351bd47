// SPDX-License-Identifier: GPL-2.0-or-later
// The command interface: a page of 32 entries in guest memory, mailbox chains, dispatch through the command
// table.
#pragma once

#include <vector>

#include "connectx/command.h"
#include "spec/command.h"

namespace niclab::connectx {

class CommandQueue {
  public:
    static constexpr unsigned kLogEntries = 5, kLogStride = 6;
    static constexpr usize kMostBytes =
        kCommandInlineBytes + 2048 * kMailboxDataBytes; // of one input or output

    explicit CommandQueue(Device &device) : device_(device) {}

    void reset();

    // Registers 0x10 and 0x14 of the initialization segment.
    u32 address_high() const { return high_; }
    u32 address_low() const;
    void set_address_high(u32 value);
    void set_address_low(u32 value);
    // True once after the queue's address was written: whoever enables the card now is a new owner.
    bool take_registered();

    // Register 0x18: runs every entry whose bit is set, in rising order.
    void doorbell(u32 mask);

  private:
    struct Entry {
        u8 raw[CommandEntry::bytes];
    };
    void run_entry(unsigned index);
    Delivery execute(unsigned index, const Entry &entry, u8 (&inline_out)[kCommandInlineBytes]);
    Delivery gather_input(const Entry &entry);
    Delivery locate_output(const Entry &entry);
    Delivery scatter_output(u32 length);
    Reply dispatch(unsigned index, u32 out_length);

    Device &device_;
    u32 high_ = 0, low_ = 0; // low_: bits [31:12]
    u32 nic_interface_ = 0;
    bool registered_ = false;
    std::vector<u8> input_, output_; // of the command that runs
    std::vector<u64> output_blocks_;
};

} // namespace niclab::connectx
