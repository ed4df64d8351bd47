// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/mailbox.h"

namespace niclab::driver {

Result<void> MailboxChain::reserve(plat *platform, usize payload) {
    usize wanted = (blocks_for(payload) + kPerPage - 1) / kPerPage;
    if (wanted <= pages_.size()) return {};
    auto pages = TRY(Array<DmaBlock>::make(wanted));
    for (usize i = pages_.size(); i < wanted; ++i)
        pages[i] = TRY(DmaBlock::make(platform, kPageBytes));
    for (usize i = 0; i < pages_.size(); ++i)
        pages[i] = driver::move(pages_[i]);
    pages_ = driver::move(pages);
    return {};
}

void MailboxChain::prepare(usize payload, u8 token) {
    usize blocks = blocks_for(payload);
    for (usize i = 0; i < blocks; ++i) {
        clear_bytes(block(i), Mailbox::bytes);
        View<Mailbox>(block(i))
            .set(Mailbox::next, i + 1 < blocks ? block_bus(i + 1) : 0)
            .set(Mailbox::block_number, static_cast<u32>(i))
            .set(Mailbox::token, token);
    }
}

void MailboxChain::write(ConstBytes payload) {
    for (usize at = 0; at < payload.size; at += kMailboxDataBytes)
        copy_bytes(block(at / kMailboxDataBytes), payload.data + at,
                   min(payload.size - at, kMailboxDataBytes));
}

void MailboxChain::read(Bytes payload) const {
    for (usize at = 0; at < payload.size; at += kMailboxDataBytes)
        copy_bytes(payload.data + at, block(at / kMailboxDataBytes),
                   min(payload.size - at, kMailboxDataBytes));
}

} // namespace niclab::driver
