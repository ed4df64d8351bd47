// SPDX-License-Identifier: GPL-2.0-or-later
// Compressed receive completions, as the stock driver's private flag asks for them.
#include <fmt/format.h>

#include "scenarios/generator.h"
#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Compression : public Scenario {
  protected:
    [[nodiscard]] std::unique_ptr<Afterwards> with_compression() {
        auto set = [this](const char *to) -> Status {
            for (Side side : kBothSides) {
                NICLAB_TRY(try_run(side, fmt::format("ethtool --set-priv-flags $IF rx_cqe_compress {}", to)));
                NICLAB_TRY(guest().wait_link(side));
            }
            return {};
        };
        auto restore = std::make_unique<Afterwards>([set] { return set("off"); });
        need(set("on"));
        return restore;
    }
};

TEST_F(Compression, ABurstOfEqualPacketsComesInBlocks) {
    auto compression = with_compression();
    auto silence = quiet();
    constexpr unsigned kBurst = 256;
    std::uint64_t driver = statistic(Side::b, "rx_cqe_compress_pkts"),
                  card = card_counter(Side::b, "compressed_completions"),
                  received = statistic(Side::b, "rx_packets"), wrong = statistic(Side::b, "rx_wqe_err");
    Generator(guest(), Side::a, address_text(Side::b), {.count = kBurst, .burst = kBurst}).send();
    need(vm().until("the burst to be received", 20s,
                    [&]() -> Result<bool> { return statistic(Side::b, "rx_packets") - received >= kBurst; }));
    std::uint64_t compressed = statistic(Side::b, "rx_cqe_compress_pkts") - driver;
    EXPECT_GT(compressed, kBurst / 2);
    EXPECT_EQ(compressed, card_counter(Side::b, "compressed_completions") - card);
    EXPECT_EQ(statistic(Side::b, "rx_packets") - received, kBurst);
    EXPECT_EQ(statistic(Side::b, "rx_wqe_err"), wrong);
}

// Sizes, protocols and checksums change from frame to frame; the bytes and their order must not.
TEST_F(Compression, MixedFramesArriveAsTheyWereSent) {
    auto compression = with_compression();
    auto silence = quiet();
    std::vector<Bytes> frames;
    for (unsigned i = 0; i < 6; ++i)
        for (const Bytes &one : {udp(mac(Side::b), Family::ipv4, 1000, 2000, pattern(20 + 100 * i, i)),
                                 udp(mac(Side::b), Family::ipv6, 1000, 2000, pattern(30 + 90 * i, i)),
                                 ethernet(mac(Side::b), kLocalExperimental, pattern(50 + i, i))})
            frames.push_back(one);
    expect_arrivals(Side::a, frames, frames);
}

TEST_F(Compression, StreamsArriveWhole) {
    auto compression = with_compression();
    expect_ping();
    for (Side from : kBothSides) {
        std::uint64_t before = statistic(other(from), "rx_cqe_compress_pkts");
        expect_transfer(from, {.bytes = 8 << 20});
        EXPECT_GT(statistic(other(from), "rx_cqe_compress_pkts"), before);
    }
}

} // namespace
} // namespace niclab::scenarios
