// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's packet generator on one side, until the end of the scope.
#pragma once

#include "niclab/guest.h"

namespace niclab::scenarios {

class Generator {
  public:
    struct Options {
        unsigned count = 1000, bytes = 60;
        unsigned burst = 1;           ///< frames for one doorbell
        unsigned gap_nanoseconds = 0; ///< between two frames
    };
    /// UDP to `to` from side `from`. Throws a sentence when the guest refuses something.
    Generator(Guest &guest, Side from, const std::string &to, const Options &options);
    ~Generator();
    Generator(const Generator &) = delete;
    Generator &operator=(const Generator &) = delete;
    /// Sends them all.
    void send();

  private:
    Status script(const std::string &text);

    Guest &guest_;
    Side from_;
};

} // namespace niclab::scenarios
