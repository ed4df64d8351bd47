// SPDX-License-Identifier: GPL-2.0-or-later
#include "cosim/port.h"

#include <cerrno>
#include <cstring>

#include "spec/command.h"
#include "spec/init_segment.h"

namespace niclab::test {

namespace {
constexpr u8 kMac[6] = {0x02, 0x4e, 0x49, 0x43, 0x00, 0x00};
constexpr unsigned kPollBatch = 16;

u64 now_ns() { return ledger().now_ms * 1'000'000; }
Port &port_of(void *host) { return *static_cast<Port *>(host); }
} // namespace

Port::Port(u8 mac_end, unsigned vectors) : pending_(vectors), scheduled_(vectors) {
    static const cx_host_ops ops = {
        dma_read,
        dma_write,
        [](void *host, uint64_t bus, const void *from, size_t bytes) {
            auto *entry = static_cast<const u8 *>(from);
            int body = dma_write(host, bus, entry, bytes - 4);
            return body ? body : dma_write(host, bus + bytes - 4, entry + bytes - 4, 4);
        },
        [](void *host, unsigned vector) {
            Port &port = port_of(host);
            if (!port.lose_interrupts) port.pending_.at(vector) = true;
        },
        [](void *host, const void *frame, size_t bytes) {
            if (Port *peer = port_of(host).peer_) cx_core_frame_in(peer->card, frame, bytes);
        },
        [](void *) -> uint64_t { return now_ns(); },
        [](void *host, uint64_t at_ns) { port_of(host).timer_at_ = at_ns; },
        [](void *host, const char *what, uint64_t) { port_of(host).guest_errors.push_back(what); },
        [](void *, cx_trace_event, uint64_t, uint64_t, uint64_t, const void *, size_t) {},
    };
    std::memcpy(config_.mac, kMac, sizeof(kMac));
    config_.mac[5] = mac_end;
    config_.queues = vectors - 1;
    config_.vectors = vectors;
    config_.speed_mbps = 100000;
    char error[200] = "";
    card = cx_core_new(&ops, this, &config_, error, sizeof(error));
    if (!card) throw std::invalid_argument(error);
}

Port::~Port() { cx_core_free(card); }

void Port::join(Port &a, Port &b) {
    a.peer_ = &b;
    b.peer_ = &a;
}

// ---- Registers and DMA
// -----------------------------------------------------------------------------------------------------

u32 Port::read32(u32 offset) { return gone ? ~0u : static_cast<u32>(cx_core_read(card, offset, 4)); }

void Port::write32(u32 offset, u32 value) {
    bool command = offset == init_segment::kCmdDoorbell;
    if (gone || (command && (silent || refuse_now()))) return;
    cx_core_write(card, offset, value, 4);
}

void Port::ring(u32 offset, u64 value) {
    if (!gone) cx_core_write(card, offset, value, 8);
}

// Answers the command in the first or last entry itself: internal error, without having done anything.
bool Port::refuse_now() {
    if (refuse_command == 0) return false;
    u64 page = u64{static_cast<u32>(cx_core_read(card, init_segment::kCmdqAddrHigh, 4))} << 32 |
               (cx_core_read(card, init_segment::kCmdqAddrLow, 4) & ~0xfffull);
    for (unsigned i = 0; i < 64; ++i) {
        u8 entry[CommandEntry::bytes];
        if (!card_read(page + i * sizeof(entry), entry, sizeof(entry))) return false;
        if (!(entry[CommandEntry::status_own_byte] & kCommandOwnerDevice)) continue;
        auto opcode = static_cast<Opcode>(load_be16(entry + CommandEntry::input_inline));
        bool destroys = opcode == Opcode::teardown_hca || opcode == Opcode::disable_hca ||
                        opcode == Opcode::destroy_mkey || opcode == Opcode::destroy_eq ||
                        opcode == Opcode::destroy_cq || opcode == Opcode::dealloc_q_counter ||
                        opcode == Opcode::dealloc_pd || opcode == Opcode::dealloc_uar ||
                        opcode == Opcode::dealloc_transport_domain || opcode == Opcode::destroy_tir ||
                        opcode == Opcode::destroy_sq || opcode == Opcode::destroy_rq ||
                        opcode == Opcode::destroy_tis || opcode == Opcode::destroy_rqt ||
                        opcode == Opcode::destroy_flow_table || opcode == Opcode::destroy_flow_group ||
                        opcode == Opcode::delete_flow_table_entry;
        bool takes_pages =
            opcode == Opcode::manage_pages && load_be16(entry + CommandEntry::input_inline + 6) == 2;
        bool disconnects =
            opcode == Opcode::set_flow_table_root && load_be16(entry + CommandEntry::input_inline + 6) == 1;
        if ((destroys || takes_pages || disconnects) != refuse_destroys) return false;
        if (--refuse_command > 0) return false;
        refused = true;
        u8 output[kCommandInlineBytes] = {static_cast<u8>(Status::internal_error), 0, 0, 0, 0, 0, 0, 0x2a};
        u8 done = 0;
        card_write(page + i * sizeof(entry) + CommandEntry::output_inline, output, sizeof(output));
        card_write(page + i * sizeof(entry) + CommandEntry::status_own_byte, &done, 1);
        return true;
    }
    return false;
}

int Port::dma_read(void *host, uint64_t bus, void *to, size_t bytes) {
    Port &port = port_of(host);
    if (port.gone || (port.deny && port.deny(bus, bytes, false))) return -EFAULT;
    return port.card_read(bus, to, bytes) ? 0 : -EFAULT;
}

int Port::dma_write(void *host, uint64_t bus, const void *from, size_t bytes) {
    Port &port = port_of(host);
    if (port.gone || (port.deny && port.deny(bus, bytes, true))) return -EFAULT;
    if (!port.tamper) return port.card_write(bus, from, bytes) ? 0 : -EFAULT;
    std::vector<u8> copy(static_cast<const u8 *>(from), static_cast<const u8 *>(from) + bytes);
    port.tamper(bus, copy);
    return port.card_write(bus, copy.data(), copy.size()) ? 0 : -EFAULT;
}

// ---- The glue
// --------------------------------------------------------------------------------------------------------------

int Port::start() {
    nic_events events = {
        this,
        [](void *owner) {
            ++port_of(owner).work_calls;
            port_of(owner).work_ = true;
        },
        [](void *owner) { ++port_of(owner).link_events; },
        [](void *owner, unsigned) { ++port_of(owner).channel_errors; },
    };
    return nic_create(this, static_cast<unsigned>(pending_.size()), &events, &driver);
}

void Port::stop() {
    nic_destroy(&driver);
    ASSERT_EQ(driver, nullptr) << "interrupts would find what is gone";
    work_ = false;
    for (plat_page *page : held_)
        plat_page_unref(page);
    held_.clear();
}

// All vectors at once: what a handler finds then must still be there.
void Port::late_interrupts() {
    std::fill(pending_.begin(), pending_.end(), true);
    run();
}

// Interrupt handlers and the work queue, as they run beside a process that waits.
void Port::run() {
    if (delivering_ || !driver) return;
    delivering_ = true;
    if (now_ns() >= timer_at_) {
        timer_at_ = CX_TIMER_OFF;
        cx_core_timer(card);
    }
    for (unsigned vector = 0; vector < pending_.size(); ++vector) {
        if (!pending_[vector]) continue;
        pending_[vector] = false;
        if (vector == 0)
            nic_control_interrupt(driver);
        else if (nic_channel_interrupt(driver, vector - 1))
            scheduled_[vector] = true;
    }
    delivering_ = false;
    if (!work_ || working_) return;
    work_ = false;
    working_ = true;
    nic_work(driver);
    working_ = false;
}

nic_params Port::parameters() {
    nic_params params{};
    params.channels = 1;
    params.tx_entries = 128;
    params.rx_entries = 64;
    params.mtu = 1500;
    params.vlan_strip = 1;
    params.rx_map = NIC_RX_MAP_FRAGMENT;
    for (unsigned i = 0; i < NIC_RSS_KEY_BYTES; ++i)
        params.rss_key[i] = static_cast<u8>(0x6d + 37 * i);
    return params;
}

int Port::open(const nic_params &params) {
    int error = nic_open(driver, &params);
    channels_ = error ? 0 : params.channels;
    for (unsigned i = 0; i < channels_; ++i) {
        nic_rx_arm(channel(i));
        nic_tx_arm(channel(i));
    }
    return error;
}

int Port::filter(const std::function<void(nic_filter &)> &change) {
    nic_filter filter{};
    std::memcpy(filter.mac, config_.mac, sizeof(filter.mac));
    if (change) change(filter);
    return nic_set_filter(driver, &filter);
}

void Port::close() {
    for (unsigned i = 0; i < channels_; ++i) {
        nic_tx_done done[kPollBatch];
        while (unsigned n = nic_tx_drain(channel(i), done, kPollBatch))
            for (unsigned j = 0; j < n; ++j, --in_flight_)
                completed_one(static_cast<Sent *>(done[j].cookie));
    }
    channels_ = 0;
    std::fill(scheduled_.begin(), scheduled_.end(), false);
    if (driver) nic_close(driver);
}

void Port::completed_one(Sent *sent) {
    for (plat_page *page : sent->pages)
        plat_page_unref(page);
    delete sent;
}

int Port::send(const Bytes &frame, const SendOptions &options) {
    auto sent = std::make_unique<Sent>();
    nic_tx_packet packet{};
    packet.cookie = sent.get();
    usize at = 0;
    packet.segments = 1;
    packet.wire_bytes = static_cast<unsigned>(frame.size());
    if (options.mss) {
        at = scenarios::headers_length(frame);
        sent->header.assign(frame.begin(), frame.begin() + static_cast<long>(at));
        packet.header = sent->header.data();
        packet.header_bytes = static_cast<unsigned>(at);
        packet.mss = static_cast<unsigned>(options.mss);
        packet.segments = static_cast<unsigned>((frame.size() - at + options.mss - 1) / options.mss);
        packet.wire_bytes += static_cast<unsigned>(at) * (packet.segments - 1);
    }
    packet.checksum = options.checksum || options.mss;
    packet.vlan_insert = options.vlan.has_value();
    packet.vlan_tci = options.vlan.value_or(0);
    std::vector<usize> pieces = options.pieces;
    usize left = frame.size() - at;
    for (usize piece : pieces)
        left -= piece;
    while (left)
        pieces.push_back(std::min<usize>(left, 32768)), left -= pieces.back();
    for (usize piece : pieces) {
        auto *page = new plat_page{std::vector<u8>(4096 * 9), 1};
        ledger().pages.insert(page);
        sent->pages.push_back(page);
        unsigned offset = static_cast<unsigned>(packet.frag_count * 52 + 2);
        std::memcpy(page->memory.data() + offset, frame.data() + at, piece);
        packet.frags[packet.frag_count++] = {page, offset, static_cast<unsigned>(piece)};
        at += piece;
    }
    int error = nic_tx_post(channel(options.queue), &packet);
    if (error)
        for (plat_page *page : sent->pages)
            plat_page_unref(page);
    else
        sent.release(), ++in_flight_;
    return error;
}

bool Port::poll(unsigned queue) {
    nic_tx_done done[kPollBatch];
    nic_rx_packet packets[kPollBatch];
    unsigned sent = nic_tx_reap(channel(queue), done, kPollBatch);
    for (unsigned i = 0; i < sent; ++i, --in_flight_, ++completed)
        completed_one(static_cast<Sent *>(done[i].cookie));
    unsigned got = nic_rx_poll(channel(queue), packets, kPollBatch);
    for (unsigned i = 0; i < got; ++i)
        take(queue, packets[i]);
    refill_failures += nic_rx_refill(channel(queue)) != 0;
    return sent || got;
}

void Port::take(unsigned queue, const nic_rx_packet &packet) {
    Received result{{}, queue, packet.frag_count, packet};
    for (unsigned i = 0; i < packet.frag_count; ++i) {
        const nic_frag &fragment = packet.frags[i];
        const u8 *data = static_cast<u8 *>(plat_page_address(fragment.page)) + fragment.offset;
        result.frame.insert(result.frame.end(), data, data + fragment.bytes);
        if (hold_received)
            held_.push_back(fragment.page);
        else
            plat_page_unref(fragment.page);
    }
    EXPECT_EQ(result.frame.size(), packet.bytes);
    received.push_back(std::move(result));
}

void Port::settle() {
    // A card that lies may interrupt for ever; an honest one comes to rest.
    constexpr unsigned kMostRounds = 2000;
    unsigned round = 0;
    for (bool moved = true; moved && ++round < (tolerate_faults ? 20 : kMostRounds);) {
        run();
        moved = false;
        for (unsigned i = 0; i < channels_; ++i) {
            if (!scheduled_[i + 1]) continue;
            scheduled_[i + 1] = false;
            moved = true;
            while (poll(i)) {
            }
            nic_rx_arm(channel(i));
            nic_tx_arm(channel(i));
        }
        for (bool pending : pending_)
            moved |= pending;
    }
    EXPECT_LT(round, kMostRounds) << "the card does not come to rest";
}

nic_queue_stats Port::stats() const {
    nic_queue_stats sum{};
    for (unsigned i = 0; i + 1 < pending_.size(); ++i) {
        nic_queue_stats one;
        nic_get_queue_stats(driver, i, &one);
        auto *from = reinterpret_cast<const unsigned long long *>(&one);
        auto *to = reinterpret_cast<unsigned long long *>(&sum);
        for (usize j = 0; j < sizeof(sum) / sizeof(*to); ++j)
            to[j] += from[j];
    }
    return sum;
}

u64 Port::counter(const std::string &name) const {
    for (usize i = 0; i < cx_core_counter_count(); ++i)
        if (name == cx_core_counter_name(i)) return cx_core_counter(card, i);
    throw std::out_of_range("the card has no counter " + name);
}

scenarios::Mac mac_of(const Port &port) {
    nic_info info;
    nic_describe(port.driver, &info);
    scenarios::Mac mac;
    std::copy(std::begin(info.mac), std::end(info.mac), mac.begin());
    return mac;
}

// ---- The fixture
// -----------------------------------------------------------------------------------------------------------

CosimTest::CosimTest() {
    reset_ledger();
    a_ = std::make_unique<Port>(1);
    b_ = std::make_unique<Port>(2);
    Port::join(*a_, *b_);
}

void CosimTest::TearDown() {
    for (Port *port : {a_.get(), b_.get()}) {
        port->tamper = nullptr; // what they refer to went with the test's body
        port->deny = nullptr;
        port->tear_down();
        EXPECT_EQ(port->in_flight(), 0u);
    }
    EXPECT_EQ(ledger().leftovers(), "");
}

void CosimTest::bring_up(const nic_params &params) {
    for (Port *port : {a_.get(), b_.get()}) {
        ASSERT_EQ(port->start(), 0);
        ASSERT_EQ(port->open(params), 0);
        ASSERT_EQ(port->filter(), 0);
    }
    settle();
}

void CosimTest::settle() {
    for (int round = 0; round < 4; ++round) {
        a_->settle();
        b_->settle();
    }
}

void CosimTest::transfer(Port &from, const Bytes &frame, const SendOptions &options) {
    ASSERT_EQ(from.send(frame, options), 0);
    from.kick(options.queue);
    settle();
}

} // namespace niclab::test
