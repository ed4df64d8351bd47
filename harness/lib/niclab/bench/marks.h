// SPDX-License-Identifier: GPL-2.0-or-later
// Listens to the counting plugin. The guest stands still between next() and answer(), so what is asked of
// QEMU in between belongs to that very instruction.
#pragma once

#include <string>
#include <vector>

#include "niclab/unix_socket.h"
#include "niclab/vm.h"
#include "plugin/protocol.h"

namespace niclab::bench {

struct Mark {
    std::string text;
    std::string attachment;
    std::vector<counting::AddressCount> counts; ///< since the mark before
};

/// Reads one mark off the plugin's connection.
Result<Mark> read_mark(int connection);

class MarkListener {
  public:
    static Result<MarkListener> open();

    MarkListener(MarkListener &&) noexcept = default;
    MarkListener &operator=(MarkListener &&) = delete;
    ~MarkListener();

    const std::string &path() const { return path_; }
    /// The next mark, or why the machine cannot come to it.
    Result<Mark> next(Vm &vm, Milliseconds limit);
    Status answer();

  private:
    MarkListener(std::string path, Descriptor listener)
        : path_(std::move(path)), listener_(std::move(listener)) {}
    Result<bool> ready();

    std::string path_;
    Descriptor listener_, plugin_;
};

} // namespace niclab::bench
