// SPDX-License-Identifier: GPL-2.0-or-later
// Compressed receive completions, expanded as a driver does by the manual.
#include <gtest/gtest.h>

#include <random>

#include "support/card.h"

namespace niclab::test {
namespace {

constexpr u32 kHashFormat = 0, kChecksumFormat = 1, kStrideFormat = 3;
constexpr u64 kTimeoutNs = 4000;
constexpr u8 kPoison = 0xa5;

// A card whose one receive queue completes into a compressing CQ.
class Receiver {
  public:
    explicit Receiver(unsigned log_size, u32 format = kChecksumFormat, bool compress = true)
        : format_(format) {
        CommandInput in = card.cq_input(cq, log_size);
        in.set(CqContext::cqe_comp_en, compress, CreateCqIn::context)
            .set(CqContext::mini_cqe_res_format, format, CreateCqIn::context);
        cq.number = card.driver.must(in).number();
        rq = card.create_rq(8, 4, cq.number);
        tirn = card.create_tir(rq.number);
        card.catch_all(tirn);
    }
    void receive(const Bytes &frame) {
        card.post_buffer(rq, 256);
        card.host.frame_in(frame);
    }
    void receive(const Bytes &frame, int n) {
        for (int i = 0; i < n; ++i)
            receive(frame);
    }
    void close() { card.host.advance(kTimeoutNs); }
    Bytes slot(u32 index) { return card.host.memory.bytes(cq.slot(index), kCqeBytes); }
    void poison() {
        for (u32 i = 0; i < cq.size(); ++i)
            card.host.memory.fill(cq.slot(i), kCqeBytes - 1, kPoison);
    }
    bool untouched(u32 index) {
        Bytes raw = slot(index);
        return std::all_of(raw.begin(), raw.end() - 1, [](u8 byte) { return byte == kPoison; });
    }

    // Everything that is in the ring, each entry as the driver would see it without compression.
    std::vector<Completion> expand() {
        std::vector<Completion> all;
        for (;;) {
            u32 lap = cq.consumer >> cq.log_size & 1;
            u8 op_own = slot(cq.consumer)[Cqe::op_own_byte];
            if (op_own >> 4 == 15 || (op_own & 1) != lap) return all;
            Bytes title = slot(cq.consumer);
            if ((op_own >> 2 & 3) != 3) {
                all.push_back({title});
                ++cq.consumer;
            } else {
                expand_block(title, all);
            }
            card.host.memory.put_be32(cq.record, cq.consumer & 0xffffff);
        }
    }

    Card card;
    Queue cq, rq;
    u32 tirn = 0;

  private:
    void expand_block(const Bytes &title, std::vector<Completion> &all) {
        u32 count = load_be32(title.data() + 0x2c), start = cq.consumer;
        u32 counter = load_be16(title.data() + 0x3c);
        for (u32 i = 0; i < count; ++i, ++cq.consumer, ++counter) {
            u32 array = i < 8 ? 1 : i / 8 * 8;
            Bytes mini = card.host.memory.bytes(cq.slot(start + array) + 8 * (i % 8), 8);
            Completion one{title};
            std::copy(mini.begin() + 4, mini.end(), one.raw.begin() + 0x2c);
            if (format_ == kHashFormat)
                std::copy(mini.begin(), mini.begin() + 4, one.raw.begin() + 0x0c);
            else
                std::copy(mini.begin(), mini.begin() + 2, one.raw.begin() + 0x14);
            if (format_ == kStrideFormat)
                std::copy(mini.begin() + 2, mini.begin() + 4, one.raw.begin() + 0x3c);
            else
                store_be16(one.raw.data() + 0x3c, static_cast<u16>(counter));
            one.raw[0x3f] &= 0xf0;
            all.push_back(one);
        }
        // As drivers do: the slots carry the owner of this lap from now on.
        for (u32 i = 0; i < count; ++i)
            card.host.memory.fill(cq.slot(start + i) + 0x3f, 1,
                                  static_cast<u8>((start + i) >> cq.log_size & 1));
    }

    u32 format_;
};

Bytes udp_frame(usize payload = 32, u8 first = 1, u16 sport = 1000) {
    return frame(Ipv4{}, Udp{.sport = sport}, pattern(payload, first));
}
// As CQE 0x14 tells it: the sum over the datagram, which is not inverted.
u16 datagram_sum(const Bytes &frame) { return slow_sum(Bytes(frame.begin() + 14, frame.end())); }

TEST(Compression, TwoEntriesAreATitleAndOneArray) {
    Receiver on(4);
    on.poison();
    Bytes first = udp_frame(32, 1), second = udp_frame(77, 9);
    on.receive(first);
    on.receive(second);
    on.close();
    Bytes title = on.slot(0), minis = on.slot(1);
    EXPECT_EQ(title[0x3f], 0x2c) << "responder, format 3, first lap";
    EXPECT_EQ(load_be32(title.data() + 0x2c), 2u) << "entries of the block";
    EXPECT_EQ(load_be16(title.data() + 0x3c), 0u) << "WQE counter of the first";
    EXPECT_EQ(Bytes(minis.begin(), minis.begin() + 16),
              be16(datagram_sum(first)) + be16(0) + be32(static_cast<u32>(first.size())) +
                  be16(datagram_sum(second)) + be16(0) + be32(static_cast<u32>(second.size())));
    EXPECT_TRUE(on.untouched(2));
    EXPECT_EQ(on.card.host.counter("completions"), 2u);
    EXPECT_EQ(on.card.host.counter("compressed_completions"), 2u);
}

TEST(Compression, ASingleEntryIsWrittenAsItIs) {
    Receiver on(4), off(4, kChecksumFormat, false);
    for (Receiver *each : {&on, &off})
        each->receive(udp_frame());
    EXPECT_TRUE(on.expand().empty());
    EXPECT_EQ(on.card.host.timer_at, on.card.host.now_ns + kTimeoutNs);
    on.close();
    EXPECT_EQ(on.slot(0), off.slot(0));
    EXPECT_EQ(on.card.host.counter("compressed_completions"), 0u);
}

TEST(Compression, ArraysStandInSlotsOneEightAndSixteen) {
    Receiver on(5);
    on.poison();
    for (u8 i = 0; i < 20; ++i)
        on.receive(udp_frame(32, i));
    on.close();
    for (u32 i = 0; i < 32; ++i)
        EXPECT_EQ(on.untouched(i), i != 0 && i != 1 && i != 8 && i != 16) << i;
    std::vector<Completion> all = on.expand();
    ASSERT_EQ(all.size(), 20u);
    for (u8 i = 0; i < 20; ++i) {
        EXPECT_EQ(all[i].counter(), i);
        EXPECT_EQ(load_be16(all[i].raw.data() + 0x14), datagram_sum(udp_frame(32, i)));
    }
}

TEST(Compression, TheTitleBecomesVisibleAfterItsArrays) {
    Receiver on(5);
    on.receive(udp_frame(), 20);
    std::vector<u64> written;
    on.card.host.on_access = [&](const FakeHost::Access &access) {
        if (access.write && access.iova >= on.cq.ring && access.iova < on.cq.slot(31))
            written.push_back(access.iova);
    };
    on.close();
    on.card.host.on_access = nullptr;
    EXPECT_EQ(written, (std::vector<u64>{on.cq.slot(1), on.cq.slot(8), on.cq.slot(16), on.cq.slot(0),
                                         on.cq.slot(0) + 0x3c}));
}

TEST(Compression, TheLongestBlockIsWrittenAtOnce) {
    Receiver on(7);
    on.receive(udp_frame(), 63);
    EXPECT_TRUE(on.expand().empty());
    on.receive(udp_frame(), 2);
    EXPECT_EQ(on.expand().size(), 64u) << "the 65th begins a new block";
    on.close();
    EXPECT_EQ(on.expand().size(), 1u);
}

TEST(Compression, TheTimeRunsFromTheFirstEntry) {
    Receiver on(5);
    on.receive(udp_frame());
    on.card.host.advance(kTimeoutNs - 1);
    on.receive(udp_frame());
    EXPECT_TRUE(on.expand().empty());
    on.card.host.advance(1);
    EXPECT_EQ(on.expand().size(), 2u);
}

TEST(Compression, EntriesThatDifferInMoreThanAMiniEntryTellsBeginANewBlock) {
    Bytes plain = udp_frame(), bad = plain, congested = frame(Ipv4{.tos = 3}, Udp{}, pattern(32));
    bad.back() ^= 1; // its UDP checksum is wrong
    const std::pair<const char *, Bytes> others[] = {
        {"checksum not good", bad},
        {"TCP", frame(Ipv4{}, Tcp{}, pattern(32))},
        {"IPv6", frame(Ipv6{}, Udp{}, pattern(32))},
        {"VLAN tag taken off", frame(Ipv4{}, Udp{}, pattern(32), vlan_tag(0x8100, 5))},
        {"not IP", ethernet(0x88b5) + pattern(50)},
        {"congestion experienced", congested},
    };
    for (const auto &[what, other] : others) {
        Receiver on(5);
        on.receive(plain, 2);
        on.receive(other, 2);
        EXPECT_EQ(on.expand().size(), 2u) << what << ": the first block is there, the second is not yet";
        on.close();
        EXPECT_EQ(on.expand().size(), 2u) << what;
    }
}

TEST(Compression, HashFormatCarriesTheHashAndStrideFormatTheCounter) {
    Receiver hash(5, kHashFormat), stride(5, kStrideFormat);
    for (Receiver *on : {&hash, &stride}) {
        on->receive(udp_frame(), 3);
        on->close();
        std::vector<Completion> all = on->expand();
        ASSERT_EQ(all.size(), 3u);
        for (u32 i = 0; i < 3; ++i)
            EXPECT_EQ(all[i].counter(), i);
    }
    Bytes minis = stride.slot(1);
    EXPECT_EQ(load_be16(minis.data() + 8 + 2), 1u) << "counter of the second";
    minis = hash.slot(1);
    EXPECT_EQ(load_be32(minis.data() + 8), load_be32(hash.slot(0).data() + 0x0c));
}

TEST(Compression, AnErrorEntryFollowsWhatWasKeptBack) {
    Receiver on(5);
    on.receive(udp_frame(), 3);
    constexpr u32 kNoSuchKey = 0;
    on.card.post_list(on.rq, {{2048, kNoSuchKey, on.card.host.memory.allocate(2048)}});
    on.card.publish(on.rq);
    on.card.host.frame_in(udp_frame());
    std::vector<Completion> all = on.expand();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[3].opcode(), CqeOpcode::responder_error);
    EXPECT_EQ(all[3].counter(), 3u);
}

TEST(Compression, StoppingTheQueueWritesWhatWasKeptBack) {
    for (QueueState to : {QueueState::reset, QueueState::error}) {
        Receiver on(5);
        on.receive(udp_frame(), 3);
        EXPECT_EQ(on.card.modify_rq(on.rq, QueueState::ready, to).status(), Status::ok);
        EXPECT_EQ(on.expand().size(), 3u);
    }
}

TEST(Compression, AResetWritesNothingMore) {
    Receiver on(5);
    Card &card = on.card;
    on.receive(udp_frame(), 3);
    cx_core_reset(card.host.core());
    EXPECT_EQ(card.host.timer_at, CX_TIMER_OFF);
    Bytes before = card.host.memory.bytes(on.cq.ring, on.cq.size() * kCqeBytes);
    card.host.advance(1'000'000);
    EXPECT_EQ(card.host.memory.bytes(on.cq.ring, on.cq.size() * kCqeBytes), before);
}

TEST(Compression, EntriesKeptBackTakeTheirPlaceInTheRing) {
    Receiver on(3);
    on.receive(udp_frame(), 8);
    on.receive(udp_frame()); // the ninth finds no slot
    EXPECT_EQ(on.card.host.counter("cq_overruns"), 1u);
    EXPECT_EQ(on.expand().size(), 8u);
}

TEST(Compression, BlocksWrapAroundTheRingsEnd) {
    Receiver on(3);
    for (int i = 0; i < 40; ++i) {
        u32 n = 1 + i % 7;
        on.receive(udp_frame(), static_cast<int>(n));
        on.close();
        ASSERT_EQ(on.expand().size(), n) << "round " << i;
    }
}

TEST(Compression, OneEventFollowsTheBlock) {
    Receiver on(5);
    on.card.arm(on.cq, 0);
    on.receive(udp_frame(), 3);
    EXPECT_EQ(on.card.events_of(Event::completion), 0u);
    on.close();
    EXPECT_EQ(on.card.events_of(Event::completion), 1u);
    EXPECT_EQ(on.expand().size(), 3u);
}

TEST(Compression, ARingThatCannotBeWrittenStopsTheQueue) {
    Receiver on(5);
    on.receive(udp_frame(), 3);
    on.card.host.memory.unmap(on.cq.ring, kPage);
    on.close();
    EXPECT_EQ(on.card.events_of(Event::cq_error), 1u);
    on.receive(udp_frame());
    EXPECT_EQ(on.card.rq_state(on.rq), QueueState::error);
}

TEST(Compression, CreationRefusesFormatsAndLayoutsThatThereAreNot) {
    Card card;
    auto status = [&](Field<CqContext> field, u32 value) {
        Queue cq;
        return card.driver
            .run(card.cq_input(cq, 2)
                     .set(CqContext::cqe_comp_en, 1, CreateCqIn::context)
                     .set(field, value, CreateCqIn::context))
            .status();
    };
    EXPECT_EQ(status(CqContext::mini_cqe_res_format, 2), Status::bad_parameter);
    EXPECT_EQ(status(CqContext::cqe_compression_layout, 1), Status::bad_parameter);
    EXPECT_EQ(status(CqContext::mini_cqe_res_format, 1), Status::ok);
}

// The same frames at the same times into a card that compresses and one that does not.
TEST(Compression, ExpandsToWhatAnUncompressedQueueGets) {
    constexpr u64 kLost[] = {0x0c, 0x0d, 0x0e, 0x0f, 0x10,                          // hash
                             0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x3f}; // time, owner
    for (u32 format : {kChecksumFormat, kStrideFormat}) {
        Receiver on(6, format), off(6, format, false);
        std::mt19937 random(3);
        usize compared = 0;
        for (int i = 0; i < 2000; ++i) {
            Bytes frame = random() % 8 ? udp_frame(random() % 100, static_cast<u8>(random()))
                                       : niclab::test::frame(Ipv6{}, Tcp{}, pattern(random() % 50));
            u64 step = random() % 8 ? 0 : random() % 6000;
            for (Receiver *each : {&on, &off}) {
                each->receive(frame);
                each->card.host.advance(step);
            }
            if (i % 30 != 29) continue;
            on.close();
            std::vector<Completion> a = on.expand(), b = off.expand();
            ASSERT_EQ(a.size(), b.size());
            for (usize j = 0; j < a.size(); ++j, ++compared) {
                for (u64 at : kLost)
                    a[j].raw[at] = b[j].raw[at] = 0;
                ASSERT_EQ(a[j].raw, b[j].raw) << "entry " << compared;
            }
        }
        EXPECT_EQ(compared, 1980u);
        EXPECT_GT(on.card.host.counter("compressed_completions"), 1000u);
        EXPECT_LT(on.card.host.counter("dma_cqe_bytes_written"),
                  off.card.host.counter("dma_cqe_bytes_written") / 2);
    }
}

} // namespace
} // namespace niclab::test
