// SPDX-License-Identifier: GPL-2.0-or-later
// Large receive offload: successive TCP segments of one flow become one long frame with one completion.
//
// A session collects what belongs together: the headers of its first segment and the payload of all. It ends
// with a segment that carries PSH or is shorter than the first, when the next one does not fit, when anything
// else of its flow arrives, and when its time is over; then it goes to its queue. The headers stay those of
// the first segment but for the TCP time stamp; what else changed (acknowledgement, window, least TTL, PSH)
// is told in the completion, as the manual says.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "connectx/checksum.h"
#include "connectx/timer.h"
#include "spec/queues.h"

namespace niclab::connectx {

struct Tir;

constexpr u32 kMaxLroMicroseconds = 1024;

class Lro {
  public:
    // A frame on its way into a queue. `packet` describes it as it came; `stripped` bytes of tag are gone
    // since.
    struct Incoming {
        std::span<const u8> frame;
        const Packet &packet;
        const ReceivedSums &sums;
        usize stripped;
    };

    Lro();
    ~Lro();

    // Memory for all sessions; before the first take().
    void prepare(Device &device);
    // True when the frame now belongs to a session. Otherwise it is to be delivered; whatever the session of
    // its flow held has been delivered before.
    bool take(Device &device, const Tir &tir, u32 rqn, const Incoming &incoming,
              std::span<const u8, kCqeBytes> cqe);
    // The queue stops: what waits for it is lost, as it would be on the wire.
    void forget(Device &device, u32 rqn);
    void forget_all();

  private:
    struct Session;
    struct Segment;
    static constexpr usize kSessions = 32; // a further flow ends the session that is the longest in use

    static void time_is_over(Device &device, u32 number);
    Session *find(u32 rqn, const Segment &segment);
    void begin(Device &device, const Tir &tir, u32 rqn, const Segment &segment,
               std::span<const u8, kCqeBytes> cqe);

    std::vector<std::unique_ptr<Session>> sessions_; // made by prepare(), then kept
    usize next_ = 0;                                 // taken by turns
};

} // namespace niclab::connectx
