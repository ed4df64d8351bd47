// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/resources.h"

#include "spec/init_segment.h"
#include "spec/objects.h"

namespace niclab::driver {

namespace {
constexpr u32 kKeyByte = 0x4e; // software's part of the memory key
constexpr u32 kAnyQueue = 0xffffff;
} // namespace

Result<void> Resources::allocate_uar(CommandInterface &commands) {
    commands_ = &commands;
    uar_ = TRY(Object::make(commands, Opcode::alloc_uar, Opcode::dealloc_uar));
    // Rings go to this page of BAR0; one inside the initialization segment would be a command doorbell.
    u64 start = uar_page() * u64{uar::kBytes};
    if (start < init_segment::kBytes || start + uar::kBytes > plat_bar_bytes(platform())) {
        plat_log(platform(), PLAT_ERROR, "the card names doorbell page %u, which cannot be", uar_page());
        return Err{-kEio};
    }
    return {};
}

Result<void> Resources::allocate_rest(CommandInterface &commands) {
    pd_ = TRY(Object::make(commands, Opcode::alloc_pd, Opcode::dealloc_pd));
    transport_domain_ =
        TRY(Object::make(commands, Opcode::alloc_transport_domain, Opcode::dealloc_transport_domain));
    TRY(create_key());
    TRY(create_tis());
    counter_set_ = TRY(Object::make(commands, Opcode::alloc_q_counter, Opcode::dealloc_q_counter));
    return {};
}

// Addresses in WQEs are DMA addresses: the IOMMU, not the card, decides what they reach.
Result<void> Resources::create_key() {
    Command<CreateMkeyIn::bytes> create(Opcode::create_mkey);
    create.input<MkeyContext>(CreateMkeyIn::context)
        .set(MkeyContext::access_mode, static_cast<u32>(AccessMode::physical))
        .set(MkeyContext::local_write, 1)
        .set(MkeyContext::local_read, 1)
        .set(MkeyContext::length64, 1)
        .set(MkeyContext::qpn, kAnyQueue)
        .set(MkeyContext::mkey_7_0, kKeyByte)
        .set(MkeyContext::pd, pd());
    mkey_ = TRY(Object::make(*commands_, {create.in(), CreateMkeyIn::bytes}, Opcode::destroy_mkey));
    key_ = mkey_.number() << 8 | kKeyByte;
    return {};
}

Result<void> Resources::create_tis() {
    Command<CreateTisIn::bytes> create(Opcode::create_tis);
    create.input<TisContext>(CreateTisIn::context)
        .set(TisContext::prio, 0)
        .set(TisContext::transport_domain, transport_domain());
    tis_ = TRY(Object::make(*commands_, {create.in(), CreateTisIn::bytes}, Opcode::destroy_tis));
    return {};
}

} // namespace niclab::driver
