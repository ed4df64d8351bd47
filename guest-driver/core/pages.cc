// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/pages.h"

namespace niclab::driver {

namespace {
constexpr unsigned kReclaimMs = 5000;
}

Result<Owned<Pages>> Pages::make(CommandInterface &commands) {
    auto self = TRY(Owned<Pages>::make());
    self->commands_ = &commands;
    self->mutex_ = TRY(Mutex::make());
    self->buckets_ = TRY(Array<Owned<Page>>::make(kBuckets));
    self->taken_ = TRY(Array<u8>::make(ManagePagesOut::pas + 8 * kTakeAtOnce));
    return self;
}

// Only reached when the card has let go of its pages or was given up. Chains are cut one by one: no deep
// recursion.
Pages::~Pages() {
    if (lent_ && !commands_->dead()) commands_->give_up("it kept pages that it had to return");
    for (Owned<Page> &head : buckets_)
        while (head) {
            Owned<Page> rest = driver::move(head->next);
            head = driver::move(rest);
        }
}

Result<void> Pages::give_wanted(QueryPages stage) {
    Command<CommandIn::bytes, QueryPagesOut::bytes> query(Opcode::query_pages, static_cast<u16>(stage));
    TRY(query.execute(*commands_));
    auto reply = query.output<QueryPagesOut>();
    s32 wanted = static_cast<s32>(reply.get(QueryPagesOut::num_pages));
    if (wanted <= 0) return {};
    Lock lock(mutex_);
    return give(static_cast<u16>(reply.get(QueryPagesOut::function_id)), static_cast<u32>(wanted));
}

void Pages::serve(u16 function_id, s32 count) {
    Lock lock(mutex_);
    if (count > 0) {
        if (!give(function_id, static_cast<u32>(count)).ok()) refuse(function_id);
        return;
    }
    u32 left = min(static_cast<u32>(-static_cast<s64>(count)), lent_);
    while (left > 0) {
        auto taken = take(function_id, min(left, kTakeAtOnce));
        u32 number = taken.take();
        if (!taken.ok() || number == 0) return;
        left -= min(left, number);
    }
}

// All pages of a request travel in one command: firmware counts commands against requests.
Result<void> Pages::give(u16 function_id, u32 count) {
    if (count > kMostLent - lent_) {
        plat_log(commands_->platform(), PLAT_ERROR,
                 "the card wants %u pages on top of %u, more than the driver lends", count, lent_);
        return Err{-kEnomem};
    }
    auto command = TRY(LargeCommand::make(Opcode::manage_pages, static_cast<u16>(ManagePages::give),
                                          ManagePagesIn::pas + 8 * static_cast<usize>(count)));
    command.input<ManagePagesIn>()
        .set(ManagePagesIn::function_id, function_id)
        .set(ManagePagesIn::input_num_entries, count);
    u8 *addresses = command.in() + ManagePagesIn::pas;
    Result<void> result;
    u32 lent = 0;
    while (lent < count && result.ok()) {
        result = lend_one(addresses + 8 * lent);
        if (result.ok()) ++lent;
    }
    if (result.ok()) result = command.execute(*commands_);
    if (!result.ok() && !commands_->dead())
        while (lent > 0)
            forget(load_be64(addresses + 8 * --lent));
    return result;
}

Result<void> Pages::lend_one(u8 *address) {
    auto page = TRY(Owned<Page>::make());
    page->memory = TRY(DmaBlock::make(commands_->platform(), kHostPageBytes));
    store_be64(address, page->memory.bus());
    Owned<Page> &head = buckets_[bucket(page->memory.bus())];
    page->next = driver::move(head);
    head = driver::move(page);
    ++lent_;
    return {};
}

Result<u32> Pages::take(u16 function_id, u32 count) {
    Command<ManagePagesIn::bytes> command(Opcode::manage_pages, static_cast<u16>(ManagePages::take));
    command.input<ManagePagesIn>()
        .set(ManagePagesIn::function_id, function_id)
        .set(ManagePagesIn::input_num_entries, count);
    usize bytes = ManagePagesOut::pas + 8 * static_cast<usize>(count);
    TRY(commands_->execute({command.in(), ManagePagesIn::bytes}, {taken_.data(), bytes}));
    u32 returned = ConstView<ManagePagesOut>(taken_.data()).get(ManagePagesOut::output_num_entries);
    if (returned > count) {
        plat_log(commands_->platform(), PLAT_ERROR, "the card returned %u pages when asked for %u", returned,
                 count);
        return Err{-kEio};
    }
    u32 known = 0;
    for (u32 i = 0; i < returned; ++i) {
        u64 bus = load_be64(taken_.data() + ManagePagesOut::pas + 8 * i);
        if (forget(bus))
            ++known;
        else
            plat_log(commands_->platform(), PLAT_WARN,
                     "the card returned page 0x%llx, which it was not given", bus);
    }
    return known;
}

bool Pages::forget(u64 bus) {
    Owned<Page> *link = &buckets_[bucket(bus)];
    while (*link && (*link)->memory.bus() != bus)
        link = &(*link)->next;
    if (!*link) return false;
    Owned<Page> gone = driver::move(*link);
    *link = driver::move(gone->next);
    --lent_;
    return true;
}

// The card learns that its request will not be met and fails whatever needed the pages.
void Pages::refuse(u16 function_id) {
    plat_log(commands_->platform(), PLAT_WARN, "no memory for the card's page request");
    Command<ManagePagesIn::bytes> command(Opcode::manage_pages, static_cast<u16>(ManagePages::cannot_give));
    command.input<ManagePagesIn>().set(ManagePagesIn::function_id, function_id);
    if (!command.execute(*commands_).ok())
        plat_log(commands_->platform(), PLAT_WARN, "the card did not take the refusal");
}

void Pages::take_all() {
    Lock lock(mutex_);
    u64 deadline = plat_now_ms(commands_->platform()) + kReclaimMs;
    while (lent_ > 0) {
        auto taken = take(0, min(lent_, kTakeAtOnce));
        if (!taken.ok()) return;
        if (taken.take() > 0) {
            deadline = plat_now_ms(commands_->platform()) + kReclaimMs;
        } else {
            if (plat_now_ms(commands_->platform()) >= deadline) return;
            plat_sleep_ms(10);
        }
    }
}

} // namespace niclab::driver
