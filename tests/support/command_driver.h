// SPDX-License-Identifier: GPL-2.0-or-later
// A driver's side of the command interface: queue, mailboxes, and the sequences every driver goes through.
#pragma once

#include <algorithm>

#include "spec/caps.h"
#include "spec/command.h"
#include "spec/hca.h"
#include "spec/init_segment.h"
#include "spec/registers.h"
#include "support/fake_host.h"

namespace niclab::test {

// The input of a command while it is put together.
class CommandInput {
  public:
    CommandInput(Opcode opcode, usize bytes, u16 op_mod = 0)
        : CommandInput(static_cast<u16>(opcode), bytes, op_mod) {}
    CommandInput(u16 opcode, usize bytes, u16 op_mod = 0);
    template <class Layout>
    CommandInput &set(Field<Layout> field, u32 value, usize at = 0) {
        View<Layout>(raw.data() + at).set(field, value);
        return *this;
    }
    template <class Layout>
    CommandInput &set(Field64<Layout> field, u64 value, usize at = 0) {
        View<Layout>(raw.data() + at).set(field, value);
        return *this;
    }
    CommandInput &put_be64(usize at, u64 value);

    std::vector<u8> raw;
};

struct CommandResult {
    Delivery delivery;
    bool completed; // the entry came back to software
    std::vector<u8> out;

    Status status() const { return static_cast<Status>(out.at(0)); }
    u32 syndrome() const { return load_be32(out.data() + 4); }
    u32 number() const { return load_be32(out.data() + 8) & 0xffffff; }
    bool ok() const { return completed && delivery == Delivery::ok && status() == Status::ok; }
    template <class Layout>
    u32 get(Field<Layout> field, usize at = 0) const {
        return ConstView<Layout>(out.data() + at).get(field);
    }
};

// A driver's side of the command interface. Each call rings one entry and leaves its mailboxes mapped until
// the next one.
class CommandDriver {
  public:
    static constexpr unsigned kEntries = 32;

    explicit CommandDriver(FakeHost &host) : host_(host) { register_queue(); }

    // Tells the card where the queue is, as a driver that has just been loaded does.
    void register_queue();

    // Chain of `blocks` mailboxes with block numbers, links and `token`; the addresses.
    std::vector<u64> make_chain(usize blocks, u8 token);
    static usize blocks_for(usize bytes);

    // Register PAOS: the port's administrative state, 1 up or 2 down.
    void set_port(PortState state);

    CommandResult run(const CommandInput &input, usize out_bytes = CommandOut::bytes, unsigned index = 0);

    // The three steps of run(), for tests that break something between them.
    void prepare(const std::vector<u8> &input, usize out_bytes, unsigned index);
    void ring(unsigned index) { host_.write32(init_segment::kCmdDoorbell, 1u << index); }
    CommandResult collect(unsigned index);
    u64 entry(unsigned index) const { return queue + u64{index} * CommandEntry::bytes; }

    // ---- the sequences every driver goes through; each throws when a step fails ----
    CommandResult must(const CommandInput &input, usize out_bytes = CommandOut::bytes);
    void enable() { must({Opcode::enable_hca, EnableHcaIn::bytes}); }
    u32 pages_wanted(QueryPages kind);
    std::vector<u64> give_pages(u32 count);
    // ENABLE_HCA to INIT_HCA; the pages given.
    std::vector<u64> bring_up();
    u32 alloc(Opcode opcode) { return must({opcode, 0x10}).number(); }

    u64 queue = 0;
    std::vector<u64> input_chain, output_chain; // of the newest command

  private:
    FakeHost &host_;
    usize out_bytes_ = 0;
    unsigned token_ = 0;
};

} // namespace niclab::test
