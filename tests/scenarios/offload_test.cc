// SPDX-License-Identifier: GPL-2.0-or-later
// What the card computes, judged byte by byte at the other end by code that is not the card's.
#include <algorithm>

#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Offload : public Scenario {
  protected:
    static std::vector<std::string> hexes(const std::vector<Bytes> &frames) {
        std::vector<std::string> result;
        for (const Bytes &frame : frames)
            result.push_back(hex(padded(frame)));
        return result;
    }

    std::vector<std::string> sent_with(const Bytes &frame, SendOptions options, unsigned count) {
        std::vector<std::string> came;
        for (const CapturedFrame &seen : capture(Side::b, "src=02:00:00:77:00:01", count, [&] {
                 need(guest().send_frame(Side::a, hex(frame), options));
             }))
            came.push_back(hex(whole(seen)));
        return came;
    }

    static std::pair<unsigned, unsigned> checksum_place(const Bytes &frame) {
        return {static_cast<unsigned>(l4_offset(frame)),
                static_cast<unsigned>(l4_checksum_offset(frame) - l4_offset(frame))};
    }

    /// Sends the packet with its L4 checksum left to the card.
    void expect_completed(const Bytes &right) {
        ASSERT_EQ(fault_in(right), "");
        SCOPED_TRACE(hex(right));
        EXPECT_EQ(sent_with(with_partial_checksum(right), {.checksum = checksum_place(right)}, 1),
                  hexes({right}));
    }

    void expect_segmented(Family family, const TcpFields &fields, std::size_t payload, unsigned mss) {
        Bytes large = tcp(mac(Side::b), family, fields, pattern(payload, mss));
        std::vector<Bytes> wanted = segments_of(large, mss);
        SCOPED_TRACE(fmt::format("{} bytes in pieces of {}", payload, mss));
        SendOptions options{.checksum = checksum_place(large),
                            .gso = family == Family::ipv4 ? "tcp4" : "tcp6",
                            .gso_size = mss,
                            .header_length = static_cast<unsigned>(headers_length(large))};
        auto whole_pieces = with_features(Side::b, {"gro", "off"});
        EXPECT_EQ(sent_with(with_partial_checksum(large), options, static_cast<unsigned>(wanted.size())),
                  hexes(wanted));
    }
};

TEST_F(Offload, ChecksumsOfUdpAndTcpAreFilledInAtEverySize) {
    for (Family family : {Family::ipv4, Family::ipv6})
        for (std::size_t size : {0u, 1u, 2u, 17u, 64u, 511u, 1400u}) {
            expect_completed(udp(mac(Side::b), family, 40001, 40002, pattern(size, 1)));
            expect_completed(tcp(mac(Side::b), family, {.flags = kAck | kPsh}, pattern(size, 2)));
        }
}

TEST_F(Offload, AUdpChecksumThatComesOutAsZeroIsSentAsAllOnes) {
    for (Family family : {Family::ipv4, Family::ipv6}) {
        Bytes frame = with_payload_for_zero_udp_checksum(mac(Side::b), family);
        std::size_t at = l4_checksum_offset(frame);
        ASSERT_EQ(hex({frame[at], frame[at + 1]}), "ffff");
        expect_completed(frame);
    }
}

TEST_F(Offload, ChecksumsBehindATagAreFilledIn) {
    Afterwards remove([this] { return try_run(Side::b, "ip link del tagged"); });
    run(Side::b, "ip link add link $IF name tagged type vlan id 100 && ip link set tagged up");
    for (Family family : {Family::ipv4, Family::ipv6}) {
        Bytes plain = udp(mac(Side::b), family, 40001, 40002, pattern(99, 3));
        Bytes wanted = tagged(plain, 0x8100, 100);
        Bytes sent = tagged(with_partial_checksum(plain), 0x8100, 100);
        auto [start, offset] = checksum_place(plain);
        EXPECT_EQ(sent_with(sent, {.checksum = std::pair{start + 4, offset}}, 1), hexes({wanted}));
    }
}

TEST_F(Offload, ALargeTcpPacketLeavesAsRightSegments) {
    const Bytes timestamps = {1, 1, 8, 10, 0, 1, 2, 3, 4, 5, 6, 7};
    for (Family family : {Family::ipv4, Family::ipv6}) {
        const unsigned full = family == Family::ipv4 ? 1460 : 1440; // what an MTU of 1500 leaves
        const auto option_bytes = static_cast<unsigned>(timestamps.size());
        expect_segmented(family, {.flags = kAck | kPsh | kFin}, 5000, full);
        expect_segmented(family, {.sequence = 0xffffff00, .flags = kAck, .options = timestamps},
                         8 * (full - option_bytes), full - option_bytes);
        expect_segmented(family, {.flags = kAck | kPsh}, 1001, 500);
        expect_segmented(family, {.flags = kAck | kPsh}, 40000, 536);
        expect_segmented(family, {.flags = kAck}, 3001, 10);
    }
}

TEST_F(Offload, ATcpPacketBeyondTheReachOfItsLengthFieldLeavesAsRightSegments) {
    constexpr unsigned kLargest = 185000; // what administrators set for it
    nlohmann::json link = need(guest().ip(Side::a, {"-d", "link", "show", "dev", interface(Side::a)}));
    if (link.at(0).value("tso_max_size", 0u) < kLargest) GTEST_SKIP() << "the driver does not offer it";
    auto set = [&](unsigned bytes) {
        return try_run(Side::a, fmt::format("ip link set $IF gso_max_size {}", bytes));
    };
    Afterwards back([&] { return set(link.at(0).at("gso_max_size")); });
    need(set(kLargest));
    constexpr std::size_t kPart = 4000, kParts = 30, kMss = 1440;
    const Bytes part = pattern(kPart, 6);
    Bytes payload;
    for (std::size_t i = 0; i < kParts; ++i)
        payload.insert(payload.end(), part.begin(), part.end());
    Bytes large = with_partial_checksum(tcp(mac(Side::b), Family::ipv6, {.flags = kAck | kPsh}, payload));
    std::vector<Bytes> wanted = segments_of(large, kMss);
    // The guest puts the frame together, because the agent takes no message as long as that. The packet
    // socket wants much of it in one piece: what it is told of the headers' length.
    std::string headers = hex(Bytes(large.begin(), large.end() - kParts * kPart));
    std::string send =
        fmt::format("{{ printf {}; for i in $(seq {}); do printf {}; done; }} | /niclab/wire send $IF - "
                    "--checksum {}:16 --gso tcp6 --gso-size {} --header-length 65535",
                    headers, kParts, hex(part), l4_offset(large), kMss);
    auto whole_pieces = with_features(Side::b, {"gro", "off"});
    std::vector<std::string> came;
    for (const CapturedFrame &seen :
         capture(Side::b, "src=02:00:00:77:00:01", static_cast<unsigned>(wanted.size()),
                 [&] { run(Side::a, send); }))
        came.push_back(hex(whole(seen)));
    EXPECT_EQ(came, hexes(wanted));
}

TEST_F(Offload, ALargeUdpPacketLeavesAsRightSegments) {
    if (!need(guest().offloads(Side::a)).at("tx-udp-segmentation"))
        GTEST_SKIP() << "the driver does not offer UDP segmentation";
    constexpr unsigned kPiece = 1000, kBytes = 4500;
    constexpr const char *kUdpSegment = "setsockopt-int=17:103:1000"; // SOL_UDP, UDP_SEGMENT
    for (bool ipv6 : {false, true}) {
        std::string address = Guest::address(Side::b, ipv6);
        std::string place = ipv6 ? "UDP6-SENDTO:[" + address + "]:9" : "UDP4-SENDTO:" + address + ":9";
        auto whole_pieces = with_features(Side::b, {"gro", "off"});
        expect_ping(); // no neighbour discovery among what is captured
        std::string filter = fmt::format("{},src={},dst={}", ipv6 ? "ethertype=0x86dd" : "ethertype=0x0800",
                                         address_text(Side::a), address_text(Side::b));
        auto seen = capture(Side::b, filter, 5, [&] {
            run(Side::a, fmt::format("head -c {} /dev/zero | tr '\\0' n | socat -b {} -u - {},{}", kBytes,
                                     kBytes, place, kUdpSegment));
        });
        std::vector<std::size_t> sizes;
        Bytes together;
        for (const CapturedFrame &frame : seen) {
            Bytes bytes = whole(frame);
            EXPECT_EQ(fault_in(bytes), "") << frame.hex;
            Bytes part = payload_of(bytes);
            sizes.push_back(part.size());
            together.insert(together.end(), part.begin(), part.end());
        }
        EXPECT_EQ(sizes, (std::vector<std::size_t>{kPiece, kPiece, kPiece, kPiece, kBytes % kPiece}));
        EXPECT_EQ(together, Bytes(kBytes, 'n'));
    }
}

TEST_F(Offload, FramesOfEverySizeArriveByteForByteAndShortOnesArePadded) {
    std::vector<Bytes> frames;
    for (std::size_t size : {14u, 15u, 16u, 20u, 45u, 59u, 60u, 61u, 64u, 128u, 129u, 255u, 256u, 257u, 1023u,
                             1024u, 1513u, 1514u})
        frames.push_back(
            ethernet(mac(Side::b), kLocalExperimental, pattern(size - 14, static_cast<unsigned>(size))));
    expect_arrivals(Side::a, frames, frames);
}

TEST_F(Offload, ABadChecksumIsNotVouchedFor) {
    // To side b's own address and a closed port: its kernel counts what it thinks of the checksum.
    auto packet = [&](bool good) {
        Bytes frame = udp(mac(Side::b), Family::ipv4, 40001, 9, pattern(64, 5));
        frame[33] = 2; // 10.77.0.2
        fill_checksums(frame);
        if (!good) frame.back() ^= 1;
        return frame;
    };
    for (const char *receive_checksum : {"on", "off"}) {
        SCOPED_TRACE(receive_checksum);
        Afterwards back([this] { return guest().ethtool(Side::b, {"-K", interface(Side::b), "rx", "on"}); });
        need(guest().ethtool(Side::b, {"-K", interface(Side::b), "rx", receive_checksum}));
        std::uint64_t errors = snmp(Side::b, "Udp", "InCsumErrors"), closed = snmp(Side::b, "Udp", "NoPorts");
        expect_arrivals(Side::a, {packet(false), packet(true)}, {packet(false), packet(true)});
        need(vm().until("the good packet to be counted", 10s,
                        [&]() -> Result<bool> { return snmp(Side::b, "Udp", "NoPorts") > closed; }));
        EXPECT_EQ(snmp(Side::b, "Udp", "InCsumErrors"), errors + 1);
        EXPECT_EQ(snmp(Side::b, "Udp", "NoPorts"), closed + 1);
    }
}

} // namespace
} // namespace niclab::scenarios
