// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/cq_compression.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "connectx/device.h"

namespace niclab::connectx {
namespace {

constexpr u64 kNanosecondsPerMicrosecond = 1000;

// What all entries of a block have in common is read from its title. So everything must be equal but what a
// mini entry carries or what is given up: the hash, the checksum, the length, the time and the WQE counter.
struct Mask {
    u8 bytes[kCqeBytes];
};
consteval Mask common_bytes(bool hash_is_carried) {
    Mask mask{};
    for (usize i = 0; i < kCqeBytes; ++i) {
        bool hash = (i >= 0x0c && i < 0x10) || (i == 0x10 && !hash_is_carried);
        bool own = (i >= 0x14 && i < 0x16) || (i >= 0x2c && i < 0x38) || (i >= 0x3c && i < 0x3f);
        mask.bytes[i] = hash || own ? 0 : 0xff;
    }
    return mask;
}

bool equal_under(const Mask &mask, const u8 *a, const u8 *b) {
    u64 differences = 0;
    for (usize at = 0; at < kCqeBytes; at += 8)
        differences |= (load_be64(a + at) ^ load_be64(b + at)) & load_be64(mask.bytes + at);
    return differences == 0;
}

// Strides that the frame took of a striding queue, lists of a cyclic one.
u16 step(ConstView<Cqe> cqe) {
    return static_cast<u16>(std::max<u32>(1, cqe.get(Cqe::byte_cnt) >> 16 & 0x7fff));
}

bool fits(const CqSession &session, const u8 *cqe) {
    static constexpr Mask kWithHash = common_bytes(true), kWithoutHash = common_bytes(false);
    bool hash = session.format == MiniCqeFormat::hash;
    if (!equal_under(hash ? kWithHash : kWithoutHash, session.title, cqe)) return false;
    return session.format == MiniCqeFormat::checksum_stride ||
           ConstView<Cqe>(cqe).get(Cqe::wqe_counter) == session.next_counter;
}

void append(CqSession &session, const u8 *cqe) {
    ConstView<Cqe> from(cqe);
    u32 counter = from.get(Cqe::wqe_counter), first = 0;
    switch (session.format) {
    case MiniCqeFormat::hash:
        first = from.get(Cqe::rss_hash_result);
        break;
    case MiniCqeFormat::checksum:
        first = from.get(Cqe::check_sum) << 16;
        break;
    case MiniCqeFormat::checksum_stride:
        first = from.get(Cqe::check_sum) << 16 | counter;
        break;
    }
    u8 *mini = session.minis + usize{session.count} * kMiniCqeBytes;
    store_be32(mini, first);
    store_be32(mini + 4, from.get(Cqe::byte_cnt));
    session.next_counter = static_cast<u16>(counter + step(from));
    if (session.count++ == 0) std::memcpy(session.title, cqe, kCqeBytes);
}

} // namespace

bool cq_compress(Device &device, Cq &cq, u32 cqn, const u8 *cqe) {
    CqSession &session = *cq.session;
    bool good = ConstView<Cqe>(cqe).get(Cqe::opcode) == static_cast<u32>(CqeOpcode::responder_send);
    if (session.count != 0 && !(good && fits(session, cqe))) cq_close_session(device, cq, cqn);
    if (!good || cq.overrun) return false;
    append(session, cqe);
    if (session.count == 1)
        session.timer.start(device.now_ns() + kCompressionTimeoutUs * kNanosecondsPerMicrosecond, cqn);
    if (session.count == session.most) cq_close_session(device, cq, cqn);
    return !cq.overrun;
}

void cq_close_session(Device &device, Cq &cq, u32 cqn) {
    CqSession *session = cq.session.get();
    if (!session || session->count == 0 || cq.overrun) return;
    session->timer.stop();
    u32 count = std::exchange(session->count, 0);
    if (count == 1) {
        cq_append(device, cq, cqn, session->title);
        return;
    }
    View<Cqe>(session->title).set(Cqe::format, Cqe::kFormatCompressed).set(Cqe::byte_cnt, count);
    cq_append_block(device, cq, cqn, session->title, std::span(session->minis).first(count * kMiniCqeBytes));
}

void cq_close_session(Device &device, u32 cqn) {
    if (Cq *cq = device.cqs.find(cqn)) cq_close_session(device, *cq, cqn);
}

void cq_session_expired(Device &device, u32 cqn) { cq_close_session(device, cqn); }

} // namespace niclab::connectx
