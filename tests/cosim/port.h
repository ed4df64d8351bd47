// SPDX-License-Identifier: GPL-2.0-or-later
// One port of the cosimulation: the driver core on the device core, with as little glue between them as a
// kernel would have.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>

#include "connectx/cx_core.h"
#include "core/nic.h"
#include "scenarios/frame.h"
#include "support/fake_platform.h"

namespace niclab::test {

using scenarios::Bytes;

struct SendOptions {
    unsigned queue = 0;
    std::vector<usize> pieces; // sizes of the fragments; what is left over is one more
    bool checksum = false;
    std::optional<u16> vlan;
    usize mss = 0; // LSO
};

struct Received {
    Bytes frame;
    unsigned queue, fragments;
    nic_rx_packet meta;
};

class Port : public plat {
  public:
    static constexpr unsigned kVectors = 5; // control and four channels

    explicit Port(u8 mac_end, unsigned vectors = kVectors);
    ~Port() override;
    // Frames of one go to the other.
    static void join(Port &a, Port &b);

    // ---- The glue's part ----
    int start();
    void stop(); // nic_destroy
    static nic_params parameters();
    int open(const nic_params &params = parameters());
    int filter(const std::function<void(nic_filter &)> &change = {});
    void close();
    int send(const Bytes &frame, const SendOptions &options = {});
    void kick(unsigned queue = 0) { nic_tx_ring(channel(queue)); }
    // Interrupts, polls and deferred work until nothing moves.
    void settle();
    // One round of polling of a channel. True when something was done.
    bool poll(unsigned queue);
    nic_channel *channel(unsigned queue) { return nic_get_channel(driver, queue); }
    nic_queue_stats stats() const; // over all queues
    u64 counter(const std::string &name) const;
    u64 card_objects() const { return counter("live_objects"); }
    usize in_flight() const { return in_flight_; }
    void tear_down() { // as a kernel's remove
        close();
        stop();
    }

    nic *driver = nullptr;
    cx_core *card = nullptr;
    std::vector<Received> received;
    usize completed = 0, refill_failures = 0;
    unsigned link_events = 0, channel_errors = 0, work_calls = 0;
    bool hold_received = false; // the stack keeps the pages of what it got
    std::vector<std::string> guest_errors;

    // ---- What may go wrong ----
    bool gone = false;   // left the bus: reads all ones, ignores writes, makes no DMA
    bool silent = false; // takes no doorbell of the command queue
    bool lose_interrupts = false;
    u64 refuse_command = 0; // the how manieth command from now is answered with an error instead of being run
    bool refused = false;
    bool refuse_destroys = false;                               // may it be one that destroys?
    std::function<void(u64 bus, std::vector<u8> &)> tamper;     // with what the card writes
    std::function<bool(u64 bus, usize bytes, bool write)> deny; // DMA that faults

    u32 read32(u32 offset) override;
    void write32(u32 offset, u32 value) override;
    void ring(u32 offset, u64 value) override;
    void run() override;
    void late_interrupts() override;

  private:
    struct Sent {
        std::vector<plat_page *> pages;
        Bytes header;
    };
    static void completed_one(Sent *sent);
    void take(unsigned queue, const nic_rx_packet &packet);
    bool refuse_now();
    static int dma_read(void *, uint64_t, void *, size_t);
    static int dma_write(void *, uint64_t, const void *, size_t);

    cx_config config_{};
    Port *peer_ = nullptr;
    std::vector<bool> pending_, scheduled_;
    u64 timer_at_ = CX_TIMER_OFF; // the wake-up that the card asked for
    bool work_ = false, working_ = false, delivering_ = false;
    unsigned channels_ = 0;
    usize in_flight_ = 0;
    std::vector<plat_page *> held_;
};

// Two ports joined by a wire; whatever a test leaves behind fails it.
class CosimTest : public testing::Test {
  protected:
    CosimTest();
    void TearDown() override;
    void bring_up(const nic_params &params = Port::parameters());
    void settle();
    // Sends on `from`, rings and lets everything settle.
    void transfer(Port &from, const Bytes &frame, const SendOptions &options = {});

    std::unique_ptr<Port> a_, b_;
};

scenarios::Mac mac_of(const Port &);

} // namespace niclab::test
