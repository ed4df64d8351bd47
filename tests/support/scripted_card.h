// SPDX-License-Identifier: GPL-2.0-or-later
// A card that does what a test says: registers are a table, commands are recorded and answered by a function.
#pragma once

#include <array>
#include <functional>
#include <map>

#include "core/command_interface.h"
#include "spec/init_segment.h"
#include "support/fake_platform.h"

namespace niclab::test {

class ScriptedCard : public plat {
  public:
    struct Seen {
        u16 opcode, op_mod;
        unsigned entry;
        std::array<u8, CommandEntry::bytes> raw;
        std::vector<u8> in;
        std::vector<u64> in_blocks, out_blocks; // addresses of the mailboxes
    };

    ScriptedCard() {
        registers[init_segment::kCmdifRev] = 5u << 16;
        registers[init_segment::kCmdqAddrLow] = 0x56; // 2^5 entries of 2^6 bytes
        registers[init_segment::kHealthBuffer + HealthBuffer::fw_version.dword] = 1;
    }

    std::map<u32, u32> registers;
    std::vector<std::pair<u32, u64>> rings; // 64-bit doorbells: offset and value
    std::vector<std::pair<u32, u32>> writes;
    std::vector<Seen> commands;
    // Fills the output (zeroed, of the length asked for). Default: success, objects numbered from 0x21 on.
    std::function<void(const Seen &, std::vector<u8> &out)> answer;
    u8 delivery = 0;
    bool silent = false;
    std::function<void()> on_run;

    u32 read32(u32 offset) override { return registers[offset]; }
    void write32(u32 offset, u32 value) override {
        writes.push_back({offset, value});
        if (offset == init_segment::kCmdDoorbell) {
            for (unsigned i = 0; i < 32; ++i)
                if (value >> i & 1) take(i);
        } else if (offset == init_segment::kCmdqAddrHigh || offset == init_segment::kCmdqAddrLow) {
            registers[offset] = value | (registers[offset] & 0xff);
        }
    }
    void ring(u32 offset, u64 value) override { rings.push_back({offset, value}); }
    void run() override {
        if (on_run) on_run();
    }

    const Seen &last() const { return commands.back(); }
    const Seen *find(Opcode opcode) const {
        for (const Seen &seen : commands)
            if (seen.opcode == static_cast<u16>(opcode)) return &seen;
        return nullptr;
    }
    std::vector<u8> memory(u64 bus, usize bytes) {
        std::vector<u8> copy(bytes);
        card_read(bus, copy.data(), bytes);
        return copy;
    }

  private:
    // Walks a chain by its links and returns the blocks.
    std::vector<u64> chain(u64 first, usize payload) {
        std::vector<u64> blocks;
        for (u64 at = first; blocks.size() * kMailboxDataBytes < payload;) {
            blocks.push_back(at);
            at = load_be64(memory(at + Mailbox::next.dword, 8).data());
        }
        return blocks;
    }
    void take(unsigned index) {
        u64 page = u64{registers[init_segment::kCmdqAddrHigh]} << 32 |
                   (registers[init_segment::kCmdqAddrLow] & ~0xfffu);
        u64 at = page + index * CommandEntry::bytes;
        Seen seen{0, 0, index, {}, {}, {}, {}};
        card_read(at, seen.raw.data(), seen.raw.size());
        ConstView<CommandEntry> entry(seen.raw.data());
        usize in_bytes = entry.get(CommandEntry::input_length),
              out_bytes = entry.get(CommandEntry::output_length);
        const u8 *head = seen.raw.data() + CommandEntry::input_inline;
        seen.in.assign(head, head + kCommandInlineBytes);
        seen.in_blocks = chain(entry.get(CommandEntry::input_mailbox), in_bytes - kCommandInlineBytes);
        for (u64 block : seen.in_blocks) {
            auto data = memory(block, std::min(in_bytes - seen.in.size(), kMailboxDataBytes));
            seen.in.insert(seen.in.end(), data.begin(), data.end());
        }
        seen.out_blocks = chain(entry.get(CommandEntry::output_mailbox), out_bytes - kCommandInlineBytes);
        seen.opcode = load_be16(seen.in.data());
        seen.op_mod = load_be16(seen.in.data() + 6);
        commands.push_back(seen);
        if (!silent) reply(at, seen, out_bytes);
    }
    void reply(u64 at, const Seen &seen, usize out_bytes) {
        std::vector<u8> out(out_bytes);
        if (answer)
            answer(seen, out);
        else
            store_be32(&out[8], 0x20 + static_cast<u32>(commands.size()));
        card_write(at + CommandEntry::output_inline, out.data(), kCommandInlineBytes);
        for (usize i = 0; i < seen.out_blocks.size(); ++i) {
            usize done = kCommandInlineBytes + i * kMailboxDataBytes;
            card_write(seen.out_blocks[i], out.data() + done, std::min(out.size() - done, kMailboxDataBytes));
        }
        u8 own = static_cast<u8>(delivery << 1);
        card_write(at + CommandEntry::status_own_byte, &own, 1);
    }
};

} // namespace niclab::test
