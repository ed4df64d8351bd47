// SPDX-License-Identifier: GPL-2.0-or-later
// The stock driver's PTP hardware clock over the card's free-running timer, and time stamps from completions.
#include <regex>

#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Clock : public Scenario {
  protected:
    /// Runs phc_ctl on `side` and gives each clock reading in its output, in nanoseconds.
    std::vector<std::int64_t> phc(Side side, const std::string &commands) {
        std::string out = run(side, "phc_ctl -q $IF -- " + commands + " 2>&1 || exit 1");
        static const std::regex reading(R"(clock time is (\d+)\.(\d{9}))");
        std::vector<std::int64_t> all;
        for (std::sregex_iterator it(out.begin(), out.end(), reading), end; it != end; ++it)
            all.push_back(std::stoll((*it)[1]) * 1'000'000'000 + std::stoll((*it)[2]));
        return all;
    }
    std::int64_t now(Side side) { return phc(side, "get").at(0); }

    /// Both clocks run as the driver started them, and nothing is stamped, after the end of the scope.
    [[nodiscard]] std::unique_ptr<Afterwards> with_clocks_restored() {
        return std::make_unique<Afterwards>([this]() -> Status {
            for (Side side : kBothSides)
                NICLAB_TRY(try_run(side, "phc_ctl -q $IF -- freq 0 set && "
                                         "hwstamp_ctl -i $IF -t 0 -r 0 >/dev/null"));
            return {};
        });
    }
};

TEST_F(Clock, IsOfferedForStampsInBothDirections) {
    for (Side side : kBothSides) {
        std::string shown = run(side, "ethtool -T $IF");
        for (const char *what : {"hardware-transmit", "hardware-receive", "hardware-raw-clock"})
            EXPECT_NE(shown.find(what), std::string::npos) << what << " in\n" << shown;
        EXPECT_TRUE(std::regex_search(shown, std::regex("PTP Hardware Clock: [0-9]+"))) << shown;
    }
}

TEST_F(Clock, IsReadSetAndMoved) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    auto restored = with_clocks_restored();
    auto each = phc(Side::a, "set 1000.0 get get adj 500 get adj -700 get");
    ASSERT_EQ(each.size(), 4u);
    EXPECT_GE(each[0], 1000 * kSecond);
    EXPECT_GT(each[1], each[0]) << "it runs";
    EXPECT_GE(each[2], each[1] + 500 * kSecond);
    EXPECT_LT(each[3], each[2] - 600 * kSecond);
    auto fast = phc(Side::a, "freq 50000000 get get freq -50000000 get get");
    EXPECT_TRUE(fast.size() == 4 && std::is_sorted(fast.begin(), fast.end()));
}

// The capture asks the kernel for the card's stamps instead of its own.
TEST_F(Clock, ReceiveStampsLieBetweenTwoReadings) {
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
TEST_F(Clock, PtpSlaveLocksOnAMaster) {
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

} // namespace
} // namespace niclab::scenarios
