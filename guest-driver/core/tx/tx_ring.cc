// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/tx/tx_ring.h"

#include "spec/init_segment.h"
#include "spec/wqe.h"

namespace niclab::driver {

namespace {

constexpr usize kMacAddresses = 12, kVlanTag = 4;
constexpr u16 kEtherVlan = 0x8100;

// 16-byte units that `bytes` of inline header need behind the Ethernet segment, which holds the first two itself.
constexpr u32 inline_units(u32 bytes) { return bytes ? (bytes - EthSegment::kInlineHeaderHere + 15) / 16 : 0; }

// An inlined header leaves no place for the card's VLAN insertion: the driver inserts the tag.
u32 inline_bytes(const nic_tx_packet &packet) {
    if (!packet.header_bytes) return 0;
    return packet.header_bytes + (packet.vlan_insert ? static_cast<u32>(kVlanTag) : 0);
}

bool legal(const nic_tx_packet &packet) {
    if (!packet.cookie || packet.frag_count > NIC_MAX_FRAGS || !packet.mss != !packet.header_bytes) return false;
    if (!packet.header_bytes) return packet.frag_count > 0;
    return packet.header_bytes >= kMacAddresses + 2 && packet.header_bytes <= TxRing::kMostHeader && packet.mss <= 0xffff;
}

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
    self->mask_ = static_cast<u32>(entries - 1);
    self->key_ = resources.key();
    self->doorbell_ = resources.uar_page() * uar::kBytes + uar::kSendDoorbell;
    self->record_ = settings.sq_record;
    self->wqes_ = TRY(Array<Wqe>::make(entries));
    self->mappings_ = TRY(Array<Mapping>::make(entries * kMappingsPerBlock));
    self->ring_ = TRY(DmaBlock::make(resources.platform(), entries * kBlockBytes));
    self->cq_ = TRY(Cq::make(resources, {settings.log_entries, settings.eqn, settings.cq_record, settings.arm_number}));
    TRY(self->create_sq(settings));
    TRY(self->set_ready());
    return self;
}

TxRing::~TxRing() {
    sq_.destroy();
    unmap(mapped_ - unmapped_, stats_->unmaps);
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
    modify.input<SqContext>(ModifyQueueIn::context).set(SqContext::state, static_cast<u32>(QueueState::ready));
    return modify.execute(resources_->commands());
}

int TxRing::post(const nic_tx_packet &packet) {
    if (load_relaxed(failed_)) return -kEio;
    if (!legal(packet)) return -kEinval;
    u32 ds = 2 + inline_units(inline_bytes(packet)) + packet.frag_count;
    u32 blocks = (ds + 3) / 4;
    u32 to_end = mask_ + 1 - (producer_ & mask_);
    u32 start = producer_ + (blocks > to_end ? to_end : 0); // a WQE does not wrap
    if (start + blocks - producer_ > room()) {
        bump(stats_->busy);
        return -kEbusy;
    }
    u8 *wqe = block(start);
    u8 *data = write_ethernet(wqe + CtrlSegment::bytes, packet);
    if (int error = map_fragments(data, packet)) return error;
    pad(start);
    write_control(start, static_cast<u32>(packet.mss ? WqeOpcode::lso : WqeOpcode::send), ds);
    wqes_[start & mask_] = {packet.cookie, packet.wire_bytes, static_cast<u8>(blocks), static_cast<u8>(packet.frag_count)};
    last_ = wqe;
    producer_ = start + blocks;
    bump(stats_->packets);
    bump(stats_->segments, packet.segments);
    bump(stats_->bytes, packet.wire_bytes);
    return 0;
}

// Returns where the data segments start.
u8 *TxRing::write_ethernet(u8 *segment, const nic_tx_packet &packet) const {
    constexpr u32 kBothChecksums = in_place(EthSegment::l3_csum, 1) | in_place(EthSegment::l4_csum, 1);
    u32 header = inline_bytes(packet);
    u32 last = header                ? in_place(EthSegment::inline_hdr_sz, header)
               : packet.vlan_insert ? in_place(EthSegment::insert_vlan, 1) | in_place(EthSegment::vlan_tci, packet.vlan_tci)
                                    : 0;
    store_be32(segment, 0);
    store_be32(segment + EthSegment::mss.dword, (packet.checksum ? kBothChecksums : 0) | in_place(EthSegment::mss, packet.mss));
    store_be32(segment + EthSegment::flow_table_metadata.dword, 0);
    store_be32(segment + EthSegment::inline_hdr_sz.dword, last);
    if (header) copy_header(segment + EthSegment::inline_hdr_start, packet);
    return segment + EthSegment::bytes + inline_units(header) * kDsBytes;
}

// All fragments, or none.
int TxRing::map_fragments(u8 *segment, const nic_tx_packet &packet) {
    plat *platform = resources_->platform();
    u32 mask = (mask_ + 1) * kMappingsPerBlock - 1;
    for (unsigned i = 0; i < packet.frag_count; ++i, segment += kDsBytes) {
        const nic_frag &fragment = packet.frags[i];
        unsigned long long bus;
        int error = fragment.bytes ? plat_map(platform, fragment.page, fragment.offset, fragment.bytes, PLAT_TO_DEVICE, &bus)
                                   : -kEinval; // a count of zero means 2 GiB to the card
        if (error) {
            bump(stats_->map_errors);
            bump(stats_->maps, i);
            bump(stats_->post_unmaps, i);
            while (i-- > 0) {
                const Mapping &undone = mappings_[(mapped_ + i) & mask];
                plat_unmap(platform, undone.bus, undone.bytes, PLAT_TO_DEVICE);
            }
            return error;
        }
        mappings_[(mapped_ + i) & mask] = {bus, fragment.bytes};
        store_be32(segment + DataSegment::byte_count.dword, fragment.bytes);
        store_be32(segment + DataSegment::lkey.dword, key_);
        store_be64(segment + DataSegment::address.dword, bus);
    }
    mapped_ += packet.frag_count;
    bump(stats_->maps, packet.frag_count);
    return 0;
}

void TxRing::write_control(u32 counter, u32 opcode, u32 ds) {
    u8 *control = block(counter);
    store_be32(control, in_place(CtrlSegment::wqe_index, counter) | in_place(CtrlSegment::opcode, opcode));
    store_be32(control + CtrlSegment::ds.dword, sqn_shifted_ | in_place(CtrlSegment::ds, ds));
    store_be32(control + CtrlSegment::ce.dword, 0);
    store_be32(control + CtrlSegment::imm.dword, 0);
}

void TxRing::pad(u32 until) {
    for (; producer_ != until; ++producer_) {
        write_control(producer_, static_cast<u32>(WqeOpcode::nop), 1);
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
    plat_ring(resources_->platform(), doorbell_, last_);
    bump(stats_->doorbells);
}

unsigned TxRing::reap(nic_tx_done *done, unsigned most) {
    unsigned count = 0;
    bool looked = false;
    u32 before = consumer_;
    while (count < most) {
        if (static_cast<s32>(done_ - consumer_) > 0)
            count += complete(done[count]);
        else if (look_for_completion())
            looked = true;
        else
            break;
    }
    if (consumer_ != before) store_release(freed_, consumer_); // the blocks may be written again; pairs with room()
    if (looked) cq_.publish();
    return count;
}

// A completion finishes all WQEs up to the one it names. The card may only name blocks it was told of; walking by the
// driver's own sizes makes every answer it can give safe.
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
    plat_log(resources_->platform(), PLAT_ERROR, "send queue 0x%x stopped: %s (0x%x)", sq_.number(), why, detail);
    store_relaxed(failed_, true);
}

// The oldest WQE; true when it was a packet.
bool TxRing::complete(nic_tx_done &done) {
    const Wqe &wqe = wqes_[consumer_ & mask_];
    unmap(wqe.mappings, stats_->unmaps);
    consumer_ += wqe.blocks;
    if (!wqe.cookie) return false;
    done = {wqe.cookie, wqe.bytes};
    return true;
}

void TxRing::unmap(unsigned mappings, u64 &count) {
    u32 mask = (mask_ + 1) * kMappingsPerBlock - 1;
    for (unsigned i = 0; i < mappings; ++i, ++unmapped_) {
        const Mapping &mapping = mappings_[unmapped_ & mask];
        plat_unmap(resources_->platform(), mapping.bus, mapping.bytes, PLAT_TO_DEVICE);
    }
    bump(count, mappings);
}

unsigned TxRing::drain(nic_tx_done *done, unsigned most) {
    sq_.destroy(); // the card reads no packet from here on
    store_relaxed(failed_, true);
    unsigned count = 0;
    while (count < most && consumer_ != producer_) count += complete(done[count]);
    return count;
}

} // namespace niclab::driver
