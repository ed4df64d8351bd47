// SPDX-License-Identifier: GPL-2.0-or-later
// A host for one card under test: guest memory behind a strict address map, a clock that only the test moves,
// and records of everything that left the card.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "connectx/cx_core.h"
#include "spec/layout.h"

namespace niclab::test {

constexpr u64 kPage = 4096;

// Guest memory as the card sees it: pages are mapped one by one, everything else faults.
class FakeMemory {
  public:
    void map(u64 iova, u64 bytes);
    void unmap(u64 iova, u64 bytes);
    // Fresh mapped memory; behind each piece lies an unmapped page.
    u64 allocate(u64 bytes);

    bool read(u64 iova, void *to, usize bytes) const;
    bool write(u64 iova, const void *from, usize bytes);

    // The test's own accesses must hit mapped memory.
    std::vector<u8> bytes(u64 iova, usize count) const;
    void put(u64 iova, std::span<const u8> from);
    u32 be32(u64 iova) const { return load_be32(bytes(iova, 4).data()); }
    u64 be64(u64 iova) const { return load_be64(bytes(iova, 8).data()); }
    void put_be32(u64 iova, u32 value);
    void put_be64(u64 iova, u64 value);
    void fill(u64 iova, usize count, u8 value) { put(iova, std::vector<u8>(count, value)); }

  private:
    template <class F>
    bool run(u64 iova, usize bytes, F access) const;

    std::map<u64, std::vector<u8>> pages_;
    u64 next_ = 0x1'0000'0000; // above 4 GiB, so that a lost upper half is noticed
};

inline cx_config default_config() {
    return {.mac = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56},
            .queues = 8,
            .vectors = 16,
            .inline_headers = 0,
            .speed_mbps = 100000,
            .real_time_clock = false};
}

class FakeHost {
  public:
    struct Trace {
        cx_trace_event event;
        u64 a, b, c;
        std::vector<u8> bytes;
    };
    struct Access {
        u64 iova;
        usize bytes;
        bool write;
    };

    explicit FakeHost(cx_config config = default_config());
    ~FakeHost();
    FakeHost(const FakeHost &) = delete;

    cx_core *core() { return core_; }

    u32 read32(u64 offset) { return static_cast<u32>(cx_core_read(core_, offset, 4)); }
    void write32(u64 offset, u32 value) { cx_core_write(core_, offset, value, 4); }
    void write64(u64 offset, u64 value) { cx_core_write(core_, offset, value, 8); }
    // Moves the clock; wake-ups on the way come at their time.
    void advance(u64 ns);
    void frame_in(std::span<const u8> frame) { cx_core_frame_in(core_, frame.data(), frame.size()); }

    u64 counter(const std::string &name) const;
    usize interrupts_on(unsigned vector) const;
    usize traced(cx_trace_event event) const;

    FakeMemory memory;
    u64 now_ns = 1'000'000'000;
    u64 timer_at = CX_TIMER_OFF; // the wake-up that the card asked for
    std::vector<unsigned> interrupts;
    std::vector<std::vector<u8>> frames;
    std::vector<std::string> guest_errors;
    std::vector<Trace> traces;
    std::vector<Access> accesses;
    std::function<void(std::span<const u8>)> on_frame; // after it is recorded
    std::function<void(const Access &)> on_access;     // before it is done
    std::function<void(unsigned)> on_interrupt;

  private:
    static FakeHost &self(void *host) { return *static_cast<FakeHost *>(host); }
    void note(u64 iova, usize bytes, bool write);
    int write_memory(u64 iova, const void *from, usize bytes);

    static const cx_host_ops kOps;

    cx_core *core_;
};

} // namespace niclab::test
