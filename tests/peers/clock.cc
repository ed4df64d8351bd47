// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/clock.h"

#include <regex>
#include <sstream>

#include <fmt/format.h>

namespace niclab::scenarios {

std::vector<std::int64_t> Clock::phc(Side side, const std::string &commands) {
    std::string out = run(side, "phc_ctl -q $IF -- " + commands + " 2>&1 || exit 1");
    static const std::regex reading(R"(clock time is (\d+)\.(\d{9}))");
    std::vector<std::int64_t> all;
    for (std::sregex_iterator it(out.begin(), out.end(), reading), end; it != end; ++it)
        all.push_back(std::stoll((*it)[1]) * kSecond + std::stoll((*it)[2]));
    return all;
}

std::unique_ptr<Afterwards> Clock::with_clocks_restored() {
    return std::make_unique<Afterwards>([this]() -> Status {
        for (Side side : kBothSides)
            NICLAB_TRY(try_run(side, "phc_ctl -q $IF -- freq 0 set && "
                                     "hwstamp_ctl -i $IF -t 0 -r 0 >/dev/null"));
        return {};
    });
}

void Clock::expect_read_set_and_moved() {
    auto restored = with_clocks_restored();
    auto each = phc(Side::a, "set 1000.0 get get adj 500 get adj -700 get adj 0.00001 get adj -0.00001 get");
    ASSERT_EQ(each.size(), 6u);
    EXPECT_GE(each[0], 1000 * kSecond);
    EXPECT_GT(each[1], each[0]) << "it runs";
    EXPECT_GE(each[2], each[1] + 500 * kSecond);
    EXPECT_LT(each[3], each[2] - 600 * kSecond);
    EXPECT_GT(each[4], each[3]);
    auto fast = phc(Side::a, "freq 50000000 get get freq -50000000 get get");
    EXPECT_TRUE(fast.size() == 4 && std::is_sorted(fast.begin(), fast.end()));
}

// The capture asks the kernel for the card's stamps instead of its own.
void Clock::expect_stamps_between_readings() {
    auto restored = with_clocks_restored();
    auto silence = quiet();
    constexpr unsigned kFrames = 8;
    Bytes frame = ethernet(mac(Side::b), kLocalExperimental, pattern(60, 1));
    int capture = need(guest().start(Side::b, {"tcpdump", "-Z", "root", "-n", "-tt", "-j", "adapter_unsynced",
                                               "--time-stamp-precision=nano", "--immediate-mode", "-Q", "in",
                                               "-c", std::to_string(kFrames), "-i", interface(Side::b),
                                               "ether src 02:00:00:77:00:01"}));
    std::int64_t before = now(Side::b);
    // Frames that come before the capture listens are not seen, so they are sent until it has enough.
    need(vm().until("the capture to end", 30s, [&]() -> Result<bool> {
        NICLAB_TRY(guest().send_frame(Side::a, hex(frame)));
        return !NICLAB_TRY(vm().run({"kill", "-0", std::to_string(capture)}, 10s)).ok();
    }));
    CommandResult seen = need(vm().wait(capture, "the capture", 20s));
    std::int64_t after = now(Side::b);

    std::vector<std::int64_t> stamps;
    static const std::regex stamp(R"((?:^|\n)(\d+)\.(\d{9}) )");
    for (std::sregex_iterator it(seen.out.begin(), seen.out.end(), stamp), end; it != end; ++it)
        stamps.push_back(std::stoll((*it)[1]) * 1'000'000'000 + std::stoll((*it)[2]));
    ASSERT_EQ(stamps.size(), kFrames) << seen.out << seen.err;
    EXPECT_TRUE(std::is_sorted(stamps.begin(), stamps.end())) << seen.out;
    EXPECT_LT(before, stamps.front());
    EXPECT_LT(stamps.back(), after);
}

// The protocol itself needs stamps of both directions: a slave that is locked got and believed them.
void Clock::expect_slave_locks() {
    auto restored = with_clocks_restored();
    auto command = [&](Side side, std::vector<std::string> more) {
        std::vector<std::string> argv = {
            "timeout",
            "90",
            "ptp4l",
            "-i",
            interface(side),
            "-2",
            "-H",
            "-m",
            "-q",
            "--tx_timestamp_timeout=2000",
            "--logAnnounceInterval=-2",
            "--logSyncInterval=-3",
            "--logMinDelayReqInterval=-3",
            fmt::format("--uds_address=/run/ptp4l.{}", side == Side::a ? "a" : "b")};
        argv.insert(argv.end(), more.begin(), more.end());
        return argv;
    };
    int master = need(guest().start(Side::a, command(Side::a, {"--priority1=1"})));
    std::string slave = fmt::format("{}", fmt::join(command(Side::b, {"--slaveOnly=1"}), " "));
    Status locked =
        try_run(Side::b, slave + " | grep -m 1 'UNCALIBRATED to SLAVE on MASTER_CLOCK_SELECTED'", 100s);
    need(vm().run({"kill", std::to_string(master)}, 10s));
    CommandResult told = need(vm().wait(master, "the master to end", 20s));
    EXPECT_TRUE(locked.ok()) << locked.why() << told.out;
}

Status Clock::set_card(Side side, const char *property, bool value) {
    const char *path = side == Side::a ? "/machine/peripheral/nic0" : "/machine/peripheral/nic1";
    NICLAB_TRY(vm().qmp("qom-set", {{"path", path}, {"property", property}, {"value", value}}));
    return {};
}

std::string Clock::in_clock(const std::string &script) {
    return run(Side::a,
               "N=$(ethtool -T $IF | sed -n 's/^PTP Hardware Clock: //p') && cd /sys/class/ptp/ptp$N && " +
                   script);
}

/// `wait_for_it` prints the stamp as SECONDS NANOSECONDS once it is there.
std::int64_t Clock::edge_stamp(const std::string &wait_for_it) {
    std::int64_t before = now(Side::a), seconds = 0, nanoseconds = 0;
    need(set_card(Side::a, "pulse-input", true));
    std::istringstream(in_clock(wait_for_it)) >> seconds >> nanoseconds;
    std::int64_t after = now(Side::a), stamp = seconds * kSecond + nanoseconds;
    need(set_card(Side::a, "pulse-input", false));
    EXPECT_LT(before, stamp);
    EXPECT_LT(stamp, after);
    return stamp;
}

void Clock::expect_input_stamped() {
    in_clock("echo 1 0 >pins/mlx5_pps0 && echo 0 1 >extts_enable");
    const std::string event =
        "timeout 20 sh -c 'until read I S N <fifo && [ \"$I\" = 0 ]; do sleep 0.1; done; echo $S $N'";
    std::int64_t first = edge_stamp(event);
    EXPECT_LT(first, edge_stamp(event));
    in_clock("echo 1 >pps_enable");
    const std::string source = "for P in /sys/class/pps/*; do [ $(cat $P/name) = ptp$N ] && break; done; ";
    std::string numbered = in_clock(source + "cat $P/assert");
    std::int64_t last = edge_stamp(source + "timeout 20 sh -c 'until [ \"$(cat '$P'/assert)\" != \"" +
                                   numbered.substr(0, numbered.find('\n')) +
                                   "\" ]; do sleep 0.1; done'; sed 's/[.#]/ /g' $P/assert");
    EXPECT_LT(first, last);
    in_clock("echo 0 >pps_enable && echo 0 0 >extts_enable && echo 0 0 >pins/mlx5_pps0");
}

void Clock::expect_output(const std::string &period) {
    constexpr std::uint64_t kEnough = 3;
    std::uint64_t first = card_counter(Side::a, "pulses_out");
    std::int64_t start = now(Side::a) / kSecond + 2;
    in_clock(fmt::format("echo 2 0 >pins/mlx5_pps1 && echo 0 {} 0 {} >period", start, period));
    need(vm().until("the pulses", 30s, [&]() -> Result<bool> {
        return card_counter(Side::a, "pulses_out") >= first + kEnough;
    }));
    EXPECT_GE(now(Side::a), start * kSecond);
    in_clock("echo 0 0 0 0 0 >period && echo 0 0 >pins/mlx5_pps1");
    std::uint64_t last = card_counter(Side::a, "pulses_out");
    need(vm().until("what would be the next pulse", 30s,
                    [&]() -> Result<bool> { return now(Side::a) / kSecond >= start + 8; }));
    EXPECT_EQ(card_counter(Side::a, "pulses_out"), last);
}

} // namespace niclab::scenarios
