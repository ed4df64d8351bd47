// SPDX-License-Identifier: GPL-2.0-or-later
// Keys with translation lists, and the WQE that changes them. What a key leads to is seen by sending from it.
#include <gtest/gtest.h>

#include "support/card.h"

namespace niclab::test {
namespace {

constexpr u8 kInline = 0x80, kFailWhenFree = 0x20, kFailWhenNotFree = 0x40, kOffset = 0x10;
constexpr u64 kMaskFree = 1ull << 29;

Bytes be64(u64 value) { return be32(static_cast<u32>(value >> 32)) + be32(static_cast<u32>(value)); }
Bytes klm(u32 bytes, u32 key, u64 address) { return be32(bytes) + be32(key) + be64(address); }

struct UmrWqe {
    u8 flags = kInline | kOffset;
    u16 octwords = 0, offset = 0;
    u64 mask = kMaskFree;
    u32 offset_high = 0;
    Bytes context = zeros(64); // all zero: not free
    Bytes list = {};
    int ds = -1;

    Bytes bytes(u16 index, u32 sqn, u32 key) const {
        Bytes body = Bytes{flags, 0, 0, 0} + be16(octwords) + be16(offset) + be64(mask) + be32(offset_high) +
                     zeros(28) + context + list;
        u32 units = ds >= 0 ? static_cast<u32>(ds) : static_cast<u32>(1 + body.size() / 16);
        return be32(u32{index} << 8 | 0x25) + be32(sqn << 8 | units) + Bytes{0, 0, 0, 0x08} + be32(key) +
               body;
    }
};

class UmrTest : public testing::Test {
  protected:
    static constexpr u32 kPages = 8; // of a page list

    CommandInput key_input(AccessMode mode, u32 octwords, unsigned log_page = 12) {
        CommandInput in(Opcode::create_mkey, CreateMkeyIn::bytes);
        return in.set(MkeyContext::access_mode, static_cast<u32>(mode), CreateMkeyIn::context)
            .set(MkeyContext::free, 1, CreateMkeyIn::context)
            .set(MkeyContext::umr_en, 1, CreateMkeyIn::context)
            .set(MkeyContext::local_read, 1, CreateMkeyIn::context)
            .set(MkeyContext::qpn, 0xffffff, CreateMkeyIn::context)
            .set(MkeyContext::mkey_7_0, Card::kKeyByte, CreateMkeyIn::context)
            .set(MkeyContext::pd, card_.pd, CreateMkeyIn::context)
            .set(MkeyContext::len, kPages * kPage, CreateMkeyIn::context)
            .set(MkeyContext::translations_octword_size, octwords, CreateMkeyIn::context)
            .set(MkeyContext::log_page_size, log_page, CreateMkeyIn::context);
    }
    u32 key(const CommandInput &in) { return card_.driver.must(in).number() << 8 | Card::kKeyByte; }
    u32 page_key() { return key(key_input(AccessMode::mtt, kPages / 2)); }

    Queue umr_queue() {
        Queue sq;
        card_.start_sq(sq,
                       card_.sq_input(sq, 6, cq_.number).set(SqContext::reg_umr, 1, CreateQueueIn::context));
        return sq;
    }
    Completion change(Queue &sq, u32 key, const UmrWqe &wqe) {
        Bytes bytes = wqe.bytes(static_cast<u16>(sq.producer), sq.number, key);
        bytes.resize((bytes.size() + 63) / 64 * 64);
        for (usize at = 0; at < bytes.size(); at += 64)
            card_.host.memory.put(sq.slot(sq.producer++), std::span(bytes).subspan(at, 64));
        card_.ring(sq);
        return card_.poll(cq_).value();
    }
    void must_change(u32 key, const UmrWqe &wqe) {
        ASSERT_EQ(change(sq_, key, wqe).opcode(), CqeOpcode::requester);
    }
    // The 60 bytes that a frame sent from there carries; empty when the card refused them.
    Bytes seen_at(u32 key, u64 address) {
        Queue sender = card_.create_sq(4, cq_.number);
        card_.host.frames.clear();
        card_.send(sender, SendWqe{}.pointer(key, address, 60));
        Completion done = card_.poll(cq_).value();
        if (done.opcode() == CqeOpcode::requester) return card_.host.frames.at(0);
        EXPECT_EQ(done.syndrome(), CqeSyndrome::local_protection);
        return {};
    }
    // A page full of one byte.
    u64 page_of(u8 value) {
        u64 address = card_.host.memory.allocate(kPage);
        card_.host.memory.fill(address, kPage, value);
        return address;
    }
    static Bytes sixty(u8 value) { return Bytes(60, value); }

    Card card_;
    Queue cq_ = card_.create_cq(6), sq_ = umr_queue();
};

TEST_F(UmrTest, InlineListFillsAPageListAndOpensTheKey) {
    u32 target = page_key();
    EXPECT_EQ(seen_at(target, 0), Bytes()) << "closed until a UMR opens it";
    u64 a = page_of(0xa1), b = page_of(0xb2);
    // Flag bits stand in the low bits of an address.
    must_change(target, {.octwords = 1, .list = be64(a | 2) + be64(b | 3)});
    EXPECT_EQ(seen_at(target, 0), sixty(0xa1));
    EXPECT_EQ(seen_at(target, kPage - 20), Bytes(20, 0xa1) + Bytes(40, 0xb2));
    EXPECT_EQ(seen_at(target, 2 * kPage - 20), Bytes()) << "the third page is not filled";
    EXPECT_EQ(card_.host.counter("umr_wqes"), 1u);
}

TEST_F(UmrTest, ListCommandBringsIsThereFromTheStart) {
    u64 a = page_of(0xa1), b = page_of(0xb2);
    CommandInput in = key_input(AccessMode::mtt, 2);
    in.set(MkeyContext::free, 0, CreateMkeyIn::context)
        .set(CreateMkeyIn::translations_octword_actual_size, 1)
        .put_be64(CreateMkeyIn::klm_pas_mtt, a)
        .put_be64(CreateMkeyIn::klm_pas_mtt + 8, b);
    EXPECT_EQ(seen_at(key(in), kPage - 20), Bytes(20, 0xa1) + Bytes(40, 0xb2));
}

TEST_F(UmrTest, OffsetCountsOctwordsAndTheRestStays) {
    u32 target = page_key();
    u64 a = page_of(1), b = page_of(2), c = page_of(3), d = page_of(4), e = page_of(5);
    must_change(target, {.octwords = 2, .list = be64(a) + be64(b) + be64(c) + be64(d)});
    must_change(target, {.octwords = 1, .offset = 1, .list = be64(e) + be64(e)});
    EXPECT_EQ(seen_at(target, kPage), sixty(2));
    EXPECT_EQ(seen_at(target, 2 * kPage), sixty(5));
    // Without the flag the field means nothing and the list starts at the front.
    must_change(target, {.flags = kInline, .octwords = 1, .offset = 3, .list = be64(d) + be64(d)});
    EXPECT_EQ(seen_at(target, 0), sixty(4));
    EXPECT_EQ(change(sq_, target, {.octwords = 1, .offset_high = 1, .list = be64(e) + be64(e)}).syndrome(),
              CqeSyndrome::memory_window_bind)
        << "the upper half of the offset counts";
}

TEST_F(UmrTest, ListMayLieInMemory) {
    u32 target = page_key();
    u64 a = page_of(0xa1);
    Bytes list;
    for (u32 i = 0; i < kPages; ++i)
        list = list + be64(a);
    u64 at = card_.buffer(list);
    must_change(target, {.flags = kOffset, .octwords = 4, .list = klm(64, card_.lkey, at)});
    EXPECT_EQ(seen_at(target, 7 * kPage), sixty(0xa1));
    card_.host.memory.unmap(at, kPage);
    EXPECT_EQ(
        change(sq_, target, {.flags = kOffset, .octwords = 4, .list = klm(64, card_.lkey, at)}).syndrome(),
        CqeSyndrome::local_protection);
}

TEST_F(UmrTest, PiecesOfAnyLengthFollowEachOther) {
    u32 target = key(key_input(AccessMode::klm, 4, 0));
    u64 a = page_of(1), b = page_of(2), c = page_of(3);
    must_change(target, {.octwords = 4,
                         .list = klm(50, card_.lkey, a) + klm(0, card_.lkey, 0) + klm(7, card_.lkey, b + 9) +
                                 klm(100, card_.lkey, c)});
    EXPECT_EQ(seen_at(target, 20), Bytes(30, 1) + Bytes(7, 2) + Bytes(23, 3));
    EXPECT_EQ(seen_at(target, 97), sixty(3));
    EXPECT_EQ(seen_at(target, 98), Bytes()) << "157 bytes in all";
    // A piece of another length moves everything behind it.
    must_change(target, {.octwords = 1, .list = klm(10, card_.lkey, a)});
    EXPECT_EQ(seen_at(target, 5), Bytes(5, 1) + Bytes(7, 2) + Bytes(48, 3));
}

TEST_F(UmrTest, EqualPiecesBehindOtherKeys) {
    u32 target = key(key_input(AccessMode::ksm, 4, 10));
    u64 a = page_of(1), b = page_of(2), c = page_of(3);
    u32 pages = page_key();
    must_change(pages, {.octwords = 1, .list = be64(c) + be64(c)});
    // The first word, which is a length in the other kind, means nothing here.
    must_change(target,
                {.octwords = 3,
                 .list = klm(1, card_.lkey, a) + klm(1, card_.lkey, b + 100) + klm(1, pages, kPage - 30)});
    EXPECT_EQ(seen_at(target, 1024 - 20), Bytes(20, 1) + Bytes(40, 2));
    EXPECT_EQ(seen_at(target, 2048), sixty(3)) << "through a page list, over the edge of its first page";
    EXPECT_EQ(seen_at(target, 3 * 1024), Bytes()) << "an entry that names no key";
}

TEST_F(UmrTest, ReferenceStopsAtOneLevelAndKeepsTheDomain) {
    u32 target = key(key_input(AccessMode::klm, 2, 0)), middle = key(key_input(AccessMode::klm, 2, 0));
    u64 a = page_of(1);
    must_change(middle, {.octwords = 1, .list = klm(100, card_.lkey, a)});
    EXPECT_EQ(seen_at(middle, 0), sixty(1));
    must_change(target, {.octwords = 1, .list = klm(100, middle, 0)});
    EXPECT_EQ(seen_at(target, 0), Bytes());
    must_change(target, {.octwords = 1, .list = klm(100, target, 0)});
    EXPECT_EQ(seen_at(target, 0), Bytes()) << "a key that names itself";
    u32 elsewhere = card_.driver.alloc(Opcode::alloc_pd);
    CommandInput in = key_input(AccessMode::physical, 0, 0);
    in.set(MkeyContext::free, 0, CreateMkeyIn::context)
        .set(MkeyContext::umr_en, 0, CreateMkeyIn::context)
        .set(MkeyContext::length64, 1, CreateMkeyIn::context)
        .set(MkeyContext::pd, elsewhere, CreateMkeyIn::context);
    must_change(target, {.octwords = 1, .list = klm(100, key(in), a)});
    EXPECT_EQ(seen_at(target, 0), Bytes());
}

TEST_F(UmrTest, MaskSaysWhichFieldsChange) {
    u32 target = page_key();
    u64 a = page_of(1), b = page_of(2);
    Bytes context(64);
    View<MkeyContext> wanted(context.data());
    wanted.set(MkeyContext::start_addr, 0x10000)
        .set(MkeyContext::len, kPage)
        .set(MkeyContext::mkey_7_0, 0x77);
    constexpr u64 kLength = 1 << 0, kStart = 1 << 6, kRename = 1 << 13, kLocalRead = 1 << 17;
    must_change(target, {.octwords = 1, .list = be64(a) + be64(b)});
    must_change(target, {.mask = kLength | kStart, .context = context});
    EXPECT_EQ(seen_at(target, 0x10000), sixty(1));
    EXPECT_EQ(seen_at(target, 0x10000 + kPage - 20), Bytes()) << "one page long now";
    EXPECT_EQ(seen_at(target, 0), Bytes());
    u32 renamed = (target & ~0xffu) | 0x77;
    must_change(renamed, {.mask = kRename, .context = context});
    EXPECT_EQ(seen_at(target, 0x10000), Bytes());
    EXPECT_EQ(seen_at(renamed, 0x10000), sixty(1));
    CommandResult out =
        card_.driver.must(Card::number_input(Opcode::query_mkey, target >> 8), QueryMkeyOut::bytes);
    EXPECT_EQ(out.get(MkeyContext::mkey_7_0, QueryMkeyOut::context), 0x77u);
    EXPECT_EQ(out.get(MkeyContext::free, QueryMkeyOut::context), 0u);
    must_change(renamed, {.mask = kLocalRead, .context = context});
    EXPECT_EQ(seen_at(renamed, 0x10000), Bytes()) << "the right to read is gone";
    View<MkeyContext>(context.data()).set(MkeyContext::free, 1).set(MkeyContext::local_read, 1);
    must_change(renamed, {.mask = kLocalRead | kMaskFree, .context = context});
    EXPECT_EQ(seen_at(renamed, 0x10000), Bytes()) << "closed again";
}

TEST_F(UmrTest, BadRequestsFailAndChangeNothing) {
    u32 target = page_key(), physical = card_.lkey;
    u64 a = page_of(1), b = page_of(2);
    must_change(target, {.octwords = 1, .list = be64(a) + be64(a)});
    u32 elsewhere = card_.driver.alloc(Opcode::alloc_pd);
    u32 foreign = key(key_input(AccessMode::mtt, 4).set(MkeyContext::pd, elsewhere, CreateMkeyIn::context));
    Bytes list = be64(b) + be64(b), small_pages(64);
    using enum CqeSyndrome;
    const struct {
        const char *what;
        u32 key;
        UmrWqe wqe;
        CqeSyndrome syndrome;
    } kBad[] = {
        {"no such key", 0x123400, {.octwords = 1, .list = list}, memory_window_bind},
        {"other low byte", target ^ 1, {.octwords = 1, .list = list}, memory_window_bind},
        {"key without UMR", physical, {.octwords = 1, .list = list}, memory_window_bind},
        {"key of another domain", foreign, {.octwords = 1, .list = list}, memory_window_bind},
        {"behind the list", target, {.octwords = 1, .offset = 4, .list = list}, memory_window_bind},
        {"longer than the list", target, {.octwords = 5, .list = list + zeros(64)}, memory_window_bind},
        {"not free",
         target,
         {.flags = kInline | kFailWhenNotFree, .octwords = 1, .list = list},
         memory_window_bind},
        {"page size that is none",
         target,
         {.octwords = 1, .mask = 2, .context = small_pages, .list = list},
         memory_window_bind},
        {"unknown mask bit", target, {.octwords = 1, .mask = 1ull << 60, .list = list}, local_qp_operation},
        {"list longer than the WQE", target, {.octwords = 2, .list = list}, local_qp_operation},
        {"pointer missing", target, {.flags = kOffset, .octwords = 1}, local_qp_operation},
        {"cut context", target, {.octwords = 0, .ds = 7}, local_qp_operation},
        {"pointer with a bad key",
         target,
         {.flags = kOffset, .octwords = 1, .list = klm(16, 0x4711, b)},
         local_protection},
    };
    for (const auto &bad : kBad) {
        Queue sq = umr_queue();
        Completion done = change(sq, bad.key, bad.wqe);
        EXPECT_EQ(done.opcode(), CqeOpcode::requester_error) << bad.what;
        EXPECT_EQ(done.syndrome(), bad.syndrome) << bad.what;
        EXPECT_EQ(card_.sq_state(sq), QueueState::error) << bad.what;
    }
    EXPECT_EQ(seen_at(target, 0), sixty(1));
    u32 closed = page_key();
    Queue sq = umr_queue();
    EXPECT_EQ(change(sq, closed, {.flags = kInline | kFailWhenFree, .octwords = 1, .list = list}).syndrome(),
              memory_window_bind);
}

TEST_F(UmrTest, QueueMustBeMadeForIt) {
    Queue plain = card_.create_sq(4, cq_.number);
    EXPECT_EQ(change(plain, page_key(), {}).syndrome(), CqeSyndrome::local_qp_operation);
}

TEST_F(UmrTest, CreationChecksTheList) {
    auto status = [&](const CommandInput &in) { return card_.driver.run(in).status(); };
    EXPECT_EQ(status(key_input(AccessMode::mtt, 0x10001)), Status::bad_parameter) << "too long";
    EXPECT_EQ(status(key_input(AccessMode::mtt, 4).set(CreateMkeyIn::translations_octword_actual_size, 5)),
              Status::bad_parameter)
        << "more than the key has";
    EXPECT_EQ(status(key_input(AccessMode::mtt, 4).set(CreateMkeyIn::translations_octword_actual_size, 1)),
              Status::bad_parameter)
        << "the list is missing";
    EXPECT_EQ(status(key_input(AccessMode::mtt, 4, 11)), Status::bad_parameter) << "page too small";
    EXPECT_EQ(status(key_input(AccessMode::ksm, 4, 5)), Status::bad_parameter) << "piece too small";
}

TEST_F(UmrTest, GuestCannotMakeTheCardHoldListsWithoutEnd) {
    std::vector<u32> keys;
    CommandResult last = card_.driver.run(key_input(AccessMode::mtt, 0x10000));
    for (; last.ok() && keys.size() < 100; last = card_.driver.run(key_input(AccessMode::mtt, 0x10000)))
        keys.push_back(last.number());
    EXPECT_EQ(keys.size(), 64u);
    EXPECT_EQ(last.status(), Status::no_resources);
    ASSERT_TRUE(card_.destroy(Opcode::destroy_mkey, keys.back()).ok());
    EXPECT_TRUE(card_.driver.run(key_input(AccessMode::mtt, 0x10000)).ok());
}

} // namespace
} // namespace niclab::test
