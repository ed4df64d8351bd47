// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what a card recorded (connectx/record.h), also while the card still writes.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "niclab/result.h"
#include "spec/types.h"

namespace niclab::trace {

struct Event {
    u64 guest_ns = 0;
    u16 kind = 0;   ///< enum cx_trace_event
    u32 length = 0; ///< of what happened; `bytes` may be less
    u64 a = 0, b = 0, c = 0;
    std::vector<u8> bytes;
    size_t port = 0; ///< index of the record among those that are read together
};

class RecordFile {
  public:
    /// Fails with a sentence when the file is no record.
    static Result<RecordFile> open(const std::string &path);

    /// The next event; nothing when the file has no whole one (any more, or yet). Fails where the file is
    /// damaged.
    Result<std::optional<Event>> next();
    /// There are bytes behind the last whole event.
    bool cut_off() const { return cut_off_; }
    /// The card stopped because the file had become too long.
    bool full() const { return full_; }

    const std::string &port() const { return port_; }
    /// The host's time of a moment of the guest's.
    u64 unix_ns(u64 guest_ns) const { return unix_ns_ + (guest_ns - guest_ns_); }

  private:
    struct Close {
        void operator()(FILE *file) const { fclose(file); }
    };
    Error damaged(const std::string &why) const;

    std::unique_ptr<FILE, Close> file_;
    std::string path_, port_;
    u64 guest_ns_ = 0, unix_ns_ = 0;
    long at_ = 0; ///< where the next event starts
    bool cut_off_ = false, full_ = false;
};

/// All events of all files in the order of time. Fails like RecordFile; a file that is cut off is taken as
/// far as it goes.
Result<std::vector<Event>> read_all(std::vector<RecordFile> &files);

/// By time; of one time in the order of each card.
void sort_by_time(std::vector<Event> &events);

} // namespace niclab::trace
