// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/cq.h"

#include "connectx/cq_event.h"
#include "connectx/device.h"

namespace niclab::connectx {
namespace {

constexpr u8 kErrorOverrun = 1, kErrorAccess = 2; // of the CQ error event

u32 kept_back(const Cq &cq) { return cq.session ? cq.session->count : 0; }

// Entries that the guest has not consumed yet. A consumer index ahead of the producer counts as a full ring.
u32 unconsumed(const Cq &cq) { return (cq.producer + kept_back(cq) - cq.consumer) & kCqIndexMask; }

void stop(Device &device, Cq &cq, u32 cqn, u8 syndrome) {
    cq.overrun = true;
    device.counters.add(syndrome == kErrorOverrun ? Counter::cq_overruns : Counter::queue_errors);
    device.trace(CX_TRACE_STATE, CX_CQ, cqn, syndrome);
    u8 data[12] = {};
    store_be32(data, cqn); // EQE 0x20
    data[11] = syndrome;   // EQE 0x2b
    post_async(device, Event::cq_error, 0, data);
}

// The consumer index is read from guest memory only when the ring looks full by the last one seen.
bool has_room(Device &device, Cq &cq) {
    u32 size = 1u << cq.log_size;
    if (unconsumed(cq) < size) return true;
    u8 word[4];
    if (!device.dma.read(DmaPurpose::record, cq.record, word, sizeof word)) return false;
    cq.consumer = load_be32(word) & kCqIndexMask;
    return unconsumed(cq) < size;
}

usize slot_of(const Cq &cq, u32 index) { return usize{index & ((1u << cq.log_size) - 1)} * kCqeBytes; }

bool write_entry(Device &device, Cq &cq, u32 cqn, u8 *cqe) {
    View<Cqe>(cqe).set(Cqe::owner, cq.producer >> cq.log_size);
    if (cq.ring.write_entry(device.dma, DmaPurpose::cqe, slot_of(cq, cq.producer), cqe, kCqeBytes))
        return true;
    stop(device, cq, cqn, kErrorAccess);
    return false;
}

bool is_error(u8 opcode) {
    return opcode == static_cast<u8>(CqeOpcode::requester_error) ||
           opcode == static_cast<u8>(CqeOpcode::responder_error);
}

// `entries` more are in guest memory; `cqe` is the one that the guest sees first.
void advance(Device &device, Cq &cq, u32 cqn, u32 entries, const u8 *cqe) {
    ConstView<Cqe> entry(cqe);
    u8 opcode = static_cast<u8>(entry.get(Cqe::opcode));
    cq.producer += entries;
    if (is_error(opcode) || entry.get(Cqe::solicited)) cq.solicited_end = cq.producer;
    device.counters.add(is_error(opcode) ? Counter::error_completions : Counter::completions, entries);
    device.trace(CX_TRACE_COMPLETION, cqn, u64{opcode} << 8 | (is_error(opcode) ? cqe[0x37] : 0),
                 entry.get(Cqe::wqe_counter), {cqe, kCqeBytes});
    cq_written(device, cq, cqn);
}

} // namespace

bool post_cqe(Device &device, u32 cqn, std::span<u8, kCqeBytes> cqe) {
    Cq *cq = device.cqs.find(cqn);
    if (!cq || cq->overrun) return false;
    bool ignore_overrun = ConstView<CqContext>(cq->context).get(CqContext::oi);
    if (!ignore_overrun && !has_room(device, *cq)) {
        cq_close_session(device, *cq, cqn);
        if (!cq->overrun) stop(device, *cq, cqn, kErrorOverrun);
        return false;
    }
    if (cq->session && cq_compress(device, *cq, cqn, cqe.data())) return true;
    return !cq->overrun && cq_append(device, *cq, cqn, cqe.data());
}

bool cq_append(Device &device, Cq &cq, u32 cqn, u8 *cqe) {
    if (!write_entry(device, cq, cqn, cqe)) return false;
    advance(device, cq, cqn, 1, cqe);
    return true;
}

// The arrays stand in slots 1, 8, 16, ... counted from the title's; all of them must be there before the
// title is.
bool cq_append_block(Device &device, Cq &cq, u32 cqn, u8 *title, std::span<const u8> minis) {
    u32 entries = static_cast<u32>(minis.size() / kMiniCqeBytes);
    for (u32 slot = 1; !minis.empty(); slot = slot == 1 ? 8 : slot + 8) {
        usize bytes = std::min(minis.size(), kCqeBytes);
        if (!cq.ring.write(device.dma, DmaPurpose::cqe, slot_of(cq, cq.producer + slot), minis.data(),
                           bytes)) {
            stop(device, cq, cqn, kErrorAccess);
            return false;
        }
        minis = minis.subspan(bytes);
    }
    if (!write_entry(device, cq, cqn, title)) return false;
    device.counters.add(Counter::compressed_completions, entries);
    advance(device, cq, cqn, entries, title);
    return true;
}

} // namespace niclab::connectx
