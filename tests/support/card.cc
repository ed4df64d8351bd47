// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/card.h"

#include "spec/hca.h"

namespace niclab::test {

// ---- SendWqe ----

SendWqe &SendWqe::pointer(u32 lkey, u64 address, u32 bytes) {
    data = data + be32(bytes) + be32(lkey) + be32(static_cast<u32>(address >> 32)) +
           be32(static_cast<u32>(address));
    return *this;
}

SendWqe &SendWqe::inlined(const Bytes &bytes) {
    data = data + be32(0x80000000 | static_cast<u32>(bytes.size())) + bytes;
    data.resize((data.size() + 15) / 16 * 16);
    return *this;
}

Bytes SendWqe::bytes(u16 index, u32 sqn) const {
    Bytes eth;
    if (opcode != WqeOpcode::nop) {
        eth = be32(parser_offsets) + Bytes{checksums, parser_flags} + be16(mss) + be32(0);
        eth = inline_header.empty() ? eth + be32(insert)
                                    : eth + be16(static_cast<u32>(inline_header.size())) + inline_header;
        eth.resize((eth.size() + 15) / 16 * 16);
    }
    Bytes body = eth + data;
    u32 units = ds >= 0 ? static_cast<u32>(ds) : static_cast<u32>(1 + body.size() / 16);
    return be32(u32{index} << 8 | static_cast<u32>(opcode)) + be32(sqn << 8 | units) +
           Bytes{0, 0, 0, static_cast<u8>(ce << 2)} + be32(0) + body;
}

// ---- Card ----

Card::Card(bool port_up, const cx_config &config) : host(config) {
    driver.bring_up();
    uar = driver.alloc(Opcode::alloc_uar);
    pd = driver.alloc(Opcode::alloc_pd);
    td = driver.alloc(Opcode::alloc_transport_domain);
    counter_set = driver.alloc(Opcode::alloc_q_counter);
    create_eq();
    lkey = create_mkey().number() << 8 | kKeyByte;
    tisn = driver
               .must(CommandInput(Opcode::create_tis, CreateTisIn::bytes)
                         .set(TisContext::transport_domain, td, CreateTisIn::context))
               .number();
    set_loopback(false);
    if (port_up) set_port(PortState::up);
}

void Card::set_loopback(bool on) {
    CommandInput in(Opcode::modify_nic_vport_context, ModifyNicVportContextIn::bytes);
    in.set(ModifyNicVportContextIn::select_disable_uc_local_lb, 1)
        .set(ModifyNicVportContextIn::select_disable_mc_local_lb, 1)
        .set(NicVportContext::disable_uc_local_lb, !on, ModifyNicVportContextIn::context)
        .set(NicVportContext::disable_mc_local_lb, !on, ModifyNicVportContextIn::context);
    driver.must(in);
}

void Card::set_mtu(u32 hardware_mtu) {
    driver.must(access(RegisterId::pmtu, Pmtu::bytes)
                    .set(Pmtu::local_port, 1, AccessRegisterIn::image)
                    .set(Pmtu::admin_mtu, hardware_mtu, AccessRegisterIn::image),
                0x20);
}

CommandResult Card::create_mkey(AccessMode mode, bool whole, u64 start, u64 length, bool read, bool write) {
    return driver.run(CommandInput(Opcode::create_mkey, CreateMkeyIn::bytes)
                          .set(MkeyContext::access_mode, static_cast<u32>(mode), CreateMkeyIn::context)
                          .set(MkeyContext::local_read, read, CreateMkeyIn::context)
                          .set(MkeyContext::local_write, write, CreateMkeyIn::context)
                          .set(MkeyContext::qpn, 0xffffff, CreateMkeyIn::context)
                          .set(MkeyContext::mkey_7_0, kKeyByte, CreateMkeyIn::context)
                          .set(MkeyContext::length64, whole, CreateMkeyIn::context)
                          .set(MkeyContext::pd, pd, CreateMkeyIn::context)
                          .set(MkeyContext::start_addr, start, CreateMkeyIn::context)
                          .set(MkeyContext::len, length, CreateMkeyIn::context));
}

CommandInput Card::cq_input(Queue &cq, unsigned log_size) {
    prepare(cq, log_size, 6);
    CommandInput in(Opcode::create_cq, CreateCqIn::bytes);
    in.set(CqContext::log_cq_size, log_size, CreateCqIn::context)
        .set(CqContext::uar_page, uar, CreateCqIn::context)
        .set(CqContext::c_eqn, eq.number, CreateCqIn::context)
        .set(CqContext::dbr_addr, cq.record, CreateCqIn::context);
    add_pages(in, cq);
    for (u32 i = 0; i < cq.size(); ++i)
        host.memory.fill(cq.slot(i) + Cqe::op_own_byte, 1, 0xf1); // as drivers do
    return in;
}

Queue Card::create_cq(unsigned log_size) {
    Queue cq;
    cq.number = driver.must(cq_input(cq, log_size)).number();
    return cq;
}

CommandInput Card::sq_input(Queue &sq, unsigned log_size, u32 cqn) {
    prepare(sq, log_size, 6);
    CommandInput in(Opcode::create_sq, CreateQueueIn::bytes);
    in.set(SqContext::flush_in_error_en, 1, CreateQueueIn::context)
        .set(SqContext::cqn, cqn, CreateQueueIn::context)
        .set(SqContext::tis_lst_sz, 1, CreateQueueIn::context)
        .set(SqContext::tis_num_0, tisn, CreateQueueIn::context);
    add_wq(in, sq);
    return in;
}

void Card::start_sq(Queue &sq, const CommandInput &in) {
    sq.number = driver.must(in).number();
    EXPECT_EQ(modify_sq(sq, QueueState::reset, QueueState::ready).status(), Status::ok);
}

Queue Card::create_sq(unsigned log_size, u32 cqn) {
    Queue sq;
    start_sq(sq, sq_input(sq, log_size, cqn));
    return sq;
}

CommandResult Card::modify_sq(const Queue &sq, QueueState from, QueueState to) {
    return driver.run(CommandInput(Opcode::modify_sq, ModifyQueueIn::bytes)
                          .set(ModifyQueueIn::state, static_cast<u32>(from))
                          .set(ModifyQueueIn::number, sq.number)
                          .set(SqContext::state, static_cast<u32>(to), ModifyQueueIn::context));
}

QueueState Card::sq_state(const Queue &sq) {
    return static_cast<QueueState>(
        driver.must(number_input(Opcode::query_sq, sq.number), QueryQueueOut::bytes)
            .get(SqContext::state, QueryQueueOut::context));
}

CommandInput Card::rq_input(Queue &rq, unsigned log_size, unsigned log_stride, u32 cqn) {
    prepare(rq, log_size, log_stride);
    CommandInput in(Opcode::create_rq, CreateQueueIn::bytes);
    in.set(RqContext::cqn, cqn, CreateQueueIn::context)
        .set(RqContext::user_index, 0xabcde, CreateQueueIn::context)
        .set(RqContext::flush_in_error_en, 1, CreateQueueIn::context)
        .set(RqContext::counter_set_id, counter_set, CreateQueueIn::context);
    add_wq(in, rq);
    return in;
}

void Card::start_rq(Queue &rq, const CommandInput &in) {
    rq.number = driver.must(in).number();
    EXPECT_EQ(modify_rq(rq, QueueState::reset, QueueState::ready).status(), Status::ok);
}

Queue Card::create_rq(unsigned log_size, unsigned log_stride, u32 cqn) {
    Queue rq;
    start_rq(rq, rq_input(rq, log_size, log_stride, cqn));
    return rq;
}

CommandInput Card::modify_rq_input(const Queue &rq, QueueState from, QueueState to) {
    CommandInput in(Opcode::modify_rq, ModifyQueueIn::bytes);
    in.set(ModifyQueueIn::state, static_cast<u32>(from))
        .set(ModifyQueueIn::number, rq.number)
        .set(RqContext::state, static_cast<u32>(to), ModifyQueueIn::context);
    return in;
}

CommandResult Card::modify_rq(const Queue &rq, QueueState from, QueueState to) {
    return driver.run(modify_rq_input(rq, from, to));
}

QueueState Card::rq_state(const Queue &rq) {
    return static_cast<QueueState>(
        driver.must(number_input(Opcode::query_rq, rq.number), QueryQueueOut::bytes)
            .get(RqContext::state, QueryQueueOut::context));
}

u32 Card::out_of_buffer() {
    return driver
        .must(CommandInput(Opcode::query_q_counter, QueryQCounterIn::bytes)
                  .set(QueryQCounterIn::counter_set_id, counter_set),
              QueryQCounterOut::bytes)
        .get(QueryQCounterOut::out_of_buffer);
}

CommandInput Card::direct_tir_input(u32 rqn) {
    CommandInput in(Opcode::create_tir, CreateTirIn::bytes);
    in.set(TirContext::inline_rqn, rqn, CreateTirIn::context)
        .set(TirContext::transport_domain, td, CreateTirIn::context);
    return in;
}

CommandInput Card::rqt_input(Opcode opcode, const std::vector<u32> &rqs, u32 max_size) {
    CommandInput in(opcode, CreateRqtIn::context + RqtContext::rq_num + 4 * rqs.size());
    in.set(RqtContext::rqt_max_size, max_size, CreateRqtIn::context)
        .set(RqtContext::rqt_actual_size, static_cast<u32>(rqs.size()), CreateRqtIn::context);
    for (usize i = 0; i < rqs.size(); ++i)
        store_be32(in.raw.data() + CreateRqtIn::context + RqtContext::rq_num + 4 * i, rqs[i]);
    return in;
}

u32 Card::create_rqt(const std::vector<u32> &rqs) {
    return driver.must(rqt_input(Opcode::create_rqt, rqs, static_cast<u32>(rqs.size()))).number();
}

CommandInput Card::table_input(u32 level, unsigned log_size, u32 miss) {
    CommandInput in(Opcode::create_flow_table, CreateFlowTableIn::bytes);
    in.set(FlowTableContext::level, level, CreateFlowTableIn::context)
        .set(FlowTableContext::log_size, log_size, CreateFlowTableIn::context)
        .set(FlowTableContext::table_miss_action, miss ? 1 : 0, CreateFlowTableIn::context)
        .set(FlowTableContext::table_miss_id, miss, CreateFlowTableIn::context);
    return in;
}

u32 Card::create_table(u32 level, unsigned log_size, u32 miss) {
    return driver.must(table_input(level, log_size, miss)).number();
}

CommandInput Card::group_input(u32 table, u32 first, u32 last, const Bytes &mask) {
    CommandInput in(Opcode::create_flow_group, CreateFlowGroupIn::bytes);
    in.set(FlowTableIn::table_id, table)
        .set(CreateFlowGroupIn::start_flow_index, first)
        .set(CreateFlowGroupIn::end_flow_index, last)
        .set(CreateFlowGroupIn::match_criteria_enable, mask.empty() ? 0 : CreateFlowGroupIn::kOuter);
    std::copy(mask.begin(), mask.end(), in.raw.begin() + CreateFlowGroupIn::match_criteria);
    return in;
}

u32 Card::create_group(u32 table, u32 first, u32 last, const Bytes &mask) {
    return driver.must(group_input(table, first, last, mask)).number();
}

CommandInput Card::entry_input(u32 table, u32 group, u32 index, const Bytes &value, const std::vector<To> &to,
                               u16 op_mod) {
    CommandInput in(Opcode::set_flow_table_entry, SetFteIn::bytes + 8 * to.size(), op_mod);
    in.set(FlowTableIn::table_id, table)
        .set(SetFteIn::group_id, group)
        .set(SetFteIn::flow_index, index)
        .set(SetFteIn::action, to.empty() ? flow_action::kDrop : flow_action::kForward)
        .set(SetFteIn::destination_list_size, static_cast<u32>(to.size()));
    std::copy(value.begin(), value.end(), in.raw.begin() + SetFteIn::match_value);
    for (usize i = 0; i < to.size(); ++i)
        in.set(FlowDestination::type, static_cast<u32>(to[i].type), SetFteIn::destination + 8 * i)
            .set(FlowDestination::id, to[i].id, SetFteIn::destination + 8 * i);
    return in;
}

void Card::set_entry(u32 table, u32 group, u32 index, const Bytes &value, const std::vector<To> &to) {
    driver.must(entry_input(table, group, index, value, to));
}

void Card::set_root(u32 table) {
    driver.must(CommandInput(Opcode::set_flow_table_root, SetFlowTableRootIn::bytes)
                    .set(FlowTableIn::table_id, table));
}

u32 Card::catch_all(u32 tirn) {
    u32 table = create_table(1);
    set_entry(table, create_group(table, 0, 0), 0, {}, {{Destination::tir, tirn}});
    set_root(table);
    return table;
}

CommandInput Card::number_input(Opcode opcode, u32 number) {
    CommandInput in(opcode, ObjectIn::bytes);
    in.set(ObjectIn::number, number);
    return in;
}

u64 Card::buffer(const Bytes &bytes) {
    u64 address = host.memory.allocate(std::max<usize>(bytes.size(), 1));
    host.memory.put(address, bytes);
    return address;
}

u16 Card::post(Queue &sq, const SendWqe &wqe) {
    u16 index = static_cast<u16>(sq.producer);
    Bytes bytes = wqe.bytes(index, sq.number);
    bytes.resize((bytes.size() + 63) / 64 * 64);
    for (usize at = 0; at < bytes.size(); at += 64)
        host.memory.put(sq.slot(sq.producer++), std::span(bytes).subspan(at, 64));
    return index;
}

void Card::ring(const Queue &sq) {
    host.memory.put_be32(sq.record + 4, static_cast<u16>(sq.producer));
    doorbell(sq.number);
}

void Card::send(Queue &sq, const SendWqe &wqe) {
    post(sq, wqe);
    ring(sq);
}

void Card::post_list(Queue &rq, const std::vector<Piece> &pieces) {
    Bytes raw;
    for (const Piece &piece : pieces)
        raw = raw + be32(piece.bytes) + be32(piece.lkey) + be32(static_cast<u32>(piece.address >> 32)) +
              be32(static_cast<u32>(piece.address));
    if (raw.size() < usize{1} << rq.log_stride)
        raw = raw + be32(0) + be32(kTerminatorLkey) + be32(0) + be32(0);
    raw.resize(usize{1} << rq.log_stride);
    host.memory.put(rq.slot(rq.producer++), raw);
}

u64 Card::post_buffer(Queue &rq, u32 bytes) {
    u64 address = host.memory.allocate(bytes);
    host.memory.fill(address, bytes, 0xee);
    post_list(rq, {{bytes, lkey, address}});
    publish(rq);
    return address;
}

std::optional<Completion> Card::poll(Queue &cq) {
    Bytes raw = host.memory.bytes(cq.slot(cq.consumer), kCqeBytes);
    u8 op_own = raw[Cqe::op_own_byte];
    if (op_own >> 4 == 15 || (op_own & 1) != (cq.consumer >> cq.log_size & 1)) return {};
    host.memory.put_be32(cq.record, ++cq.consumer & 0xffffff);
    return Completion{raw};
}

std::vector<Completion> Card::drain(Queue &cq) {
    std::vector<Completion> all;
    while (auto one = poll(cq))
        all.push_back(*one);
    return all;
}

void Card::arm(const Queue &cq, u32 index, bool solicited_only) {
    u64 word0 = (index & 0xffffff) | (solicited_only ? 1u << 24 : 0);
    host.write64(u64{uar} * uar::kBytes + uar::kCqArm, word0 << 32 | cq.number);
}

std::vector<Bytes> Card::events() {
    std::vector<Bytes> all;
    for (;;) {
        Bytes raw = host.memory.bytes(eq.slot(eq.consumer), kEqeBytes);
        if ((raw[Eqe::owner_byte] & 1) != (eq.consumer >> eq.log_size & 1)) break;
        all.push_back(raw);
        ++eq.consumer;
    }
    host.write32(u64{uar} * uar::kBytes + uar::kEqArm, eq.number << 24 | (eq.consumer & 0xffffff));
    return all;
}

usize Card::events_of(Event type) {
    usize n = 0;
    for (const Bytes &event : events())
        n += event[1] == static_cast<u8>(type);
    return n;
}

CommandInput Card::access(RegisterId id, usize bytes) {
    CommandInput in(Opcode::access_register, AccessRegisterIn::image + bytes,
                    static_cast<u16>(RegisterOp::write));
    in.set(AccessRegisterIn::register_id, static_cast<u32>(id));
    return in;
}

void Card::prepare(Queue &queue, unsigned log_size, unsigned log_stride) {
    queue.log_size = log_size;
    queue.log_stride = log_stride;
    queue.ring = host.memory.allocate(usize{1} << (log_size + log_stride));
    queue.record = host.memory.allocate(8);
}

void Card::add_pages(CommandInput &in, const Queue &queue) {
    u64 bytes = u64{1} << (queue.log_size + queue.log_stride);
    for (u64 at = 0; at < bytes; at += kPage)
        in.put_be64(0x110 + at / kPage * 8, queue.ring + at);
}

void Card::add_wq(CommandInput &in, const Queue &queue) {
    in.set(WqContext::wq_type, static_cast<u32>(WqType::cyclic), CreateQueueIn::wq)
        .set(WqContext::pd, pd, CreateQueueIn::wq)
        .set(WqContext::uar_page, uar, CreateQueueIn::wq)
        .set(WqContext::dbr_addr, queue.record, CreateQueueIn::wq)
        .set(WqContext::log_wq_stride, queue.log_stride, CreateQueueIn::wq)
        .set(WqContext::log_wq_sz, queue.log_size, CreateQueueIn::wq);
    add_pages(in, queue);
}

void Card::create_eq() {
    prepare(eq, 8, 6);
    CommandInput in(Opcode::create_eq, CreateEqIn::bytes);
    in.set(EqContext::log_eq_size, eq.log_size, CreateEqIn::context)
        .set(EqContext::uar_page, uar, CreateEqIn::context)
        .set(EqContext::intr, kVector, CreateEqIn::context)
        .put_be64(CreateEqIn::event_bitmask, 1u << 4 | 1u << 5 | 1u << 0x10 | 1u << 0x11);
    add_pages(in, eq);
    for (u32 i = 0; i < eq.size(); ++i)
        host.memory.fill(eq.slot(i) + Eqe::owner_byte, 1, 1);
    eq.number = driver.must(in).number();
    host.write32(u64{uar} * uar::kBytes + uar::kEqArm, eq.number << 24);
}

} // namespace niclab::test
