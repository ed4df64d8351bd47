// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/cq.h"

#include "core/sync.h"

namespace niclab::driver {

namespace {
constexpr u8 kNotWritten =
    static_cast<u8>(CqeOpcode::invalid) << 4 | 1; // opcode and owner before the first lap
}

Result<Cq> Cq::make(const Resources &resources, const Settings &settings) {
    Cq cq;
    usize bytes = kCqeBytes << settings.log_entries;
    cq.platform_ = resources.platform();
    cq.mask_ = (1u << settings.log_entries) - 1;
    cq.log_entries_ = settings.log_entries;
    cq.doorbell_ = resources.uar_page() * uar::kBytes + uar::kCqArm;
    cq.arm_number_ = settings.arm_number;
    cq.record_ = settings.record;
    cq.ring_ = TRY(DmaBlock::make(resources.platform(), bytes));
    for (usize at = 0; at < bytes; at += kCqeBytes)
        cq.ring_.cpu()[at + Cqe::op_own_byte] = kNotWritten;

    auto create = TRY(LargeCommand::make(Opcode::create_cq, 0, CreateCqIn::pas + 8 * cq.ring_.pages()));
    create.input<CqContext>(CreateCqIn::context)
        .set(CqContext::log_cq_size, settings.log_entries)
        .set(CqContext::uar_page, resources.uar_page())
        .set(CqContext::c_eqn, settings.eqn)
        .set(CqContext::dbr_addr, settings.record.bus);
    cq.ring_.write_page_list(create.in() + CreateCqIn::pas);
    cq.object_ =
        TRY(Object::make(resources.commands(), create.bytes(), Opcode::destroy_cq, Object::Kind::queue));
    return Result<Cq>(driver::move(cq));
}

void Cq::arm() {
    u8 request[CqArm::bytes];
    u32 first = in_place(CqArm::sn, load_relaxed(*arm_number_)) | in_place(CqArm::ci, consumer_);
    store_be32(request, first);
    store_be32(request + CqArm::cqn.dword, number());
    store_shared_be32(record_.cpu + CqRecord::arm.dword, first);
    plat_before_ring(); // records before the request; pairs with the card reading them when it takes the
                        // request
    plat_ring(platform_, doorbell_, request);
}

} // namespace niclab::driver
