// SPDX-License-Identifier: GPL-2.0-or-later
// A virtual machine as a value: leaving scope ends it and keeps its logs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "niclab/complaints.h"
#include "niclab/deadline.h"
#include "niclab/result.h"
#include "niclab/run_folder.h"
#include "niclab/vm_spec.h"

namespace niclab {

struct CommandResult {
    int exit_code = -1; ///< 128 + signal number when a signal ended it
    std::string out;
    std::string err;
    bool ok() const { return exit_code == 0; }
};

using Counters = std::map<std::string, std::uint64_t>;

class Vm {
  public:
    /// Boots until the guest agent answers. Artifacts that `spec` leaves empty are made by the recipes first.
    static Result<Vm> boot(VmSpec spec, const RunFolder &run, Milliseconds limit = std::chrono::seconds(180));

    /// Starts the machine and does not wait for anything in it.
    static Result<Vm> launch(VmSpec spec, const RunFolder &run);

    Vm(Vm &&) noexcept;
    Vm &operator=(Vm &&) noexcept;
    ~Vm();

    const VmSpec &spec() const;
    const RunFolder &run_folder() const;
    bool alive() const;
    /// Process id of QEMU.
    Result<int> qemu_pid() const;

    /// Runs a program in the guest and waits for its end. `input` becomes its standard input.
    Result<CommandResult> run(const std::vector<std::string> &argv, Milliseconds limit,
                              const std::string &input = {});
    /// Runs a shell script in the guest.
    Result<CommandResult> script(const std::string &text, Milliseconds limit);
    /// Starts a program and returns its handle for wait().
    Result<int> start(const std::vector<std::string> &argv, const std::string &input = {});
    Result<CommandResult> wait(int handle, const std::string &what, Milliseconds limit);
    /// Copies a file of the host into the running guest.
    Status put_file(const std::string &host_path, const std::string &guest_path);

    /// Waits until `ready` says true. Fails when it fails, when QEMU ends, when the kernel panics, or after
    /// `limit`.
    Status until(const std::string &what, Milliseconds limit, const std::function<Result<bool>()> &ready);

    /// Sends one QMP command and gives its "return" value.
    Result<nlohmann::json> qmp(const std::string &command, const nlohmann::json &arguments = nullptr);
    /// The counters of card `index`, by name.
    Result<Counters> card_counters(size_t index);

    /// Console text so far, from byte `from` on.
    std::string console(size_t from = 0) const;
    size_t console_size() const;
    std::vector<Complaint> kernel_complaints(size_t from = 0) const;
    /// What is to be read first when the kernel complained since byte `from`: the complaints, then what each
    /// card did last. Empty when it did not.
    std::string crash_report(size_t from = 0) const;
    /// Where QEMU listens for a debugger.
    Result<std::filesystem::path> gdb_socket() const;
    /// Path of the terminal of the serial line (ConsoleMode::pty).
    Result<std::string> console_pty() const;

  private:
    struct Impl;
    explicit Vm(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace niclab
