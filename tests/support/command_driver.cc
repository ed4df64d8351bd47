// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/command_driver.h"

#include <cstring>
#include <stdexcept>

namespace niclab::test {

CommandInput::CommandInput(u16 opcode, usize bytes, u16 op_mod)
    : raw(std::max<usize>(bytes, CommandIn::bytes)) {
    View<CommandIn>(raw.data()).set(CommandIn::opcode, opcode).set(CommandIn::op_mod, op_mod);
    raw.resize(bytes);
}

CommandInput &CommandInput::put_be64(usize at, u64 value) {
    if (raw.size() < at + 8) raw.resize(at + 8);
    store_be64(raw.data() + at, value);
    return *this;
}

void CommandDriver::register_queue() {
    queue = host_.memory.allocate(kPage);
    host_.write32(init_segment::kCmdqAddrHigh, static_cast<u32>(queue >> 32));
    host_.write32(init_segment::kCmdqAddrLow, static_cast<u32>(queue));
}

std::vector<u64> CommandDriver::make_chain(usize blocks, u8 token) {
    std::vector<u64> chain;
    for (usize i = 0; i < blocks; ++i)
        chain.push_back(host_.memory.allocate(kMailboxStride));
    for (usize i = 0; i < blocks; ++i) {
        u8 raw[Mailbox::bytes] = {};
        View<Mailbox>(raw)
            .set(Mailbox::next, i + 1 < blocks ? chain[i + 1] : 0)
            .set(Mailbox::block_number, static_cast<u32>(i))
            .set(Mailbox::token, token);
        host_.memory.put(chain[i], raw);
    }
    return chain;
}

usize CommandDriver::blocks_for(usize bytes) {
    return bytes <= kCommandInlineBytes
               ? 0
               : (bytes - kCommandInlineBytes + kMailboxDataBytes - 1) / kMailboxDataBytes;
}

void CommandDriver::set_port(PortState state) {
    constexpr usize kImage = AccessRegisterIn::image;
    must(CommandInput(Opcode::access_register, kImage + Paos::bytes)
             .set(AccessRegisterIn::register_id, static_cast<u32>(RegisterId::paos))
             .set(Paos::local_port, 1, kImage)
             .set(Paos::admin_status, static_cast<u32>(state), kImage)
             .set(Paos::ase, 1, kImage),
         kImage + Paos::bytes);
}

CommandResult CommandDriver::run(const CommandInput &input, usize out_bytes, unsigned index) {
    prepare(input.raw, out_bytes, index);
    ring(index);
    return collect(index);
}

void CommandDriver::prepare(const std::vector<u8> &input, usize out_bytes, unsigned index) {
    u8 token = static_cast<u8>(1 + token_++ % 255);
    input_chain = make_chain(blocks_for(input.size()), token);
    output_chain = make_chain(blocks_for(out_bytes), token);
    out_bytes_ = out_bytes;
    u8 raw[CommandEntry::bytes] = {};
    View<CommandEntry>(raw)
        .set(CommandEntry::type, kCommandTransportPcie)
        .set(CommandEntry::input_length, static_cast<u32>(input.size()))
        .set(CommandEntry::input_mailbox, input_chain.empty() ? 0 : input_chain[0])
        .set(CommandEntry::output_mailbox, output_chain.empty() ? 0 : output_chain[0])
        .set(CommandEntry::output_length, static_cast<u32>(out_bytes))
        .set(CommandEntry::token, token)
        .set(CommandEntry::status_own, kCommandOwnerDevice);
    std::memcpy(raw + CommandEntry::input_inline, input.data(),
                std::min<usize>(input.size(), kCommandInlineBytes));
    for (usize i = 0; i < input_chain.size(); ++i) {
        usize at = kCommandInlineBytes + i * kMailboxDataBytes;
        host_.memory.put(input_chain[i],
                         std::span(input).subspan(at, std::min(input.size() - at, kMailboxDataBytes)));
    }
    host_.memory.put(entry(index), raw);
}

CommandResult CommandDriver::collect(unsigned index) {
    std::vector<u8> raw = host_.memory.bytes(entry(index), CommandEntry::bytes);
    u8 status_own = raw[CommandEntry::status_own_byte];
    CommandResult result{static_cast<Delivery>(status_own >> 1), (status_own & kCommandOwnerDevice) == 0, {}};
    auto first = raw.begin() + CommandEntry::output_inline;
    result.out.assign(first, first + static_cast<long>(std::min<usize>(out_bytes_, kCommandInlineBytes)));
    for (usize i = 0; i < output_chain.size(); ++i) {
        usize left = out_bytes_ - kCommandInlineBytes - i * kMailboxDataBytes;
        std::vector<u8> data = host_.memory.bytes(output_chain[i], std::min(left, kMailboxDataBytes));
        result.out.insert(result.out.end(), data.begin(), data.end());
    }
    return result;
}

CommandResult CommandDriver::must(const CommandInput &input, usize out_bytes) {
    CommandResult result = run(input, out_bytes);
    if (!result.ok())
        throw std::runtime_error("command " + std::to_string(load_be16(input.raw.data())) + " failed");
    return result;
}

u32 CommandDriver::pages_wanted(QueryPages kind) {
    return must({Opcode::query_pages, 0x10, static_cast<u16>(kind)}).get(QueryPagesOut::num_pages);
}

std::vector<u64> CommandDriver::give_pages(u32 count) {
    std::vector<u64> pages;
    CommandInput give(Opcode::manage_pages, ManagePagesIn::bytes, static_cast<u16>(ManagePages::give));
    give.set(ManagePagesIn::input_num_entries, count);
    for (u32 i = 0; i < count; ++i) {
        pages.push_back(host_.memory.allocate(kPage));
        give.put_be64(ManagePagesIn::pas + 8 * i, pages.back());
    }
    must(give);
    return pages;
}

std::vector<u64> CommandDriver::bring_up() {
    enable();
    must(CommandInput(Opcode::set_issi, SetIssiIn::bytes).set(SetIssiIn::current_issi, 1));
    std::vector<u64> pages = give_pages(pages_wanted(QueryPages::boot));
    std::vector<u64> more = give_pages(pages_wanted(QueryPages::init));
    pages.insert(pages.end(), more.begin(), more.end());
    must({Opcode::init_hca, 0x10});
    return pages;
}

} // namespace niclab::test
