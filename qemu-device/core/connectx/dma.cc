// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/dma.h"

#include "connectx/link_bytes.h"

namespace niclab::connectx {

namespace {

// Completions and events are stored in two steps, which a card sends as one packet.
constexpr u64 kEntryBytes = 64;
bool continues_entry(DmaPurpose purpose, u64 iova) {
    return (purpose == DmaPurpose::cqe || purpose == DmaPurpose::eqe) && iova % kEntryBytes != 0;
}

} // namespace

void Dma::account(DmaPurpose purpose, u64 iova, usize len, bool write) {
    usize link = !write                           ? link_bytes_of_read(len)
                 : continues_entry(purpose, iova) ? len
                                                  : link_bytes_of_write(len);
    counters_.add_dma(purpose, write, len, link);
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

} // namespace niclab::connectx
