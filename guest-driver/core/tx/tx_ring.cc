// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/tx/tx_ring.h"

#include "spec/init_segment.h"

namespace niclab::driver {

namespace {

constexpr usize kMacAddresses = 12, kVlanTag = 4;
constexpr u16 kEtherVlan = 0x8100;

// 16-byte units that `bytes` of inline header need behind the Ethernet segment, which holds the first two
// itself.
constexpr u32 inline_units(u32 bytes) {
    return bytes ? (bytes - EthSegment::kInlineHeaderHere + 15) / 16 : 0;
}

// An inlined header leaves no place for the card's VLAN insertion: the driver inserts the tag.
u32 inline_bytes(const nic_tx_packet &packet) {
    return packet.header_bytes + (packet.vlan_insert ? static_cast<u32>(kVlanTag) : 0);
}

bool legal_header(const nic_tx_packet &packet) {
    return packet.header_bytes >= kMacAddresses + 2 && packet.header_bytes <= TxRing::kMostHeader &&
           packet.mss > 0 && packet.mss <= 0xffff && packet.frag_count <= NIC_MAX_FRAGS;
}
bool legal_plain(const nic_tx_packet &packet) { return !packet.mss && packet.frag_count - 1 < NIC_MAX_FRAGS; }

void copy_header(u8 *to, const nic_tx_packet &packet) {
    const u8 *header = static_cast<const u8 *>(packet.header);
    if (!packet.vlan_insert) {
        copy_bytes(to, header, packet.header_bytes);
        return;
    }
    copy_bytes(to, header, kMacAddresses);
    store_be16(to + kMacAddresses, kEtherVlan);
    store_be16(to + kMacAddresses + 2, packet.vlan_tci);
    copy_bytes(to + kMacAddresses + kVlanTag, header + kMacAddresses, packet.header_bytes - kMacAddresses);
}

} // namespace

Result<Owned<TxRing>> TxRing::make(const Resources &resources, const TxSettings &settings) {
    auto self = TRY(Owned<TxRing>::make());
    usize entries = usize{1} << settings.log_entries;
    self->resources_ = &resources;
    self->stats_ = settings.stats;
    self->platform_ = resources.platform();
    self->mask_ = static_cast<u32>(entries - 1);
    self->mapping_mask_ = static_cast<u32>(entries * kMappingsPerBlock - 1);
    self->key_ = resources.key();
    self->doorbell_ = resources.uar_page() * uar::kBytes + uar::kSendDoorbell;
    self->record_ = settings.sq_record;
    self->wqes_ = TRY(Array<Wqe>::make(entries));
    self->mappings_ = TRY(Array<Mapping>::make(entries * kMappingsPerBlock));
    self->ring_ = TRY(DmaBlock::make(resources.platform(), entries * kBlockBytes));
    self->cq_ = TRY(
        Cq::make(resources, {settings.log_entries, settings.eqn, settings.cq_record, settings.arm_number}));
    TRY(self->create_sq(settings));
    TRY(self->set_ready());
    return self;
}

TxRing::~TxRing() {
    sq_.destroy();
    if (!stats_) return;
    bump(stats_->maps, mapped_ - counted_);
    bump(stats_->unmaps, mapped_ - unmapped_);
    unmap(mapped_ - unmapped_);
}

Result<void> TxRing::create_sq(const TxSettings &settings) {
    auto create = TRY(LargeCommand::make(Opcode::create_sq, 0, CreateQueueIn::pas + 8 * ring_.pages()));
    create.input<SqContext>(CreateQueueIn::context)
        .set(SqContext::flush_in_error_en, 1)
        .set(SqContext::state, static_cast<u32>(QueueState::reset))
        .set(SqContext::cqn, cq_.number())
        .set(SqContext::tis_lst_sz, 1)
        .set(SqContext::tis_num_0, resources_->tis());
    create.input<WqContext>(CreateQueueIn::wq)
        .set(WqContext::wq_type, static_cast<u32>(WqType::cyclic))
        .set(WqContext::pd, resources_->pd())
        .set(WqContext::uar_page, resources_->uar_page())
        .set(WqContext::dbr_addr, record_.bus)
        .set(WqContext::log_wq_stride, 6)
        .set(WqContext::log_wq_sz, settings.log_entries);
    ring_.write_page_list(create.in() + CreateQueueIn::pas);
    sq_ = TRY(Object::make(resources_->commands(), create.bytes(), Opcode::destroy_sq, Object::Kind::queue));
    sqn_shifted_ = in_place(CtrlSegment::qpn, sq_.number());
    return {};
}

Result<void> TxRing::set_ready() {
    Command<ModifyQueueIn::bytes> modify(Opcode::modify_sq);
    modify.input<ModifyQueueIn>()
        .set(ModifyQueueIn::state, static_cast<u32>(QueueState::reset))
        .set(ModifyQueueIn::number, sq_.number());
    modify.input<SqContext>(ModifyQueueIn::context)
        .set(SqContext::state, static_cast<u32>(QueueState::ready));
    return modify.execute(resources_->commands());
}

int TxRing::post(const nic_tx_packet &packet) {
    if (load_relaxed(failed_)) return -kEio;
    if (!packet.cookie) return -kEinval;
    if (packet.header_bytes) return legal_header(packet) ? post_as<Form::large>(packet) : -kEinval;
    return legal_plain(packet) ? post_as<Form::plain>(packet) : -kEinval;
}

// Two copies of one text, so that the plain packet's does not pay for headers.
template <TxRing::Form form>
inline int TxRing::post_as(const nic_tx_packet &packet) {
    u32 header = form == Form::large ? inline_bytes(packet) : 0;
    u32 ds = 2 + inline_units(header) + packet.frag_count;
    u32 blocks = (ds + 3) / 4;
    u32 mask = mask_, producer = producer_;
    u32 to_end = mask + 1 - (producer & mask);
    u32 start = producer + (blocks > to_end ? to_end : 0); // a WQE does not wrap
    if (start + blocks - load_acquire(freed_) > mask + 1) {
        bump(stats_->busy);
        return -kEbusy;
    }
    // Until producer_ moves, none of this is posted.
    u8 *wqe = ring_.cpu() + (start & mask) * kBlockBytes;
    write_control(wqe, start, form == Form::large ? WqeOpcode::lso : WqeOpcode::send, ds);
    write_ethernet<form>(wqe + CtrlSegment::bytes, packet, header);
    wqes_[start & mask] = {packet.cookie, packet.wire_bytes, static_cast<u16>(blocks),
                           static_cast<u16>(packet.frag_count)};
    u8 *data = wqe + CtrlSegment::bytes + EthSegment::bytes + inline_units(header) * kDsBytes;
    if (int error = map_fragments(data, packet)) return error;
    if (start != producer) pad(start);
    last_ = wqe;
    producer_ = start + blocks;
    TxStats &stats = *stats_;
    bump(stats.packets);
    bump(stats.segments, packet.segments);
    bump(stats.bytes, packet.wire_bytes);
    return 0;
}

template <TxRing::Form form>
inline void TxRing::write_ethernet(u8 *segment, const nic_tx_packet &packet, u32 header) const {
    constexpr u32 kBothChecksums = in_place(EthSegment::l3_csum, 1) | in_place(EthSegment::l4_csum, 1);
    u32 last = 0;
    u32 mss = form == Form::large ? packet.mss : 0;
    if (form == Form::large) {
        last = in_place(EthSegment::inline_hdr_sz, header);
    } else if (packet.vlan_insert) {
        last = in_place(EthSegment::insert_vlan, 1) | in_place(EthSegment::vlan_tci, packet.vlan_tci);
    }
    store_be32(segment, 0);
    store_be32(segment + EthSegment::mss.dword,
               (packet.checksum ? kBothChecksums : 0) | in_place(EthSegment::mss, mss));
    store_be32(segment + EthSegment::flow_table_metadata.dword, 0);
    store_be32(segment + EthSegment::inline_hdr_sz.dword, last);
    if (form == Form::large) copy_header(segment + EthSegment::inline_hdr_start, packet);
}

// All fragments, or none.
inline int TxRing::map_fragments(u8 *segment, const nic_tx_packet &packet) {
    const nic_frag *fragment = packet.frags, *end = fragment + packet.frag_count;
    u32 position = mapped_;
    for (; fragment != end; ++fragment, ++position, segment += kDsBytes) {
        unsigned long long bus;
        if (!fragment->bytes)
            return undo_mappings(position, -kEinval); // a count of zero means 2 GiB to the card
        int error =
            plat_map(platform_, fragment->page, fragment->offset, fragment->bytes, PLAT_TO_DEVICE, &bus);
        if (error) return undo_mappings(position, error);
        mappings_[position & mapping_mask_] = {bus, fragment->bytes};
        store_be32(segment + DataSegment::byte_count.dword, fragment->bytes);
        store_be32(segment + DataSegment::lkey.dword, key_);
        store_be64(segment + DataSegment::address.dword, bus);
    }
    mapped_ = position;
    return 0;
}

int TxRing::undo_mappings(u32 position, int error) {
    bump(stats_->map_errors);
    bump(stats_->undone_maps, position - mapped_);
    while (position != mapped_) {
        const Mapping &undone = mappings_[--position & mapping_mask_];
        plat_unmap(platform_, undone.bus, undone.bytes, PLAT_TO_DEVICE);
    }
    return error;
}

inline void TxRing::write_control(u8 *control, u32 counter, WqeOpcode opcode, u32 ds) const {
    u32 first =
        in_place(CtrlSegment::wqe_index, counter) | in_place(CtrlSegment::opcode, static_cast<u32>(opcode));
    store_be32(control, first);
    store_be32(control + CtrlSegment::ds.dword, sqn_shifted_ | in_place(CtrlSegment::ds, ds));
    store_be32(control + CtrlSegment::ce.dword, 0);
    store_be32(control + CtrlSegment::imm.dword, 0);
}

void TxRing::pad(u32 until) {
    for (; producer_ != until; ++producer_) {
        write_control(block(producer_), producer_, WqeOpcode::nop, 1);
        wqes_[producer_ & mask_] = {nullptr, 0, 1, 0};
    }
}

// One doorbell and one completion for everything posted since the last.
void TxRing::ring() {
    if (rung_ == producer_) return;
    store_be32(last_ + CtrlSegment::ce.dword, in_place(CtrlSegment::ce, CtrlSegment::kCeAlways));
    store_release(rung_, producer_); // before the card can complete; pairs with look_for_completion()
    plat_publish(); // WQEs before the record; pairs with the card reading the record, then the WQEs
    store_shared_be32(record_.cpu + WqRecord::send.dword, producer_ & WqRecord::send.mask());
    plat_before_ring(); // record before the doorbell; pairs with the card reading the record after it
    plat_ring(platform_, doorbell_, last_);
    bump(stats_->doorbells);
    bump(stats_->maps, mapped_ - counted_);
    counted_ = mapped_;
}

unsigned TxRing::reap(nic_tx_done *done, unsigned most) {
    unsigned count = 0;
    bool looked = false;
    u32 before = consumer_, unmapped_before = unmapped_;
    while (count < most) {
        if (static_cast<s32>(done_ - consumer_) > 0)
            count += complete(done[count]);
        else if (look_for_completion())
            looked = true;
        else
            break;
    }
    // Completions are given back before blocks: the queue holds one for each block, so whoever finds room in
    // the ring has room for its completion too.
    if (looked) cq_.publish();
    if (consumer_ != before) store_release(freed_, consumer_); // may be written again; pairs with post_as()
    bump(stats_->unmaps, unmapped_ - unmapped_before);
    return count;
}

// A completion finishes all WQEs up to the one it names. The card may only name blocks it was told of;
// walking by the driver's own sizes makes every answer it can give safe.
bool TxRing::look_for_completion() {
    if (load_relaxed(failed_) && consumer_ == load_acquire(rung_)) return false;
    const u8 *cqe = cq_.peek();
    if (!cqe) return false;
    u32 last = load_shared_be32(cqe + Cqe::opcode.dword);
    u32 opcode = last >> Cqe::opcode.lo & Cqe::opcode.mask();
    u32 distance = ((last >> Cqe::wqe_counter.lo) - consumer_) & Cqe::wqe_counter.mask();
    cq_.pop();
    if (distance >= load_acquire(rung_) - consumer_) {
        fail("a completion for a WQE that was not posted", last >> Cqe::wqe_counter.lo);
        return false;
    }
    done_ = consumer_ + distance + 1;
    if (opcode == static_cast<u32>(CqeOpcode::requester)) return true;
    bump(stats_->errors);
    if (opcode == static_cast<u32>(CqeOpcode::requester_error))
        fail("an error completion", DmaView<ErrorCqe>(cqe).get(ErrorCqe::syndrome));
    else
        fail("a completion that makes no sense", opcode);
    return true;
}

void TxRing::fail(const char *why, u32 detail) {
    if (load_relaxed(failed_)) return; // flushed WQEs follow the first error
    plat_log(resources_->platform(), PLAT_ERROR, "send queue 0x%x stopped: %s (0x%x)", sq_.number(), why,
             detail);
    store_relaxed(failed_, true);
}

// The oldest WQE; true when it was a packet.
inline bool TxRing::complete(nic_tx_done &done) {
    const Wqe &wqe = wqes_[consumer_ & mask_];
    unmap(wqe.mappings);
    consumer_ += wqe.blocks;
    done = {wqe.cookie, wqe.bytes};
    return wqe.cookie;
}

inline void TxRing::unmap(u32 count) {
    for (u32 end = unmapped_ + count; unmapped_ != end; ++unmapped_) {
        const Mapping &mapping = mappings_[unmapped_ & mapping_mask_];
        plat_unmap(platform_, mapping.bus, mapping.bytes, PLAT_TO_DEVICE);
    }
}

unsigned TxRing::drain(nic_tx_done *done, unsigned most) {
    sq_.destroy(); // the card reads no packet from here on
    store_relaxed(failed_, true);
    unsigned count = 0;
    u32 unmapped_before = unmapped_;
    while (count < most && consumer_ != producer_)
        count += complete(done[count]);
    bump(stats_->unmaps, unmapped_ - unmapped_before);
    return count;
}

} // namespace niclab::driver
