// SPDX-License-Identifier: GPL-2.0-or-later
// A chain of command mailboxes. The driver keeps its own list of the blocks and never follows the links in
// shared memory.
#pragma once

#include "core/dma_block.h"
#include "spec/command.h"

namespace niclab::driver {

class MailboxChain {
  public:
    // Room for `payload` bytes; keeps what it has when memory is short.
    Result<void> reserve(plat *, usize payload);
    // Link and number the blocks that `payload` bytes need, their data zeroed.
    void prepare(usize payload, u8 token);
    void write(ConstBytes payload);
    void read(Bytes payload) const;
    u64 bus() const { return pages_[0].bus(); }

  private:
    static constexpr usize kPerPage = kPageBytes / kMailboxStride;
    static constexpr usize blocks_for(usize payload) {
        return (payload + kMailboxDataBytes - 1) / kMailboxDataBytes;
    }
    u8 *block(usize i) const { return pages_[i / kPerPage].cpu() + i % kPerPage * kMailboxStride; }
    u64 block_bus(usize i) const { return pages_[i / kPerPage].bus() + i % kPerPage * kMailboxStride; }

    Array<DmaBlock> pages_;
};

} // namespace niclab::driver
