// SPDX-License-Identifier: GPL-2.0-or-later
// Pause frames (IEEE 802.3, annex 31B). The port takes every MAC control frame off the wire and, when it may,
// obeys those that ask it to be silent. It never sends one: no frame ever waits in it for room.
#pragma once

#include <span>
#include <vector>

#include "connectx/timer.h"

namespace niclab::connectx {

class Pause {
  public:
    explicit Pause(Device &device);
    void reset(); // power-on: both ways on, nothing paused or counted

    bool receives() const { return receives_; }
    bool sends() const { return sends_; }
    void set(bool receive, bool send);

    // True when the frame was a MAC control frame: nobody behind the port sees it.
    bool take(std::span<const u8> frame);
    // A doorbell of send queue `sqn` came. True when its frames have to wait; it is rung again afterwards.
    // A queue that sends no frames does not wait: receive queues are filled through such ones.
    bool hold(u32 sqn);

    struct Counts {
        u64 control = 0, unsupported = 0, pause = 0; // MAC control frames, by what they ask
        u64 obeyed = 0, transitions = 0, paused_ns = 0;
    };
    const Counts &counts() const { return counts_; }

  private:
    static void resume(Device &device, u32);
    void begin(u64 ns);
    void end();

    Device &device_;
    Timer timer_;
    bool receives_ = true, sends_ = true, paused_ = false;
    u64 since_ns_ = 0;
    std::vector<u32> held_; // send queues, each once
    Counts counts_;
};

} // namespace niclab::connectx
