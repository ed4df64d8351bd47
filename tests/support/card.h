// SPDX-License-Identifier: GPL-2.0-or-later
// A card that is up and running, and the driver's side of its queues: rings in fake memory, doorbells,
// completions.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "spec/objects.h"
#include "spec/queues.h"
#include "spec/registers.h"
#include "spec/steering.h"
#include "spec/wqe.h"
#include "support/command_driver.h"
#include "support/frames.h"

namespace niclab::test {

struct Queue {
    u32 number = 0;
    u64 ring = 0, record = 0;
    unsigned log_size = 0, log_stride = 6;
    u32 producer = 0, consumer = 0;
    u32 size() const { return 1u << log_size; }
    u64 slot(u32 index) const { return ring + (u64{index & (size() - 1)} << log_stride); }
};

struct Completion {
    Bytes raw;
    u32 get(Field<Cqe> field) const { return ConstView<Cqe>(raw.data()).get(field); }
    u32 get(Field<ErrorCqe> field) const { return ConstView<ErrorCqe>(raw.data()).get(field); }
    CqeOpcode opcode() const { return static_cast<CqeOpcode>(get(Cqe::opcode)); }
    CqeSyndrome syndrome() const { return static_cast<CqeSyndrome>(get(ErrorCqe::syndrome)); }
    u32 counter() const { return get(Cqe::wqe_counter); }
};

// The segments of a send WQE, as bytes.
struct SendWqe {
    WqeOpcode opcode = WqeOpcode::send;
    u32 ce = CtrlSegment::kCeAlways;
    u8 checksums = 0;       // 0x80 L4, 0x40 L3, 0x20 inner L4, 0x10 inner L3
    u8 parser_flags = 0;    // 0x20 outer UDP, 0x10 outer IPv6, 0x02 inner UDP, 0x01 inner IPv6
    u32 parser_offsets = 0; // outer L4, outer L3, inner L4, inner L3, in words
    u16 mss = 0;
    u32 insert = 0;           // last word of the Ethernet segment when nothing is inline
    Bytes inline_header = {}; // goes into the Ethernet segment
    Bytes data = {};          // data segments, a multiple of 16
    int ds = -1;              // -1: as long as it is

    SendWqe &pointer(u32 lkey, u64 address, u32 bytes);
    SendWqe &inlined(const Bytes &bytes);
    Bytes bytes(u16 index, u32 sqn) const;
};

class Card {
  public:
    static constexpr unsigned kVector = 3;
    static constexpr u8 kKeyByte = 0x5a;

    explicit Card(bool port_up = true, const cx_config &config = default_config());

    // ---- objects ----
    void set_port(PortState state) { driver.set_port(state); }
    // Off at first, as drivers have it: what is sent to the card's own address is then on the wire.
    void set_loopback(bool on);
    void set_mtu(u32 hardware_mtu);
    CommandResult create_mkey(AccessMode mode = AccessMode::physical, bool whole = true, u64 start = 0,
                              u64 length = 0, bool read = true, bool write = true);

    CommandInput cq_input(Queue &cq, unsigned log_size);
    Queue create_cq(unsigned log_size);

    CommandInput sq_input(Queue &sq, unsigned log_size, u32 cqn);
    // Makes the queue by `in`, which sq_input(sq, ...) gave, and moves it to ready.
    void start_sq(Queue &sq, const CommandInput &in);
    Queue create_sq(unsigned log_size, u32 cqn);
    CommandResult modify_sq(const Queue &sq, QueueState from, QueueState to);
    QueueState sq_state(const Queue &sq);

    CommandInput rq_input(Queue &rq, unsigned log_size, unsigned log_stride, u32 cqn);
    // As start_sq().
    void start_rq(Queue &rq, const CommandInput &in);
    Queue create_rq(unsigned log_size, unsigned log_stride, u32 cqn);
    CommandInput modify_rq_input(const Queue &rq, QueueState from, QueueState to);
    CommandResult modify_rq(const Queue &rq, QueueState from, QueueState to);
    QueueState rq_state(const Queue &rq);
    u32 out_of_buffer();

    CommandInput direct_tir_input(u32 rqn);
    u32 create_tir(u32 rqn) { return driver.must(direct_tir_input(rqn)).number(); }
    CommandInput rqt_input(Opcode opcode, const std::vector<u32> &rqs, u32 max_size);
    u32 create_rqt(const std::vector<u32> &rqs);

    // ---- flow tables ----
    CommandInput table_input(u32 level, unsigned log_size, u32 miss = 0);
    u32 create_table(u32 level, unsigned log_size = 4, u32 miss = 0);
    CommandInput group_input(u32 table, u32 first, u32 last, const Bytes &mask);
    u32 create_group(u32 table, u32 first, u32 last, const Bytes &mask = {});
    struct To {
        Destination type;
        u32 id;
    };
    CommandInput entry_input(u32 table, u32 group, u32 index, const Bytes &value, const std::vector<To> &to,
                             u16 op_mod = 0);
    void set_entry(u32 table, u32 group, u32 index, const Bytes &value, const std::vector<To> &to);
    void set_root(u32 table);
    // One table that sends everything to `tirn`.
    u32 catch_all(u32 tirn);

    static CommandInput number_input(Opcode opcode, u32 number);
    CommandResult destroy(Opcode opcode, u32 number) { return driver.run(number_input(opcode, number)); }

    // ---- the driver's side of the queues ----
    u64 buffer(const Bytes &bytes);
    // Posts WQEs; they lie as one run, wrapping at the ring's end. The doorbell is separate.
    u16 post(Queue &sq, const SendWqe &wqe);
    void ring(const Queue &sq);
    void doorbell(u32 sqn) { host.write64(u64{uar} * uar::kBytes + uar::kSendDoorbell, u64{sqn} << 8); }
    void send(Queue &sq, const SendWqe &wqe);

    struct Piece {
        u32 bytes, lkey;
        u64 address;
    };
    void post_list(Queue &rq, const std::vector<Piece> &pieces);
    void publish(const Queue &rq) { host.memory.put_be32(rq.record, static_cast<u16>(rq.producer)); }
    // One buffer of `bytes`, posted and published; its address.
    u64 post_buffer(Queue &rq, u32 bytes = 2048);

    // The next entry when its owner bit says that it is there.
    std::optional<Completion> poll(Queue &cq);
    std::vector<Completion> drain(Queue &cq);
    void arm(const Queue &cq, u32 index, bool solicited_only = false);
    // Events on the EQ since the last call.
    std::vector<Bytes> events();
    usize events_of(Event type);

    FakeHost host;
    CommandDriver driver{host};
    Queue eq;
    u32 uar = 0, pd = 0, td = 0, tisn = 0, counter_set = 0, lkey = 0;

  private:
    CommandInput access(RegisterId id, usize bytes);
    void prepare(Queue &queue, unsigned log_size, unsigned log_stride);
    void add_pages(CommandInput &in, const Queue &queue);
    void add_wq(CommandInput &in, const Queue &queue);
    void create_eq();
};

// ---- Expectations about every kind of queue ----

// A CREATE command whose `field` is `value` is answered with `status`.
template <class Layout>
struct Refusal {
    const char *what;
    Field<Layout> field;
    u32 value;
    Status status;
};
// `make` gives the command that would succeed; the layout lies at offset `at` of it.
template <class Layout, class Make>
void expect_refusals(Card &card, usize at, Make make, std::initializer_list<Refusal<Layout>> rows) {
    for (const Refusal<Layout> &row : rows) {
        CommandInput in = make();
        EXPECT_EQ(card.driver.run(in.set(row.field, row.value, at)).status(), row.status) << row.what;
    }
}

// `create` makes a queue in reset, `modify` moves it from a state to another, `state` asks for it.
template <class Create, class Modify, class State>
void expect_state_moves(Create create, Modify modify, State state) {
    using enum QueueState;
    constexpr struct {
        QueueState from, to;
        bool allowed;
    } kMoves[] = {
        {reset, reset, true}, {reset, ready, true},  {reset, error, false},
        {ready, reset, true}, {ready, ready, true},  {ready, error, true},
        {error, reset, true}, {error, ready, false}, {error, error, true},
    };
    for (const auto &m : kMoves) {
        Queue queue = create();
        if (m.from != reset) modify(queue, reset, ready);
        if (m.from == error) modify(queue, ready, error);
        ASSERT_EQ(state(queue), m.from);
        Status expected = m.allowed ? Status::ok : Status::bad_resource_state;
        EXPECT_EQ(modify(queue, m.from, m.to).status(), expected) << int(m.from) << " to " << int(m.to);
        EXPECT_EQ(state(queue), m.allowed ? m.to : m.from);
    }
}

} // namespace niclab::test
