// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/lro.h"

#include <algorithm>
#include <cstring>

#include "connectx/device.h"
#include "connectx/packet.h"
#include "connectx/rq_state.h"

namespace niclab::connectx {
namespace {

constexpr usize kMostBytes = 0xffff; // a completion tells the length in 16 bits
constexpr u32 kMostSegments = 0xff;  // and their number in 8
constexpr u16 kAck = 0x10, kPsh = 0x08;
constexpr usize kTcpHeader = 20, kStampedHeader = 32;
constexpr u32 kStampOption = 0x0101080a; // two times nothing, then the time stamp: the one layout in use
constexpr usize kIpv4Ttl = 8, kIpv6Ttl = 7;

// `a` is not before `b` on the circle of sequence numbers.
constexpr bool not_before(u32 a, u32 b) { return a - b < 1u << 31; }

} // namespace

// One TCP segment, with everything that a session compares.
struct Lro::Segment {
    const u8 *frame;
    usize l3, l4, payload; // offsets
    usize end;
    bool ipv6, stamped, mergeable;
    u32 tag; // the word of the completion that tells the stripped tag

    const u8 *tcp() const { return frame + l4; }
    usize bytes() const { return end - payload; }
    u32 sequence() const { return load_be32(tcp() + 4); }
    u32 ack() const { return load_be32(tcp() + 8); }
    u16 window() const { return load_be16(tcp() + 14); }
    u32 stamp() const { return load_be32(tcp() + 24); }
    bool push() const { return tcp()[13] & kPsh; }
    u8 ttl() const { return frame[l3 + (ipv6 ? kIpv6Ttl : kIpv4Ttl)]; }
};

struct Lro::Session {
    explicit Session(TimerQueue &queue) : timer(queue, time_is_over) {}

    bool open = false;
    u32 rqn = 0, tag = 0;
    usize l3 = 0, l4 = 0, payload = 0; // offsets
    bool ipv6 = false, stamped = false;
    usize first_bytes = 0, bytes = 0, most = 0; // payload of the first segment; whole frame and its limit
    u32 segments = 0, next_sequence = 0, ack = 0, stamp = 0;
    u16 window = 0;
    u8 least_ttl = 0;
    bool push = false;
    Timer timer;
    alignas(8) u8 cqe[kCqeBytes] = {};
    u8 frame[kMostBytes] = {};

    bool same_flow(u32 to, const Segment &segment) const;
    bool continues(const Segment &segment) const;
    void append(const Segment &segment);
    bool complete(const Segment &last) const { return push || last.bytes() < first_bytes; }
    void note_acknowledgement(const Segment &segment);
    void flush(Device &device);
    void describe();
};

bool Lro::Session::same_flow(u32 to, const Segment &segment) const {
    if (!open || rqn != to || ipv6 != segment.ipv6 || tag != segment.tag || l3 != segment.l3) return false;
    usize addresses = l3 + (ipv6 ? 8 : 12), n = ipv6 ? 32 : 8;
    return std::memcmp(frame + addresses, segment.frame + addresses, n) == 0 &&
           std::memcmp(frame + l4, segment.tcp(), 4) == 0 && std::memcmp(frame, segment.frame, l3) == 0;
}

// The segment is the next one, has the same headers where they count, and there is room.
bool Lro::Session::continues(const Segment &segment) const {
    if (!segment.mergeable || segment.stamped != stamped || segment.payload != payload) return false;
    bool same_class = ipv6 ? std::memcmp(frame + l3, segment.frame + l3, 4) == 0
                           : frame[l3 + 1] == segment.frame[l3 + 1] &&
                                 std::memcmp(frame + l3 + 6, segment.frame + l3 + 6, 2) == 0;
    return same_class && segments < kMostSegments && segment.sequence() == next_sequence &&
           not_before(segment.ack(), ack) && (!stamped || not_before(segment.stamp(), stamp)) &&
           segment.bytes() <= first_bytes && segment.bytes() <= most - std::min(bytes, most);
}

void Lro::Session::note_acknowledgement(const Segment &segment) {
    ack = segment.ack();
    window = segment.window();
    push = push || segment.push();
    least_ttl = std::min(least_ttl, segment.ttl());
    if (!stamped) return;
    stamp = segment.stamp();
    std::memcpy(frame + l4 + 24, segment.tcp() + 24, 8);
}

void Lro::Session::append(const Segment &segment) {
    std::memcpy(frame + bytes, segment.frame + segment.payload, segment.bytes());
    bytes += segment.bytes();
    next_sequence += static_cast<u32>(segment.bytes());
    ++segments;
    note_acknowledgement(segment);
}

// One segment keeps the completion that it came with.
void Lro::Session::describe() {
    View<Cqe>(cqe)
        .set(Cqe::lro_num_seg, segments)
        .set(Cqe::lro_tcp_psh, push)
        .set(Cqe::lro_min_ttl, least_ttl)
        .set(Cqe::lro_tcp_win, window)
        .set(Cqe::lro_ack_seq_num, ack)
        .set(Cqe::check_sum, ones_sum(frame + payload, bytes - payload))
        .set(Cqe::byte_cnt, static_cast<u32>(bytes));
}

void Lro::Session::flush(Device &device) {
    open = false;
    timer.stop();
    if (segments > 1) {
        describe();
        device.counters.add(Counter::rx_merged_segments, segments);
        device.counters.add(Counter::rx_merged_frames);
    }
    rq_receive(device, rqn, {frame, bytes}, cqe);
}

Lro::Lro() = default;
Lro::~Lro() = default;

void Lro::prepare(Device &device) {
    while (sessions_.size() < kSessions)
        sessions_.push_back(std::make_unique<Session>(device.timers));
}

void Lro::time_is_over(Device &device, u32 number) {
    Session &session = *device.lro.sessions_[number];
    if (session.open) session.flush(device);
}

Lro::Session *Lro::find(u32 rqn, const Segment &segment) {
    for (const auto &session : sessions_)
        if (session->same_flow(rqn, segment)) return session.get();
    return nullptr;
}

void Lro::begin(Device &device, const Tir &tir, u32 rqn, const Segment &segment,
                std::span<const u8, kCqeBytes> cqe) {
    usize number = next_;
    next_ = (next_ + 1) % kSessions;
    Session &session = *sessions_[number];
    if (session.open) session.flush(device);
    session.open = true;
    session.rqn = rqn;
    session.tag = segment.tag;
    session.l3 = segment.l3;
    session.l4 = segment.l4;
    session.payload = segment.payload;
    session.ipv6 = segment.ipv6;
    session.stamped = segment.stamped;
    session.first_bytes = segment.bytes();
    session.most = std::min<usize>(kMostBytes, segment.l4 + tir.merge_bytes);
    session.segments = 1;
    session.next_sequence = segment.sequence() + static_cast<u32>(segment.bytes());
    session.least_ttl = segment.ttl();
    session.push = false;
    session.bytes = segment.end;
    std::memcpy(session.frame, segment.frame, segment.end);
    std::memcpy(session.cqe, cqe.data(), kCqeBytes);
    session.note_acknowledgement(segment);
    session.timer.start(device.now_ns() + u64{tir.merge_microseconds} * 1000, static_cast<u32>(number));
}

// Frames with padding are no segments of a stream of full ones.
bool Lro::take(Device &device, const Tir &tir, u32 rqn, const Incoming &incoming,
               std::span<const u8, kCqeBytes> cqe) {
    const Packet &packet = incoming.packet;
    if (packet.l4 != L4::tcp) return false;
    usize shift = incoming.stripped;
    Segment segment{.frame = incoming.frame.data(),
                    .l3 = packet.l3_at - shift,
                    .l4 = packet.l4_at - shift,
                    .payload = packet.payload_at - shift,
                    .end = packet.l3_end - shift,
                    .ipv6 = packet.l3 == L3::ipv6,
                    .stamped = false,
                    .mergeable = false,
                    .tag = load_be32(cqe.data() + Cqe::vlan_info.dword) &
                           (Cqe::vlan_info.place(~0u) | Cqe::vlan_stripped.place(~0u))};
    usize header = segment.payload - segment.l4;
    segment.stamped = header == kStampedHeader && load_be32(segment.tcp() + kTcpHeader) == kStampOption;
    const Rq *rq = device.rqs.find(rqn);
    segment.mergeable = (segment.ipv6 ? tir.merge_ipv6 : tir.merge_ipv4) && rq && rq->striding &&
                        !rq->scatter_fcs && rq->state == QueueState::ready && !packet.options &&
                        incoming.sums.l3_ok && incoming.sums.l4_ok && segment.bytes() > 0 &&
                        segment.end == incoming.frame.size() && (packet.tcp_flags & ~kPsh) == kAck &&
                        (packet.traffic_class & 3) != 3 && (header == kTcpHeader || segment.stamped);
    Session *session = find(rqn, segment);
    if (session && session->continues(segment)) {
        session->append(segment);
        if (session->complete(segment)) session->flush(device);
        return true;
    }
    if (session) session->flush(device);
    // A last segment has nothing to wait for.
    if (!segment.mergeable || segment.push() || segment.l4 + tir.merge_bytes < segment.end) return false;
    begin(device, tir, rqn, segment, cqe);
    return true;
}

void Lro::forget(Device &device, u32 rqn) {
    for (const auto &session : sessions_) {
        if (!session->open || session->rqn != rqn) continue;
        session->open = false;
        session->timer.stop();
        drop_frame(device, session->bytes, Counter::rx_drop_queue_not_ready);
    }
}

void Lro::forget_all() {
    for (const auto &session : sessions_) {
        session->open = false;
        session->timer.stop();
    }
}

} // namespace niclab::connectx
