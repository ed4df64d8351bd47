// SPDX-License-Identifier: GPL-2.0-or-later
// Loads for the card's core alone, one after the other, for callgrind to count. Each ends with a dump named
// "LOAD UNITS": how many units of work the counts belong to.
#include <string>

#include <valgrind/callgrind.h>

#include "support/card.h"
#include "support/frames.h"

namespace niclab::test {
namespace {

constexpr u32 kRounds = 32, kBurst = 32;
constexpr usize kFrameBytes = 60, kLargeBytes = 64 * 1024;

class Load {
  public:
    Load() { cx_core_set_tracing(card_.host.core(), false); }
    virtual ~Load() = default;
    virtual void round() = 0;

    // What a driver does when the interrupt comes: gives the entries back and asks for the next event.
    void end_round(u32 entries) {
        cq_.consumer += entries;
        card_.host.memory.put_be32(cq_.record, cq_.consumer & 0xffffff);
        card_.arm(cq_, cq_.consumer);
        card_.events();
        card_.host.frames.clear();
        card_.host.accesses.clear();
        card_.host.interrupts.clear();
    }

  protected:
    Card card_;
    Queue cq_;
    Bytes frame_ = frame(Ipv4{}, Udp{}, pattern(kFrameBytes - 42));
};

class Send : public Load {
  public:
    using Post = void (*)(Send &);

    explicit Send(Post post) : post_(post) {
        cq_ = card_.create_cq(8);
        sq_ = card_.create_sq(8, cq_.number);
        at_ = card_.buffer(frame(Ipv4{}, Tcp{}, pattern(kLargeBytes)));
        card_.host.memory.put(at_, frame_);
    }
    void round() override {
        post_(*this);
        card_.host.memory.put_be32(sq_.record + 4, static_cast<u16>(sq_.producer));
        card_.doorbell(sq_.number);
        end_round(1);
    }

    void one() { singles(1, 0); }
    void singles(u32 count, u8 checksums) {
        for (u32 i = 1; i <= count; ++i) {
            SendWqe wqe{.ce = i == count ? CtrlSegment::kCeAlways : 0, .checksums = checksums};
            card_.post(sq_, wqe.pointer(card_.lkey, at_, kFrameBytes));
        }
    }
    void multi_packet() {
        SendWqe wqe{.opcode = WqeOpcode::multi_packet_send};
        for (u32 i = 0; i < kBurst; ++i)
            wqe.pointer(card_.lkey, at_, kFrameBytes);
        card_.post(sq_, wqe);
    }
    void inline_multi_packet() {
        constexpr u32 kMost = 14; // a WQE has room for more than 15 not even without its first two units
        for (u32 left = kBurst; left > 0;) {
            u32 now = std::min(left, kMost);
            left -= now;
            SendWqe wqe{.opcode = WqeOpcode::multi_packet_send, .ce = left ? 0 : CtrlSegment::kCeAlways};
            for (u32 i = 0; i < now; ++i)
                wqe.inlined(frame_);
            card_.post(sq_, wqe);
        }
    }
    void large() {
        Bytes headers = frame(Ipv4{}, Tcp{}, {});
        SendWqe wqe{.opcode = WqeOpcode::lso, .mss = 1448, .inline_header = headers};
        card_.post(sq_, wqe.pointer(card_.lkey, at_, kLargeBytes));
    }

  private:
    Post post_;
    Queue sq_;
    u64 at_;
};

class Receive : public Load {
  public:
    explicit Receive(bool striding, bool compress) : striding_(striding) {
        CommandInput in = card_.cq_input(cq_, 8);
        in.set(CqContext::cqe_comp_en, compress, CreateCqIn::context)
            .set(CqContext::mini_cqe_res_format, striding ? kStrideFormat : kChecksumFormat,
                 CreateCqIn::context);
        cq_.number = card_.driver.must(in).number();
        if (striding)
            start_striding();
        else
            rq_ = card_.create_rq(8, 4, cq_.number);
        card_.catch_all(card_.create_tir(rq_.number));
    }
    void round() override {
        post();
        for (u32 i = 0; i < kBurst; ++i)
            card_.host.frame_in(frame_);
        constexpr u64 kLongerThanACompressedBlockWaits = 10'000;
        card_.host.advance(kLongerThanACompressedBlockWaits);
        end_round(kBurst);
    }

  private:
    static constexpr u32 kChecksumFormat = 1, kStrideFormat = 3;
    static constexpr u32 kWqes = 4, kStrides = 512, kStrideBytes = 64;

    void start_striding() {
        rq_.number = card_.driver
                         .must(card_.rq_input(rq_, 2, 5, cq_.number)
                                   .set(WqContext::wq_type, static_cast<u32>(WqType::linked_list_striding),
                                        CreateQueueIn::wq)
                                   .set(WqContext::log_wqe_num_of_strides, 0, CreateQueueIn::wq)
                                   .set(WqContext::log_wqe_stride_size, 0, CreateQueueIn::wq))
                         .number();
        u64 at = card_.host.memory.allocate(kStrides * kStrideBytes);
        for (u32 i = 0; i < kWqes; ++i)
            card_.host.memory.put(rq_.slot(i), be32((i + 1) % kWqes) + zeros(12) +
                                                   be32(kStrides * kStrideBytes) + be32(card_.lkey) +
                                                   be32(static_cast<u32>(at >> 32)) +
                                                   be32(static_cast<u32>(at)));
        card_.modify_rq(rq_, QueueState::reset, QueueState::ready);
    }
    void post() {
        if (striding_) {
            received_ += kBurst;
            rq_.producer = received_ / kStrides + 2;
            card_.publish(rq_);
        } else {
            for (u32 i = 0; i < kBurst; ++i)
                card_.post_list(rq_, {{2048, card_.lkey, buffer_}});
            card_.publish(rq_);
        }
    }

    bool striding_;
    Queue rq_;
    u64 buffer_ = card_.host.memory.allocate(2048);
    u32 received_ = 0;
};

void count(const char *name, u32 units, Load &load) {
    constexpr u32 kWarmUp = 8;
    for (u32 i = 0; i < kWarmUp; ++i)
        load.round();
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    for (u32 i = 0; i < kRounds; ++i)
        load.round();
    std::string what = name + (" " + std::to_string(kRounds * units));
    CALLGRIND_DUMP_STATS_AT(what.c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
}

void count_send(const char *name, u32 units, Send::Post post) {
    Send load(post);
    count(name, units, load);
}

void count_receive(const char *name, bool striding, bool compress) {
    Receive load(striding, compress);
    count(name, kBurst, load);
}

void count_all() {
    count_send("tx-60", 1, [](Send &send) { send.one(); });
    count_send("tx-60-burst-32", kBurst, [](Send &send) { send.singles(kBurst, 0); });
    count_send("tx-60-checksum", kBurst, [](Send &send) { send.singles(kBurst, 0xc0); });
    count_send("tx-60-multi-packet", kBurst, [](Send &send) { send.multi_packet(); });
    count_send("tx-60-inline", kBurst, [](Send &send) { send.inline_multi_packet(); });
    count_send("tx-large-KiB", kLargeBytes / 1024, [](Send &send) { send.large(); });
    count_receive("rx-60-cyclic", /*striding=*/false, /*compress=*/false);
    count_receive("rx-60-striding", /*striding=*/true, /*compress=*/false);
    count_receive("rx-60-compressed", /*striding=*/true, /*compress=*/true);
}

} // namespace
} // namespace niclab::test

int main() { niclab::test::count_all(); }
