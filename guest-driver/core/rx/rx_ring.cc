// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/rx/rx_ring.h"

#include "core/rx/checksum.h"
#include "spec/init_segment.h"
#include "spec/wqe.h"

namespace niclab::driver {

namespace {
constexpr u32 kShortestFrame = 14;

// Smallest power of two of 16-byte segments that holds `fragments` of them.
unsigned log_stride_for(unsigned fragments) {
    unsigned log = 4;
    while ((1u << log) < fragments * kDsBytes)
        ++log;
    return log;
}
} // namespace

template <class Memory>
Result<Owned<RxRing<Memory>>> RxRing<Memory>::make(const Resources &resources, const RxSettings &settings) {
    auto self = TRY(Owned<RxRing>::make());
    self->resources_ = &resources;
    self->stats_ = settings.stats;
    self->log_entries_ = settings.log_entries;
    self->mask_ = (1u << settings.log_entries) - 1;
    self->record_ = settings.rq_record;
    TRY(self->memory_.configure(resources.platform(), settings.frame_bytes, &settings.stats->mappings));
    self->log_stride_ = log_stride_for(self->memory_.fragments());
    self->fragments_ = TRY(Array<RxFragment>::make(usize{self->memory_.fragments()} << settings.log_entries));
    self->ring_ =
        TRY(DmaBlock::make(resources.platform(), usize{1} << (settings.log_entries + self->log_stride_)));
    self->cq_ = TRY(
        Cq::make(resources, {settings.log_entries, settings.eqn, settings.cq_record, settings.arm_number}));
    TRY(self->create_rq(settings));
    TRY(self->modify_rq(QueueState::reset, QueueState::ready, 0, settings.vlan_strip));
    TRY(self->refill(MaySleep::yes));
    return self;
}

template <class Memory>
RxRing<Memory>::~RxRing() {
    rq_.destroy();
    for (; consumer_ != producer_; ++consumer_)
        memory_.discard(set(consumer_));
}

template <class Memory>
Result<void> RxRing<Memory>::create_rq(const RxSettings &settings) {
    auto create = TRY(LargeCommand::make(Opcode::create_rq, 0, CreateQueueIn::pas + 8 * ring_.pages()));
    create.input<RqContext>(CreateQueueIn::context)
        .set(RqContext::vsd, !settings.vlan_strip)
        .set(RqContext::flush_in_error_en, 1)
        .set(RqContext::state, static_cast<u32>(QueueState::reset))
        .set(RqContext::cqn, cq_.number())
        .set(RqContext::counter_set_id, resources_->counter_set());
    create.input<WqContext>(CreateQueueIn::wq)
        .set(WqContext::wq_type, static_cast<u32>(WqType::cyclic))
        .set(WqContext::pd, resources_->pd())
        .set(WqContext::dbr_addr, record_.bus)
        .set(WqContext::log_wq_stride, log_stride_)
        .set(WqContext::log_wq_sz, log_entries_);
    ring_.write_page_list(create.in() + CreateQueueIn::pas);
    rq_ = TRY(Object::make(resources_->commands(), create.bytes(), Opcode::destroy_rq, Object::Kind::queue));
    return {};
}

template <class Memory>
Result<void> RxRing<Memory>::modify_rq(QueueState from, QueueState to, u64 mask, bool vlan_strip) {
    Command<ModifyQueueIn::bytes> modify(Opcode::modify_rq);
    modify.input<ModifyQueueIn>()
        .set(ModifyQueueIn::state, static_cast<u32>(from))
        .set(ModifyQueueIn::number, rq_.number())
        .set(ModifyQueueIn::modify_bitmask, mask);
    modify.input<RqContext>(ModifyQueueIn::context)
        .set(RqContext::state, static_cast<u32>(to))
        .set(RqContext::vsd, !vlan_strip);
    return modify.execute(resources_->commands());
}

template <class Memory>
Result<void> RxRing<Memory>::set_vlan_strip(bool on) {
    return modify_rq(QueueState::ready, QueueState::ready, ModifyQueueIn::kRqVsd, on);
}

template <class Memory>
void RxRing<Memory>::write_descriptor(u32 counter) {
    u8 *segment = ring_.cpu() + (usize{counter & mask_} << log_stride_);
    const RxFragment *fragments = set(counter);
    for (unsigned i = 0; i < memory_.fragments(); ++i, segment += kDsBytes) {
        store_be32(segment + DataSegment::byte_count.dword, memory_.fragment_bytes(i));
        store_be32(segment + DataSegment::lkey.dword, resources_->key());
        store_be64(segment + DataSegment::address.dword, fragments[i].bus);
    }
    if (memory_.fragments() * kDsBytes < usize{1} << log_stride_) {
        store_be32(segment + DataSegment::byte_count.dword, 0);
        store_be32(segment + DataSegment::lkey.dword, kTerminatorLkey);
        store_be64(segment + DataSegment::address.dword, 0);
    }
}

template <class Memory>
Result<void> RxRing<Memory>::refill(MaySleep may_sleep) {
    Result<void> result;
    u32 before = producer_;
    while (!failed_ && producer_ - consumer_ <= mask_) {
        result = memory_.take(set(producer_), may_sleep);
        if (!result.ok()) {
            bump(stats_->no_memory);
            break;
        }
        write_descriptor(producer_);
        ++producer_;
    }
    if (producer_ != before) {
        plat_publish(); // descriptors before the record; pairs with the card reading the record, then the
                        // descriptor
        store_shared_be32(record_.cpu + WqRecord::receive.dword, producer_ & WqRecord::receive.mask());
    }
    return result;
}

template <class Memory>
unsigned RxRing<Memory>::poll(nic_rx_packet *packets, unsigned most) {
    unsigned received = 0, seen = 0;
    u64 bytes = 0;
    while (received < most && seen <= mask_ && !failed_) {
        const u8 *cqe = cq_.peek();
        if (!cqe) break;
        ++seen;
        if (accept(cqe, packets[received])) bytes += packets[received++].bytes;
        cq_.pop();
    }
    if (seen) {
        cq_.publish();
        bump(stats_->packets, received);
        bump(stats_->bytes, bytes);
    }
    return received;
}

// Completions come in the order of the descriptors, so the queue's own counter says which one this is; what
// the card says must agree. Every number from the card is checked before it is used.
template <class Memory>
bool RxRing<Memory>::accept(const u8 *cqe, nic_rx_packet &packet) {
    DmaView<Cqe> view(cqe);
    u32 last = load_shared_be32(cqe + Cqe::opcode.dword);
    u32 counter = last >> Cqe::wqe_counter.lo, opcode = last >> Cqe::opcode.lo & Cqe::opcode.mask();
    if (consumer_ == producer_ || counter != (consumer_ & Cqe::wqe_counter.mask()))
        return reject("a completion for a descriptor that is not the next", counter);
    RxFragment *fragments = set(consumer_++);
    u32 bytes = view.get(Cqe::byte_cnt);
    bool good = opcode == static_cast<u32>(CqeOpcode::responder_send) && bytes >= kShortestFrame &&
                bytes <= memory_.capacity();
    if (!good) {
        memory_.discard(fragments);
        bump(stats_->errors);
        if (opcode != static_cast<u32>(CqeOpcode::responder_error))
            return reject("a completion that makes no sense", opcode);
        auto syndrome = static_cast<CqeSyndrome>(DmaView<ErrorCqe>(cqe).get(ErrorCqe::syndrome));
        // A frame that did not fit costs its descriptor only; any other error stops the queue.
        return syndrome == CqeSyndrome::local_length
                   ? false
                   : reject("an error completion", static_cast<u32>(syndrome));
    }
    packet.bytes = bytes;
    packet.frag_count = packet.memory_bytes = 0;
    for (u32 left = bytes; left > 0; ++packet.frag_count) {
        nic_frag &fragment = packet.frags[packet.frag_count];
        fragment.page = fragments[packet.frag_count].page;
        fragment.offset = fragments[packet.frag_count].offset;
        fragment.bytes = min(left, memory_.fragment_bytes(packet.frag_count));
        packet.memory_bytes += memory_.fragment_bytes(packet.frag_count);
        left -= fragment.bytes;
    }
    memory_.deliver(fragments, packet.frag_count);
    describe(cqe, packet);
    return true;
}

template <class Memory>
void RxRing<Memory>::describe(const u8 *cqe, nic_rx_packet &packet) {
    u32 hash_type = load_shared_be32(cqe + Cqe::rss_hash_l4.dword);
    packet.hash = load_shared_be32(cqe + Cqe::rss_hash_result.dword);
    packet.hash_kind = hash_type >> Cqe::rss_hash_l4.lo & Cqe::rss_hash_l4.mask()   ? NIC_HASH_L4
                       : hash_type >> Cqe::rss_hash_ip.lo & Cqe::rss_hash_ip.mask() ? NIC_HASH_L3
                                                                                    : NIC_HASH_NONE;
    set_checksum(cqe, packet);
}

template <class Memory>
void RxRing<Memory>::set_checksum(const u8 *cqe, nic_rx_packet &packet) {
    constexpr u32 kBothOk = in_place(Cqe::l3_ok, 1) | in_place(Cqe::l4_ok, 1);
    u32 flags = load_shared_be32(cqe + Cqe::l3_ok.dword);
    packet.vlan_stripped = flags >> Cqe::vlan_stripped.lo & 1;
    packet.vlan_tci = static_cast<u16>(flags & Cqe::vlan_info.mask());
    packet.checksum_ok = (flags & kBothOk) == kBothOk;
    packet.checksum_complete = 0;
    if (packet.checksum_ok) {
        bump(stats_->csum_ok);
        return;
    }
    const u8 *head =
        static_cast<const u8 *>(plat_page_address(packet.frags[0].page)) + packet.frags[0].offset;
    if (!sum_covers_frame(head, packet.bytes)) {
        bump(stats_->csum_none);
        return;
    }
    packet.checksum_complete = 1;
    u32 sum = load_shared_be32(cqe + Cqe::check_sum.dword) >> Cqe::check_sum.lo;
    packet.checksum = __builtin_bswap16(static_cast<u16>(sum)); // stays in network byte order
    bump(stats_->csum_complete);
}

template <class Memory>
bool RxRing<Memory>::reject(const char *why, u32 detail) {
    plat_log(resources_->platform(), PLAT_ERROR, "receive queue 0x%x stopped: %s (0x%x)", rq_.number(), why,
             detail);
    failed_ = true;
    return false;
}

template class RxRing<FragmentMemory>;

} // namespace niclab::driver
