// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/dma.h"

namespace niclab::connectx {

bool Dma::fault(u64 iova, usize len, bool write) {
    counters_.add(Counter::dma_faults);
    if (tracing) ops_->trace(host_, CX_TRACE_DMA_FAULT, iova, len, write);
    return false;
}

bool Dma::read(DmaPurpose purpose, u64 iova, void *dst, usize len) {
    if (len == 0) return true;
    counters_.add_dma(purpose, /*write=*/false, len);
    if (iova + (len - 1) < iova || ops_->dma_read(host_, iova, dst, len) != 0) return fault(iova, len, false);
    return true;
}

bool Dma::write(DmaPurpose purpose, u64 iova, const void *src, usize len) {
    if (len == 0) return true;
    counters_.add_dma(purpose, /*write=*/true, len);
    if (iova + (len - 1) < iova || ops_->dma_write(host_, iova, src, len) != 0) return fault(iova, len, true);
    return true;
}

} // namespace niclab::connectx
