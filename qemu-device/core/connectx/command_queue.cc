// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/command_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "connectx/device.h"
#include "spec/init_segment.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynUnknown = 0x500001, kSynUid = 0x500002, kSynInputLength = 0x500003,
              kSynOutputLength = 0x500004, kSynPhase = 0x500005;
constexpr u32 kAddressMask = 0xfffff000;
constexpr usize kLeastBytes = 8; // opcode and modifier; status and syndrome

usize block_count(u32 length) {
    return length <= kCommandInlineBytes
               ? 0
               : (length - kCommandInlineBytes + kMailboxDataBytes - 1) / kMailboxDataBytes;
}

// The entry names the first block in units of 512 bytes, a block names the next one in units of 1024.
bool aligned(u64 address, bool first) {
    return address != 0 && address % (first ? kMailboxDataBytes : kMailboxStride) == 0;
}

} // namespace

void CommandQueue::reset() {
    high_ = low_ = nic_interface_ = 0;
    registered_ = false;
}

u32 CommandQueue::address_low() const { return low_ | nic_interface_ << 8 | kLogEntries << 4 | kLogStride; }

void CommandQueue::set_address_high(u32 value) { high_ = value; }

void CommandQueue::set_address_low(u32 value) {
    u32 interface = value >> 8 & 7;
    // "Disabled" and "software reset" both end with a card that has forgotten everything but this register.
    bool disable =
        interface == init_segment::kNicInterfaceDisabled || interface == init_segment::kNicInterfaceReset;
    if (disable) device_.power_on();
    nic_interface_ = disable ? init_segment::kNicInterfaceDisabled : init_segment::kNicInterfaceFull;
    low_ = value & kAddressMask;
    registered_ = true;
}

bool CommandQueue::take_registered() { return std::exchange(registered_, false); }

void CommandQueue::doorbell(u32 mask) {
    if ((high_ | low_) == 0 || nic_interface_ != init_segment::kNicInterfaceFull) {
        device_.guest_error("command doorbell without a command queue", mask);
        return;
    }
    for (; mask != 0; mask &= mask - 1)
        run_entry(static_cast<unsigned>(std::countr_zero(mask)));
}

void CommandQueue::run_entry(unsigned index) {
    u64 address = (static_cast<u64>(high_) << 32 | low_) + (u64{index} << kLogStride);
    Entry entry;
    if (!device_.dma.read(DmaPurpose::command, address, entry.raw, sizeof(entry.raw))) {
        device_.guest_error("command queue entry not readable", address);
        return;
    }
    if (!(entry.raw[CommandEntry::status_own_byte] & kCommandOwnerDevice)) {
        device_.guest_error("command doorbell for an entry that software owns", index);
        return;
    }
    // Commands are never started in one completion mode and finished in the other: the command that creates
    // the EQ is polled.
    bool by_event = has_listener(device_, Event::command);
    u8 inline_out[kCommandInlineBytes] = {};
    Delivery delivery = execute(index, entry, inline_out);
    u8 status_own = static_cast<u8>(static_cast<u8>(delivery) << 1);
    bool written =
        device_.dma.write(DmaPurpose::command, address + CommandEntry::output_inline, inline_out,
                          sizeof(inline_out)) &&
        device_.dma.write(DmaPurpose::command, address + CommandEntry::status_own_byte, &status_own, 1);
    if (!written) device_.guest_error("command queue entry not writable", address);
    if (delivery != Delivery::ok) device_.guest_error("command not delivered", static_cast<u64>(delivery));
    u32 objects = device_.live_objects();
    device_.counters.set(Counter::live_objects, objects);
    device_.hca.pages.balance(device_, objects);
    if (!by_event) return;
    u8 vector[4];
    store_be32(vector, 1u << index);
    post_async(device_, Event::command, 0, vector);
}

Delivery CommandQueue::execute(unsigned index, const Entry &entry, u8 (&inline_out)[kCommandInlineBytes]) {
    ConstView<CommandEntry> view(entry.raw);
    if (view.get(CommandEntry::type) != kCommandTransportPcie) return Delivery::bad_descriptor;
    u32 in_length = view.get(CommandEntry::input_length), out_length = view.get(CommandEntry::output_length);
    if (in_length < kLeastBytes || in_length > kMostBytes) return Delivery::bad_input_length;
    if (out_length < kLeastBytes || out_length > kMostBytes) return Delivery::bad_output_length;
    // Both chains are walked before anything is done, so that no command takes effect whose answer has no
    // place to go.
    if (Delivery d = gather_input(entry); d != Delivery::ok) return d;
    if (Delivery d = locate_output(entry); d != Delivery::ok) return d;

    Reply reply = dispatch(index, out_length);
    if (reply.status != Status::ok) std::fill(output_.begin(), output_.end(), u8{0});
    View<CommandOut>(output_.data())
        .set(CommandOut::status, static_cast<u32>(reply.status))
        .set(CommandOut::syndrome, reply.syndrome);
    Delivery delivery = scatter_output(out_length);
    std::memcpy(inline_out, output_.data(), std::min<usize>(out_length, kCommandInlineBytes));
    return delivery;
}

// By length, never by the link: a chain may be longer than the command, and what hangs behind is stale.
Delivery CommandQueue::gather_input(const Entry &entry) {
    ConstView<CommandEntry> view(entry.raw);
    u32 length = view.get(CommandEntry::input_length);
    input_.assign(std::max<usize>(length, kCommandInlineBytes), 0);
    std::memcpy(input_.data(), entry.raw + CommandEntry::input_inline,
                std::min<usize>(length, kCommandInlineBytes));
    u64 address = view.get(CommandEntry::input_mailbox);
    for (usize block = 0; block < block_count(length); ++block) {
        u8 raw[Mailbox::bytes];
        if (!aligned(address, block == 0)) return Delivery::bad_input_pointer;
        if (!device_.dma.read(DmaPurpose::command, address, raw, sizeof(raw)))
            return Delivery::bad_input_pointer;
        ConstView<Mailbox> mailbox(raw);
        if (mailbox.get(Mailbox::block_number) != block) return Delivery::bad_block;
        if (mailbox.get(Mailbox::token) != view.get(CommandEntry::token)) return Delivery::token;
        usize at = kCommandInlineBytes + block * kMailboxDataBytes;
        std::memcpy(input_.data() + at, raw, std::min<usize>(length - at, kMailboxDataBytes));
        address = mailbox.get(Mailbox::next);
    }
    input_.resize(length);
    return Delivery::ok;
}

Delivery CommandQueue::locate_output(const Entry &entry) {
    ConstView<CommandEntry> view(entry.raw);
    output_blocks_.clear();
    u64 address = view.get(CommandEntry::output_mailbox);
    usize blocks = block_count(view.get(CommandEntry::output_length));
    constexpr usize kTail = 0x230; // link, block number and token
    for (usize block = 0; block < blocks; ++block) {
        u8 raw[Mailbox::bytes];
        if (!aligned(address, block == 0)) return Delivery::bad_output_pointer;
        if (!device_.dma.read(DmaPurpose::command, address + kTail, raw + kTail, sizeof(raw) - kTail))
            return Delivery::bad_output_pointer;
        ConstView<Mailbox> mailbox(raw);
        if (mailbox.get(Mailbox::block_number) != block) return Delivery::bad_block;
        if (mailbox.get(Mailbox::token) != view.get(CommandEntry::token)) return Delivery::token;
        output_blocks_.push_back(address);
        address = mailbox.get(Mailbox::next);
    }
    return Delivery::ok;
}

Delivery CommandQueue::scatter_output(u32 length) {
    for (usize block = 0; block < output_blocks_.size(); ++block) {
        usize at = kCommandInlineBytes + block * kMailboxDataBytes;
        usize bytes = std::min<usize>(length - at, kMailboxDataBytes);
        if (!device_.dma.write(DmaPurpose::command, output_blocks_[block], output_.data() + at, bytes))
            return Delivery::bad_output_pointer;
    }
    return Delivery::ok;
}

Reply CommandQueue::dispatch(unsigned index, u32 out_length) {
    u8 head[CommandIn::bytes] = {};
    std::memcpy(head, input_.data(), std::min<usize>(input_.size(), sizeof(head)));
    ConstView<CommandIn> in(head);
    u16 opcode = static_cast<u16>(in.get(CommandIn::opcode)),
        op_mod = static_cast<u16>(in.get(CommandIn::op_mod));
    device_.counters.add(Counter::commands);
    device_.trace(CX_TRACE_COMMAND, opcode, op_mod, index, input_);

    const Command *command = find_command(opcode);
    output_.assign(std::max<usize>(out_length, CommandOut::bytes), 0);
    Reply reply;
    if (!command)
        reply = fail(Status::bad_operation, kSynUnknown);
    else if (in.get(CommandIn::uid) != 0) // user contexts are not offered
        reply = fail(Status::bad_parameter, kSynUid);
    else if (input_.size() < command->min_in)
        reply = fail(Status::bad_input_length, kSynInputLength);
    else if (out_length < command->min_out)
        reply = fail(Status::bad_output_length, kSynOutputLength);
    else if (device_.hca.phase < command->since)
        reply = fail(Status::bad_system_state, kSynPhase);
    else
        reply = command->run(device_, {input_, op_mod}, {output_});

    device_.trace(CX_TRACE_COMMAND_DONE, opcode, static_cast<u64>(reply.status), reply.syndrome, output_);
    if (!command) device_.guest_error("unknown command", opcode);
    if (reply.status != Status::ok) device_.counters.add(Counter::command_errors);
    return reply;
}

} // namespace niclab::connectx
