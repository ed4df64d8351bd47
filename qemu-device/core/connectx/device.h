// SPDX-License-Identifier: GPL-2.0-or-later
// The card as one object: what its parts share and who owns what. Parts hold a reference to it and nothing
// else global.
#pragma once

#include <optional>

#include "connectx/board.h"
#include "connectx/command.h"
#include "connectx/command_queue.h"
#include "connectx/counters.h"
#include "connectx/cq.h"
#include "connectx/cx_core.h"
#include "connectx/dma.h"
#include "connectx/eq.h"
#include "connectx/hca.h"
#include "connectx/lro.h"
#include "connectx/mkey.h"
#include "connectx/object_table.h"
#include "connectx/port.h"
#include "connectx/pulse_pins.h"
#include "connectx/real_time_clock.h"
#include "connectx/receive.h"
#include "connectx/rq.h"
#include "connectx/simple_objects.h"
#include "connectx/sq.h"
#include "connectx/steering.h"
#include "connectx/timer.h"
#include "connectx/tir.h"
#include "connectx/tunnel.h"
#include "connectx/vport.h"

namespace niclab::connectx {

class Device {
  public:
    Device(const cx_host_ops *ops, void *host, const cx_config &config);

    Device(const Device &) = delete; // parts refer to it

    // Back to power-on. The part that ENABLE_HCA by a new owner does is power_on(): all but the command
    // queue's registers.
    void reset();
    void power_on();
    void drop_objects(); // no queue, key or table is left, so no DMA or interrupt on behalf of one
    u32 live_objects() const;
    void frame_in(std::span<const u8> frame);
    void timer_expired();
    void set_cable(bool plugged);
    void set_module(bool plugged);
    void set_temperature(Board::Temperature now);
    void set_pulse_input(bool high);
    void set_tracing(bool on) { tracing = dma.tracing = on; }
    u64 mmio_read(u64 offset, unsigned size);
    void mmio_write(u64 offset, u64 value, unsigned size);

    // Counted and handed to the host; `what` is a constant string.
    void guest_error(const char *what, u64 value);
    void trace(cx_trace_event event, u64 a, u64 b, u64 c, std::span<const u8> bytes = {}) {
        if (tracing) ops->trace(host, event, a, b, c, bytes.data(), bytes.size());
    }
    // All that one register write, frame or wake-up leads to happens at one time: when it is first asked for.
    u64 now_ns() const {
        if (!busy_) return ops->now_ns(host);
        if (!now_) now_ = ops->now_ns(host);
        return *now_;
    }

    // The present time as a queue's completions or an event tell it.
    u64 stamp(bool in_real_time) const { return in_real_time ? real_time.wire_at(now_ns()) : now_ns(); }

    const cx_host_ops *ops;
    void *host;
    cx_config config;
    bool tracing = false;

    Counters counters;
    Dma dma;
    TimerQueue timers;       // what the objects below do later                     (timer.h)
    Hca hca;                 // phase, ISSI, capabilities, pages, health            (hca.h)
    CommandQueue commands;   // entries, mailboxes, dispatch                        (command_queue.h)
    Port port;               // admin and operational state, MTU, PPCNT             (port.h)
    Board board;             // indicator light, temperature                        (board.h)
    RealTimeClock real_time; // seconds and nanoseconds                           (real_time_clock.h)
    PulsePins pulse_pins;    // one input, one output                               (pulse_pins.h)
    Vport vport;             // NIC vport context and counters                      (vport.h)

    // Simple numbered things without behaviour.
    ObjectTable<Uar> uars;
    ObjectTable<Pd> pds;
    ObjectTable<TransportDomain> transport_domains;
    ObjectTable<QCounter> q_counters;
    ObjectTable<Tis> tises;

    ObjectTable<Mkey> mkeys;
    u32 translation_octwords = 0; // of all keys
    ObjectTable<Eq> eqs;
    ObjectTable<Cq> cqs;
    ObjectTable<Sq> sqs;
    ObjectTable<Rq> rqs;
    ObjectTable<Rqt> rqts;
    ObjectTable<Tir> tirs;
    Steering steering; // flow tables, groups, entries, root

    VxlanPorts vxlan_ports;

    SendPath send;       // scratch memory of the datapath      (sq.h)
    Lro lro;             // frames being merged                 (lro.h)
    ReceivePath receive; //                                     (receive.h)

  private:
    class Busy;
    void write_word(u32 offset, u32 value);
    void write_doorbell(u64 offset, u64 value, unsigned size);
    u32 read_word(u32 offset) const;
    u32 read_health(u32 offset) const;

    // Set while a register write or a frame is being worked on. A guest may point DMA or an MSI address at
    // our own BAR; such a write must not destroy a queue under the code that works on it.
    bool busy_ = false;
    mutable std::optional<u64> now_; // while busy_
};

} // namespace niclab::connectx
