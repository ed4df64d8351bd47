// SPDX-License-Identifier: GPL-2.0-or-later
// The libvirt QEMU driver, embedded in this process: no daemon, and a root folder of our own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <libvirt/libvirt.h>

#include "niclab/result.h"

namespace niclab {

class LibvirtSession {
  public:
    /// The session of this process; opened at the first call, closed when the last holder lets go.
    static Result<std::shared_ptr<LibvirtSession>> get();

    LibvirtSession(const LibvirtSession &) = delete;
    LibvirtSession &operator=(const LibvirtSession &) = delete;
    ~LibvirtSession();

    virConnectPtr connection() const { return connection_; }
    /// What QEMU printed, with its command line in front.
    std::filesystem::path qemu_log(const std::string &domain) const;
    /// Where libvirt keeps the number of QEMU's process.
    std::filesystem::path pid_file(const std::string &domain) const;
    /// Keeps what libvirt learned about emulators for later processes.
    void save_capabilities() const;

  private:
    LibvirtSession(std::filesystem::path root, virConnectPtr connection)
        : root_(std::move(root)), connection_(connection) {}
    static Result<std::shared_ptr<LibvirtSession>> open();

    std::filesystem::path root_;
    virConnectPtr connection_;
};

/// The last libvirt error of this thread, as one sentence.
std::string libvirt_error();

} // namespace niclab
