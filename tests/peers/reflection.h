// SPDX-License-Identifier: GPL-2.0-or-later
// Side b runs an XDP program that sends back what it receives; side a looks at what comes.
#pragma once

#include "scenarios/lab.h"

namespace niclab::scenarios {

class Reflection : public Scenario {
  protected:
    /// A program of the guest, which makes this file when it is at work.
    static constexpr const char *kReady = "/run/reflect";
    using Command = std::vector<std::string>;

    /// Takes the first `cut` bytes off each frame; `how` is "redirect", "drop" or nothing.
    Command reflector(std::size_t cut, const char *how = nullptr);
    /// It is at work in side b until the end of the scope.
    [[nodiscard]] std::unique_ptr<Afterwards> running(const Command &command);
    /// What side a sends comes back as it was, but for what the program cuts off.
    void expect_reflection(std::size_t cut, const Command &command);
};

} // namespace niclab::scenarios
