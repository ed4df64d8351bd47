// SPDX-License-Identifier: GPL-2.0-or-later
// A numbered object inside the card, destroyed with its owner. Declare it after the memory it works on.
#pragma once

#include "core/command_interface.h"

namespace niclab::driver {

class Object {
  public:
    // What a refused destroy means: nothing for bookkeeping objects, but a queue that lives on could still
    // write to memory which its owner frees next. Then the card is given up, which stops its DMA.
    enum class Kind : u8 { bookkeeping, queue };

    Object() = default;
    // Run a CREATE or ALLOC command; the reply names the object.
    static Result<Object> make(CommandInterface &commands, ConstBytes in, Opcode destroy,
                               Kind kind = Kind::bookkeeping) {
        u8 out[CommandOut::bytes] = {};
        TRY(commands.execute(in, {out, sizeof(out)}));
        Object object;
        object.commands_ = &commands;
        object.destroy_ = destroy;
        object.kind_ = kind;
        object.number_ = ConstView<ObjectOut>(out).get(ObjectOut::number);
        return Result<Object>(driver::move(object));
    }
    // The commands that need nothing but their opcode.
    static Result<Object> make(CommandInterface &commands, Opcode create, Opcode destroy) {
        Command<CommandIn::bytes> command(create);
        return make(commands, {command.in(), CommandIn::bytes}, destroy);
    }
    Object(Object &&other) noexcept { *this = driver::move(other); }
    Object &operator=(Object &&other) noexcept {
        swap(commands_, other.commands_);
        swap(number_, other.number_);
        swap(destroy_, other.destroy_);
        swap(kind_, other.kind_);
        return *this;
    }
    ~Object() { destroy(); }
    void destroy() {
        if (!commands_) return;
        Command<ObjectIn::bytes> command(destroy_);
        command.input<ObjectIn>().set(ObjectIn::number, number_);
        bool destroyed = command.execute(*commands_).ok();
        if (!destroyed && kind_ == Kind::queue) commands_->give_up("it refused to destroy a queue");
        commands_ = nullptr;
    }
    u32 number() const { return number_; }
    explicit operator bool() const { return commands_; }

  private:
    CommandInterface *commands_ = nullptr;
    u32 number_ = 0;
    Opcode destroy_{};
    Kind kind_ = Kind::bookkeeping;
};

} // namespace niclab::driver
