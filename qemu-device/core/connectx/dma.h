// SPDX-License-Identifier: GPL-2.0-or-later
// Tagged access to guest memory. Every byte the card moves passes here, so that traffic can be accounted by
// purpose.
#pragma once

#include "connectx/counters.h"
#include "connectx/cx_core.h"
#include "spec/types.h"

namespace niclab::connectx {

class Dma {
  public:
    Dma(const cx_host_ops *ops, void *host, Counters &counters)
        : ops_(ops), host_(host), counters_(counters) {}

    // False when any byte faulted (counted as dma_faults and traced); `dst` is then unspecified.
    [[nodiscard]] bool read(DmaPurpose purpose, u64 iova, void *dst, usize len);
    [[nodiscard]] bool write(DmaPurpose purpose, u64 iova, const void *src, usize len);
    // An entry whose last word makes it visible.
    [[nodiscard]] bool write_entry(DmaPurpose purpose, u64 iova, const void *src, usize len);

    bool tracing = false;

  private:
    void account(DmaPurpose purpose, u64 iova, usize len, bool write);
    bool fault(u64 iova, usize len, bool write); // always false

    const cx_host_ops *ops_;
    void *host_;
    Counters &counters_;
};

} // namespace niclab::connectx
