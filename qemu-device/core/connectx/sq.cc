// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/sq.h"

#include <algorithm>
#include <cstring>

#include "connectx/checksum.h"
#include "connectx/device.h"
#include "connectx/handlers.h"
#include "connectx/segment.h"
#include "connectx/wq.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynType = 0x5a0001, kSynSize = 0x5a0002, kSynPd = 0x5a0003, kSynCq = 0x5a0004,
              kSynTis = 0x5a0005, kSynUar = 0x5a0006, kSynRing = 0x5a0007, kSynRecord = 0x5a0008,
              kSynFull = 0x5a0009, kSynNumber = 0x5a000a, kSynState = 0x5a000b, kSynMove = 0x5a000c,
              kSynMask = 0x5a000d;

constexpr unsigned kLogBlockBytes = 6;
constexpr usize kMinFrame = 60; // without FCS
constexpr usize kAddressBytes = 12;
constexpr u32 kMaxSegments = 1 << 16; // of one large send

struct Wqe {
    const u8 *bytes;
    u16 counter; // its first WQEBB
    u8 opcode;
    u32 ds, blocks, ce;
    bool solicited;
};

Wqe look(const u8 *bytes, u16 counter) {
    ConstView<CtrlSegment> ctrl(bytes);
    u32 ds = ctrl.get(CtrlSegment::ds);
    return {bytes,
            counter,
            static_cast<u8>(ctrl.get(CtrlSegment::opcode)),
            ds,
            std::max<u32>(1, (ds + 3) / 4),
            ctrl.get(CtrlSegment::ce),
            ctrl.get(CtrlSegment::solicited) != 0};
}

// ---- One WQE: gather
// ------------------------------------------------------------------------------------------------------
struct Outgoing {
    u8 *frame;
    usize bytes = 0;
    u32 inline_header = 0; // length told by the Ethernet segment

    CqeSyndrome append(const u8 *from, usize n) {
        if (bytes + n > kMaxLsoBytes) return CqeSyndrome::local_length;
        std::memcpy(frame + bytes, from, n);
        bytes += n;
        return CqeSyndrome::none;
    }
};

constexpr usize round_up(usize n) { return (n + kDsBytes - 1) & ~(kDsBytes - 1); }

CqeSyndrome append_pointer(Device &device, const Sq &sq, ConstView<DataSegment> segment, Outgoing &out) {
    u32 n = segment.get(DataSegment::byte_count);
    if (n == 0) return CqeSyndrome::none;
    if (n > kMaxLsoBytes - out.bytes) return CqeSyndrome::local_length;
    u64 address = segment.get(DataSegment::address);
    if (!mkey_allows(device, segment.get(DataSegment::lkey), sq.pd, Access::read, address, n) ||
        !device.dma.read(DmaPurpose::payload, address, out.frame + out.bytes, n))
        return CqeSyndrome::local_protection;
    out.bytes += n;
    return CqeSyndrome::none;
}

// Data segments from byte `at` to the end of the WQE.
CqeSyndrome gather_data(Device &device, const Sq &sq, const Wqe &wqe, usize at, Outgoing &out) {
    usize end = usize{wqe.ds} * kDsBytes;
    while (at < end) {
        ConstView<DataSegment> segment(wqe.bytes + at);
        CqeSyndrome result;
        if (segment.get(DataSegment::inline_data)) {
            usize n = segment.get(DataSegment::inline_byte_count), used = 4 + n;
            if (used > end - at) return CqeSyndrome::local_qp_operation;
            result = out.append(segment.raw() + 4, n);
            at += round_up(used);
        } else {
            result = append_pointer(device, sq, segment, out);
            at += kDsBytes;
        }
        if (result != CqeSyndrome::none) return result;
    }
    return CqeSyndrome::none;
}

void insert_tag(Outgoing &out, u16 tpid, u16 tci) {
    u8 *start = out.frame - kVlanTagBytes;
    std::memmove(start, out.frame, kAddressBytes);
    store_be16(start + kAddressBytes, tpid);
    store_be16(start + kAddressBytes + 2, tci);
    out.frame = start;
    out.bytes += kVlanTagBytes;
}

// The headers and data of one WQE as one run of bytes, tag included.
CqeSyndrome gather(Device &device, const Sq &sq, const Wqe &wqe, Outgoing &out) {
    ConstView<EthSegment> eth(wqe.bytes + CtrlSegment::bytes);
    usize at = CtrlSegment::bytes + EthSegment::bytes, end = usize{wqe.ds} * kDsBytes;
    bool tag = eth.get(EthSegment::insert_vlan);
    if (!tag) {
        if (eth.get(EthSegment::inline_hdr_unused)) return CqeSyndrome::local_qp_operation;
        usize n = out.inline_header = eth.get(EthSegment::inline_hdr_sz);
        if (n > EthSegment::kInlineHeaderHere) at += round_up(n - EthSegment::kInlineHeaderHere);
        if (at > end) return CqeSyndrome::local_qp_operation;
        if (CqeSyndrome result = out.append(eth.raw() + EthSegment::inline_hdr_start, n);
            result != CqeSyndrome::none)
            return result;
    }
    if (CqeSyndrome result = gather_data(device, sq, wqe, at, out); result != CqeSyndrome::none)
        return result;
    if (out.bytes < kEthernetHeaderBytes) return CqeSyndrome::local_length;
    if (tag)
        insert_tag(out, eth.get(EthSegment::insert_svlan) ? kEthertypeSvlan : kEthertypeCvlan,
                   static_cast<u16>(eth.get(EthSegment::vlan_tci)));
    return CqeSyndrome::none;
}

// ---- One WQE: frames
// ------------------------------------------------------------------------------------------------------ To
// the wire and nowhere else: the card has no local loopback. What the port cannot send is lost and counted,
// not an error.
void emit(Device &device, u32 sqn, std::span<const u8> frame) {
    u8 padded[kMinFrame] = {};
    if (frame.size() < kMinFrame) {
        std::memcpy(padded, frame.data(), frame.size());
        frame = padded;
    }
    if (!device.port.up()) return device.counters.add(Counter::tx_drop_port_down);
    if (frame.size() + kFcsBytes > device.port.oper_mtu())
        return device.counters.add(Counter::tx_drop_oversize);
    device.counters.add(Counter::tx_frames);
    device.counters.add(Counter::tx_bytes, frame.size());
    device.port.count_tx(frame);
    device.vport.count_tx(frame);
    device.trace(CX_TRACE_FRAME_OUT, frame.size(), sqn, 0);
    device.ops->frame_out(device.host, frame.data(), frame.size());
}

// Every frame of a large send gets new checksums, whatever the flags say: its lengths changed.
CqeSyndrome send_segments(Device &device, u32 sqn, const Outgoing &out, u16 mss) {
    Segmenter segmenter;
    if (!segmenter.start({out.frame, out.bytes}, out.inline_header, mss))
        return CqeSyndrome::local_qp_operation;
    if (segmenter.segments() > kMaxSegments) return CqeSyndrome::local_length;
    for (std::span<u8> frame = segmenter.next(); !frame.empty(); frame = segmenter.next())
        emit(device, sqn, frame);
    return CqeSyndrome::none;
}

CqeSyndrome send(Device &device, const Sq &sq, u32 sqn, const Wqe &wqe) {
    if (wqe.ds < 2 || sq.tisn == 0) return CqeSyndrome::local_qp_operation;
    ConstView<EthSegment> eth(wqe.bytes + CtrlSegment::bytes);
    bool unknown = eth.get(EthSegment::l4_inner_csum) || eth.get(EthSegment::l3_inner_csum) ||
                   eth.get(EthSegment::swp_flags);
    if (unknown) return CqeSyndrome::local_qp_operation;
    Outgoing out{device.send.frame.get() + SendPath::kHeadroom};
    if (CqeSyndrome result = gather(device, sq, wqe, out); result != CqeSyndrome::none) return result;
    if (wqe.opcode == static_cast<u8>(WqeOpcode::lso))
        return send_segments(device, sqn, out, static_cast<u16>(eth.get(EthSegment::mss)));

    bool l3 = eth.get(EthSegment::l3_csum), l4 = eth.get(EthSegment::l4_csum);
    if (l3 || l4) {
        Packet packet = parse({out.frame, out.bytes});
        if (l3) fill_l3_checksum(out.frame, packet);
        if (l4) fill_l4_checksum(out.frame, packet);
    }
    emit(device, sqn, {out.frame, out.bytes});
    return CqeSyndrome::none;
}

CqeSyndrome execute(Device &device, const Sq &sq, u32 sqn, const Wqe &wqe) {
    device.counters.add(Counter::send_wqes);
    device.trace(CX_TRACE_WQE, sqn, wqe.counter, u64{wqe.opcode} << 8 | wqe.ds);
    if (wqe.ds == 0) return CqeSyndrome::local_qp_operation;
    switch (static_cast<WqeOpcode>(wqe.opcode)) {
    case WqeOpcode::nop:
        return CqeSyndrome::none;
    case WqeOpcode::send:
    case WqeOpcode::lso:
        return send(device, sq, sqn, wqe);
    default:
        return CqeSyndrome::local_qp_operation;
    }
}

// ---- The queue
// ------------------------------------------------------------------------------------------------------------
void move(Device &device, Sq &sq, u32 sqn, QueueState next) {
    sq.state = next;
    device.trace(CX_TRACE_STATE, CX_SQ, sqn, static_cast<u64>(next));
}

// `count` WQEBBs from the consumer on, in order, also when they wrap around the ring's end.
bool fetch(Device &device, const Sq &sq, u32 count) {
    u32 size = 1u << sq.log_size, at = sq.consumer & (size - 1);
    u32 run = std::min(count, size - at);
    u8 *to = device.send.wqes.get();
    return sq.ring.read(device.dma, DmaPurpose::wqe, usize{at} * kSendBlockBytes, to,
                        usize{run} * kSendBlockBytes) &&
           (run == count || sq.ring.read(device.dma, DmaPurpose::wqe, 0, to + usize{run} * kSendBlockBytes,
                                         usize{count - run} * kSendBlockBytes));
}

// Calls f(wqe) for each WQE from the consumer up to `posted`, after moving the consumer behind it, until f
// says stop. A WQE that reaches beyond `posted` is shown with ds 0, which is in error and ends there. False
// when the ring cannot be read.
template <class F>
bool each_wqe(Device &device, Sq &sq, u16 posted, F f) {
    while (sq.consumer != posted) {
        u32 left = static_cast<u16>(posted - sq.consumer);
        u32 count = std::min<u32>(left, SendPath::kFetchBlocks);
        if (!fetch(device, sq, count)) return false;
        for (u32 at = 0; at < count;) {
            Wqe wqe = look(device.send.wqes.get() + usize{at} * kSendBlockBytes, sq.consumer);
            if (wqe.blocks > left - at) {
                wqe.ds = 0;
                wqe.blocks = left - at;
            } else if (wqe.blocks > count - at) {
                break; // fetched in part: once more from its start
            }
            sq.consumer = static_cast<u16>(sq.consumer + wqe.blocks);
            at += wqe.blocks;
            if (!f(wqe)) return true;
        }
    }
    return true;
}

// Every posted WQE must be acknowledged, or recovery waits for it for ever.
void flush(Device &device, Sq &sq, u32 sqn, u16 posted) {
    if (sq.flush_in_error)
        each_wqe(device, sq, posted, [&](const Wqe &wqe) {
            return post_error_cqe(device, sq.cqn, QueueKind::send, sqn, CqeSyndrome::flushed, wqe.opcode,
                                  wqe.counter);
        });
    sq.consumer = posted;
}

// The card found the queue unusable, and no completion can say so.
void fail_queue(Device &device, Sq &sq, u32 sqn) {
    device.counters.add(Counter::queue_errors);
    move(device, sq, sqn, QueueState::error);
    post_queue_event(device, Event::wq_catastrophic, QueueKind::send, sqn);
}

bool complete(Device &device, const Sq &sq, u32 sqn, const Wqe &wqe) {
    constexpr u32 kAlwaysWithEvent = 3;
    u8 cqe[kCqeBytes] = {};
    View<Cqe>(cqe)
        .set(Cqe::user_index, sq.user_index)
        .set(Cqe::timestamp, device.now_ns())
        .set(Cqe::qpn, sqn)
        .set(Cqe::wqe_counter, wqe.counter)
        .set(Cqe::opcode, static_cast<u32>(CqeOpcode::requester))
        .set(Cqe::solicited, wqe.solicited || wqe.ce == kAlwaysWithEvent);
    return post_cqe(device, sq.cqn, cqe);
}

void run(Device &device, Sq &sq, u32 sqn, u16 posted) {
    CqeSyndrome failure = CqeSyndrome::none;
    bool lost = false;
    bool readable = each_wqe(device, sq, posted, [&](const Wqe &wqe) {
        failure = execute(device, sq, sqn, wqe);
        if (failure != CqeSyndrome::none)
            lost = !post_error_cqe(device, sq.cqn, QueueKind::send, sqn, failure, wqe.opcode, wqe.counter);
        else if (wqe.ce >= CtrlSegment::kCeAlways)
            lost = !complete(device, sq, sqn, wqe);
        return failure == CqeSyndrome::none && !lost;
    });
    if (!readable || lost) return fail_queue(device, sq, sqn);
    if (failure == CqeSyndrome::none) return;
    device.counters.add(Counter::queue_errors);
    move(device, sq, sqn, QueueState::error);
    flush(device, sq, sqn, posted);
}

// The send counter of the doorbell record; false when it cannot be read or runs ahead of what the ring can
// hold.
bool read_record(Device &device, const Sq &sq, u16 &posted) {
    u8 word[4];
    if (!device.dma.read(DmaPurpose::record, sq.record + 4, word, sizeof word)) return false;
    posted = static_cast<u16>(load_be32(word));
    return static_cast<u16>(posted - sq.consumer) <= 1u << sq.log_size;
}

} // namespace

SendPath::SendPath()
    : frame(std::make_unique<u8[]>(kHeadroom + kMaxLsoBytes)),
      wqes(std::make_unique<u8[]>(kFetchBlocks * kSendBlockBytes)) {}

void sq_doorbell(Device &device, u32 sqn) {
    Sq *sq = device.sqs.find(sqn);
    if (!sq || sq->state == QueueState::reset) {
        device.counters.add(Counter::doorbells_invalid);
        device.guest_error("doorbell of a send queue that is not ready", sqn);
        return;
    }
    u16 posted;
    if (!read_record(device, *sq, posted)) {
        if (sq->state == QueueState::ready) fail_queue(device, *sq, sqn);
    } else if (sq->state == QueueState::error) {
        flush(device, *sq, sqn, posted);
    } else {
        run(device, *sq, sqn, posted);
    }
}

// ---- Commands
// -------------------------------------------------------------------------------------------------------------
namespace {

Reply check_new(const Request &request) {
    auto context = request.view<SqContext>(CreateQueueIn::context);
    auto wq = request.view<WqContext>(CreateQueueIn::wq);
    bool cyclic = wq.get(WqContext::wq_type) == static_cast<u32>(WqType::cyclic);
    bool offered = !context.get(SqContext::rlky) && !context.get(SqContext::cd_master) &&
                   !context.get(SqContext::reg_umr) && !context.get(SqContext::allow_multi_pkt_send_wqe) &&
                   !context.get(SqContext::allow_swp) && context.get(SqContext::ts_format) <= kTsDefault &&
                   context.get(SqContext::tis_lst_sz) <= 1;
    if (!cyclic || !offered || wq.get(WqContext::page_offset) ||
        context.get(SqContext::state) != static_cast<u32>(QueueState::reset))
        return fail(Status::bad_parameter, kSynType);
    if (wq.get(WqContext::log_wq_stride) != kLogBlockBytes || wq.get(WqContext::log_wq_sz) > kLogMaxWqSize)
        return fail(Status::bad_parameter, kSynSize);
    if (wq.get(WqContext::dbr_addr) & 7) return fail(Status::bad_parameter, kSynRecord);
    return kOk;
}

} // namespace

Reply create_sq(Device &device, const Request &request, const Response &response) {
    if (Reply reply = check_new(request); reply.status != Status::ok) return reply;
    auto context = request.view<SqContext>(CreateQueueIn::context);
    auto wq = request.view<WqContext>(CreateQueueIn::wq);
    u32 tisn = context.get(SqContext::tis_lst_sz) ? context.get(SqContext::tis_num_0) : 0;
    Pd *pd = device.pds.find(wq.get(WqContext::pd));
    if (!pd) return fail(Status::bad_resource, kSynPd);
    Cq *cq = device.cqs.find(context.get(SqContext::cqn));
    if (!cq) return fail(Status::bad_resource, kSynCq);
    Uar *uar = device.uars.find(wq.get(WqContext::uar_page));
    if (!uar) return fail(Status::bad_resource, kSynUar);
    Tis *tis = device.tises.find(tisn);
    if (context.get(SqContext::tis_lst_sz) && !tis) return fail(Status::bad_resource, kSynTis);
    unsigned log_size = wq.get(WqContext::log_wq_sz);
    auto ring = QueueMemory::make(request.bytes.subspan(CreateQueueIn::pas),
                                  wq.get(WqContext::log_wq_pg_sz) + 12, 0, kSendBlockBytes << log_size);
    if (!ring) return fail(Status::bad_parameter, kSynRing);

    auto sq = std::make_unique<Sq>();
    sq->ring = std::move(*ring);
    sq->log_size = log_size;
    sq->record = wq.get(WqContext::dbr_addr);
    sq->cqn = context.get(SqContext::cqn);
    sq->pd = wq.get(WqContext::pd);
    sq->user_index = context.get(SqContext::user_index);
    sq->tisn = tisn;
    sq->flush_in_error = context.get(SqContext::flush_in_error_en);
    std::memcpy(sq->context, context.raw(), sizeof sq->context);
    u32 number;
    if (!device.sqs.add(std::move(sq), number)) return fail(Status::no_resources, kSynFull);
    ++pd->users;
    ++cq->users;
    ++uar->users;
    if (tisn) ++tis->users;
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

// From reset to ready the card starts at WQE 0 and does not look at the record before the next doorbell:
// after a recovery the record still holds the old count.
Reply modify_sq(Device &device, const Request &request, const Response &) {
    auto in = request.view<ModifyQueueIn>();
    u32 number = in.get(ModifyQueueIn::number);
    Sq *sq = device.sqs.find(number);
    if (!sq) return fail(Status::bad_resource, kSynNumber);
    u32 to = request.view<SqContext>(ModifyQueueIn::context).get(SqContext::state);
    if (in.get(ModifyQueueIn::state) != static_cast<u32>(sq->state))
        return fail(Status::bad_resource_state, kSynState);
    if (!is_queue_state(to) || !queue_may_move(sq->state, static_cast<QueueState>(to)))
        return fail(Status::bad_resource_state, kSynMove);
    if (in.get(ModifyQueueIn::modify_bitmask))
        return fail(Status::bad_parameter, kSynMask); // rate limit, QoS: not offered
    QueueState next = static_cast<QueueState>(to);
    if (next == sq->state) return kOk;
    move(device, *sq, number, next);
    if (next != QueueState::error) {
        sq->consumer = 0;
        return kOk;
    }
    u16 posted;
    if (read_record(device, *sq, posted)) flush(device, *sq, number, posted);
    return kOk;
}

Reply query_sq(Device &device, const Request &request, const Response &response) {
    const Sq *sq = device.sqs.find(request.view<ObjectIn>().get(ObjectIn::number));
    if (!sq) return fail(Status::bad_resource, kSynNumber);
    auto out = response.view<SqContext>(QueryQueueOut::context);
    std::memcpy(out.raw(), sq->context, sizeof sq->context);
    out.set(SqContext::state, static_cast<u32>(sq->state));
    return kOk;
}

Reply destroy_sq(Device &device, const Request &request, const Response &) {
    u32 number = request.view<ObjectIn>().get(ObjectIn::number);
    const Sq *sq = device.sqs.find(number);
    if (!sq) return fail(Status::bad_resource, kSynNumber);
    --device.pds.find(sq->pd)->users;
    --device.cqs.find(sq->cqn)->users;
    --device.uars.find(ConstView<WqContext>(sq->context + SqContext::bytes).get(WqContext::uar_page))->users;
    if (sq->tisn) --device.tises.find(sq->tisn)->users;
    device.sqs.remove(number);
    return kOk;
}

} // namespace niclab::connectx
