// SPDX-License-Identifier: GPL-2.0-or-later
// A process that keeps a VM up takes orders from other niclab processes, over a socket in its state folder.
//
// One order per connection: a line of JSON. The answers are lines of JSON: any number of {"say": TEXT}, then
// {"done": true} or {"error": TEXT}.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "niclab/result.h"
#include "niclab/unix_socket.h"

namespace niclab {

/// Takes one line of progress.
using Say = std::function<void(const std::string &)>;

class ControlServer {
  public:
    using Handler = std::function<Status(const nlohmann::json &order, const Say &say)>;

    /// Listens at `socket` until it is destroyed. Orders are carried out one after the other, on a thread of
    /// their own.
    static Result<std::unique_ptr<ControlServer>> start(const std::string &socket, Handler handler);

    /// Waits for the order that is being carried out.
    ~ControlServer();
    ControlServer(const ControlServer &) = delete;
    ControlServer &operator=(const ControlServer &) = delete;

  private:
    ControlServer(Descriptor listener, Handler handler);
    void serve();
    void answer(int connection);
    Status carry_out(const nlohmann::json &order, const Say &say) const;

    Descriptor listener_;
    Handler handler_;
    std::thread thread_;
};

/// Sends one order and passes on what is said until it is done.
Status send_order(const std::string &socket, const nlohmann::json &order, const Say &say);

/// A VM that another process keeps up.
struct LiveVm {
    int pid = 0; ///< of that process
    std::string kernel;
    std::string run_folder;
    std::string socket;
};

/// Tells other processes of this process's VM. The entry goes with the process.
Result<std::string> announce(const std::string &kernel, const std::string &run_folder);
std::vector<LiveVm> live_vms();

} // namespace niclab
