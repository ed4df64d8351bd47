// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/dma.h"

#include "connectx/link_bytes.h"

namespace niclab::connectx {

void Dma::account(DmaPurpose purpose, u64 iova, usize len, bool write) {
    counters_.add_dma(purpose, write, len, write ? link_bytes_of_write(len) : link_bytes_of_read(len));
    if (tracing)
        ops_->trace(host_, CX_TRACE_DMA, iova, len, u64{static_cast<u8>(purpose)} << 1 | write, nullptr, 0);
}

bool Dma::fault(u64 iova, usize len, bool write) {
    counters_.add(Counter::dma_faults);
    if (tracing) ops_->trace(host_, CX_TRACE_DMA_FAULT, iova, len, write, nullptr, 0);
    return false;
}

bool Dma::read(DmaPurpose purpose, u64 iova, void *dst, usize len) {
    if (len == 0) return true;
    account(purpose, iova, len, /*write=*/false);
    if (iova + (len - 1) < iova || ops_->dma_read(host_, iova, dst, len) != 0) return fault(iova, len, false);
    return true;
}

bool Dma::write(DmaPurpose purpose, u64 iova, const void *src, usize len) {
    if (len == 0) return true;
    account(purpose, iova, len, /*write=*/true);
    if (iova + (len - 1) < iova || ops_->dma_write(host_, iova, src, len) != 0) return fault(iova, len, true);
    return true;
}

bool Dma::write_entry(DmaPurpose purpose, u64 iova, const void *src, usize len) {
    account(purpose, iova, len, /*write=*/true);
    if (iova + (len - 1) < iova || ops_->dma_write_entry(host_, iova, src, len) != 0)
        return fault(iova, len, true);
    return true;
}

} // namespace niclab::connectx
