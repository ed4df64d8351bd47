// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/eq.h"

#include "spec/init_segment.h"

namespace niclab::driver {

Result<Eq> Eq::make(CommandInterface &commands, const Settings &settings) {
    Eq eq;
    eq.platform_ = commands.platform();
    eq.log_entries_ = settings.log_entries;
    eq.mask_ = (1u << settings.log_entries) - 1;
    eq.doorbell_ = settings.uar_page * uar::kBytes + uar::kEqArm;
    eq.ring_ = TRY(DmaBlock::make(commands.platform(), kEqeBytes << settings.log_entries));
    // Owner 1 is "not written yet" on the first lap.
    for (usize at = 0; at < kEqeBytes << settings.log_entries; at += kEqeBytes)
        eq.ring_.cpu()[at + Eqe::owner_byte] = 1;

    auto create = TRY(LargeCommand::make(Opcode::create_eq, 0, CreateEqIn::pas + 8 * eq.ring_.pages()));
    create.input<EqContext>(CreateEqIn::context)
        .set(EqContext::log_eq_size, settings.log_entries)
        .set(EqContext::uar_page, settings.uar_page)
        .set(EqContext::intr, settings.vector);
    store_be64(create.in() + CreateEqIn::event_bitmask, settings.events);
    eq.ring_.write_page_list(create.in() + CreateEqIn::pas);
    eq.object_ = TRY(Object::make(commands, create.bytes(), Opcode::destroy_eq, Object::Kind::queue));
    return Result<Eq>(driver::move(eq));
}

const u8 *Eq::peek() const {
    const u8 *entry = ring_.cpu() + (consumer_ & mask_) * kEqeBytes;
    u8 lap = consumer_ >> log_entries_ & 1;
    if ((load_shared_u8(entry + Eqe::owner_byte) & 1) != lap) return nullptr;
    plat_acquire(); // owner bit before the event's data; pairs with the card writing the owner byte last
    return entry;
}

void Eq::arm() {
    u32 value = in_place(EqDoorbell::eqn, number()) | in_place(EqDoorbell::ci, consumer_);
    plat_before_ring(); // entries are read before the card may use them again; pairs with the card's fetch of
                        // the index
    plat_write32(platform_, doorbell_, value);
}

} // namespace niclab::driver
