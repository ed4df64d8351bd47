// SPDX-License-Identifier: GPL-2.0-or-later
// The command queue (manual: command interface). Ordinary commands go one at a time through the first entry;
// MANAGE_PAGES has the last entry and its own lock, because the card may ask for pages while another command
// waits for them.
//
// Polling until use_events(true); then the command event queue tells which entry is finished. Either way the
// owner bit of the entry decides: an event is only a reason to look. A card that is silent or all ones is
// given up for good: its DMA is stopped, every later command fails at once with -EIO.
#pragma once

#include "core/dma_block.h"
#include "core/mailbox.h"
#include "core/sync.h"
#include "spec/command.h"

namespace niclab::driver {

class CommandInterface {
  public:
    // Waits for the card's firmware, checks its revision and registers the command page.
    static Result<Owned<CommandInterface>> make(plat *);
    ~CommandInterface();

    // Run one command; the opcode is in its first bytes. `out` is filled also when the card reports a
    // failure.
    Result<void> execute(ConstBytes in, Bytes out);

    void use_events(bool on) { store_release(events_, on); }
    // From the command event queue: a mask of finished entries. Interrupt context.
    void finished(u32 entries);

    void give_up(const char *why);
    bool dead() const { return load_acquire(dead_); }
    bool card_gone() const;

    plat *platform() const { return platform_; }

  private:
    friend class Owned<CommandInterface>;
    CommandInterface() = default;

    struct Slot {
        u8 index = 0;
        u8 *entry = nullptr;
        u8 token = 0;
        Mutex mutex;
        Signal finished;
        MailboxChain in, out;
    };
    Result<void> wait_for_firmware(unsigned limit_ms);
    Result<void> prepare_slot(Slot &, unsigned index);
    Result<void> submit(Slot &, ConstBytes in, Bytes out);
    Result<void> wait(Slot &, u16 opcode);
    Result<void> collect(Slot &, ConstBytes in, Bytes out);

    plat *platform_ = nullptr;
    DmaBlock page_;
    unsigned log_stride_ = 0;
    Slot ordinary_, pages_;
    bool events_ = false, dead_ = false;
};

// A command of fixed size that lives on the stack: opcode and op_mod set, the rest zero.
template <usize InBytes, usize OutBytes = 0x10>
class Command {
  public:
    explicit Command(Opcode opcode, u16 op_mod = 0) {
        View<CommandIn>(in_).set(CommandIn::opcode, static_cast<u32>(opcode)).set(CommandIn::op_mod, op_mod);
    }
    u8 *in() { return in_; }
    u8 *out() { return out_; }
    template <class Layout>
    View<Layout> input(usize at = 0) {
        return View<Layout>(in_ + at);
    }
    template <class Layout>
    ConstView<Layout> output(usize at = 0) const {
        return ConstView<Layout>(out_ + at);
    }
    Result<void> execute(CommandInterface &commands) {
        return commands.execute({in_, InBytes}, {out_, OutBytes});
    }

  private:
    u8 in_[InBytes] = {}, out_[OutBytes] = {};
};

// The same for commands with lists and images, on the heap.
class LargeCommand {
  public:
    LargeCommand() = default;
    static Result<LargeCommand> make(Opcode opcode, u16 op_mod, usize in_bytes, usize out_bytes = 0x10) {
        LargeCommand command;
        command.in_ = TRY(Array<u8>::make(in_bytes));
        command.out_ = TRY(Array<u8>::make(out_bytes));
        View<CommandIn>(command.in())
            .set(CommandIn::opcode, static_cast<u32>(opcode))
            .set(CommandIn::op_mod, op_mod);
        return Result<LargeCommand>(driver::move(command));
    }
    u8 *in() const { return in_.data(); }
    u8 *out() const { return out_.data(); }
    ConstBytes bytes() const { return {in_.data(), in_.size()}; }
    template <class Layout>
    View<Layout> input(usize at = 0) const {
        return View<Layout>(in() + at);
    }
    template <class Layout>
    ConstView<Layout> output(usize at = 0) const {
        return ConstView<Layout>(out() + at);
    }
    Result<void> execute(CommandInterface &commands) const {
        return commands.execute(bytes(), {out_.data(), out_.size()});
    }

  private:
    Array<u8> in_, out_;
};

} // namespace niclab::driver
