// SPDX-License-Identifier: GPL-2.0-or-later
// The real-time clock and the pulse pins. Images are written word by word, as the manual prints them.
#include <initializer_list>
#include <utility>

#include "spec/caps.h"
#include "support/card.h"
#include "support/registers.h"

namespace niclab::test {
namespace {

constexpr u64 kSecond = 1'000'000'000;

cx_config with_real_time(bool on = true) {
    cx_config config = default_config();
    config.real_time_clock = on;
    return config;
}

class ClockTest : public PortTest {
  protected:
    explicit ClockTest(bool real_time = true) : PortTest(with_real_time(real_time)) {}

    using Words = std::initializer_list<std::pair<usize, u32>>;
    static CommandInput image(u16 id, u16 op, Words words) {
        CommandInput input = access(id, op, id == kMtutc ? 0x1c : id == kMtpps ? 0x3c : 0x10);
        for (auto [at, word] : words)
            store_be32(input.raw.data() + kImage + at, word);
        return input;
    }
    bool takes(u16 id, Words words) { return run(image(id, kWrite, words)).ok(); }
    u32 word(u16 id, usize at, u32 pin = 0) {
        usize pin_at = id == kMtpps ? 0x20 : 0;
        return load_be32(must(image(id, kRead, {{pin_at, pin}})).out.data() + kImage + at);
    }

    void set_time(u32 seconds, u32 nanoseconds) {
        EXPECT_TRUE(takes(kMtutc, {{0x00, 1}, {0x10, seconds}, {0x14, nanoseconds}}));
    }
    u64 time() { return host.read32(0x1040) * kSecond + host.read32(0x1044); }
    void later(u64 ns) {
        host.now_ns += ns;
        cx_core_timer(host.core());
    }
    void pulse(bool high) { cx_core_set_pulse_input(host.core(), high); }
    // A pin's pattern, direction and number, enabled, and a time; what selects them.
    bool start_output(u32 pattern, u64 time_stamp, u64 period = 0) {
        return takes(kMtpps, {{0x10, period ? 0x21d : 0x1d},
                              {0x18, static_cast<u32>(period >> 32)},
                              {0x1c, static_cast<u32>(period)},
                              {0x20, 0x8000'0101 | pattern << 16},
                              {0x28, static_cast<u32>(time_stamp >> 32)},
                              {0x2c, static_cast<u32>(time_stamp)}});
    }
    std::vector<u64> event_times() {
        std::vector<u64> all;
        for (u64 i = 0; i < host.counter("events") - seen; ++i)
            all.push_back(load_be64(event(i).data() + 0x28));
        return all;
    }
};

// As cards are delivered.
class PulseTest : public ClockTest {
  protected:
    PulseTest() : ClockTest(false) {}
};

// ---- the clock
TEST_F(ClockTest, IsSetAndRuns) {
    set_time(1'700'000'000, 999'999'990);
    EXPECT_EQ(host.read32(0x1040), 1'700'000'000u);
    EXPECT_EQ(host.read32(0x1044), 999'999'990u);
    host.now_ns += 15;
    EXPECT_EQ(host.read32(0x1040), 1'700'000'001u);
    EXPECT_EQ(host.read32(0x1044), 5u);
    EXPECT_EQ(word(kMtutc, 0x10), 1'700'000'001u);
    EXPECT_EQ(word(kMtutc, 0x14), 5u);
    EXPECT_EQ(word(kMtutc, 0x00), 26u << 16) << "as far as its speed can be changed";
}

TEST_F(ClockTest, IsMovedByALittle) {
    set_time(100, 0);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 2}, {0x18, 200'000}}));
    EXPECT_EQ(time(), 100 * kSecond + 200'000);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 2}, {0x18, 0xffff'ffffu}}));
    EXPECT_EQ(time(), 100 * kSecond + 199'999);
    set_time(0, 5);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 2}, {0x18, 0xffff'fff0u}}));
    EXPECT_EQ(time(), 0u) << "there is no time before the first";
}

TEST_F(ClockTest, RunsFasterAndSlower) {
    set_time(100, 0);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 3}, {0x04, 1000}})); // parts per billion
    host.now_ns += 10 * kSecond;
    EXPECT_EQ(time(), 110 * kSecond + 10'000);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 0x0100'0003}, {0x04, 0xffff'0000}})); // parts per million by 2^16: -1
    host.now_ns += 10 * kSecond;
    EXPECT_EQ(time(), 120 * kSecond);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 3}, {0x04, 0}}));
    host.now_ns += 10 * kSecond;
    EXPECT_EQ(time(), 130 * kSecond);
}

TEST_F(ClockTest, RefusesWhatItCannotDoAndStaysAsItWas) {
    set_time(100, 0);
    EXPECT_FALSE(takes(kMtutc, {{0x00, 0}}));
    EXPECT_FALSE(takes(kMtutc, {{0x00, 4}}));
    EXPECT_FALSE(takes(kMtutc, {{0x00, 1}, {0x14, 1'000'000'000}})) << "a second of nanoseconds";
    EXPECT_FALSE(takes(kMtutc, {{0x00, 2}, {0x18, 200'001}}));
    EXPECT_FALSE(takes(kMtutc, {{0x00, 2}, {0x18, 0x8000'0000}}));
    EXPECT_FALSE(takes(kMtutc, {{0x00, 3}, {0x04, (1u << 26) + 1}}));
    EXPECT_FALSE(takes(kMtutc, {{0x00, 3}, {0x04, 0x8000'0000}}));
    EXPECT_FALSE(takes(kMtutc, {{0x00, 0x0200'0003}, {0x04, 1}})) << "unknown units";
    host.now_ns += kSecond;
    EXPECT_EQ(time(), 101 * kSecond);
}

TEST_F(ClockTest, TheLatestTimeAndTheLongestRunStayInRange) {
    set_time(0xffff'ffff, 999'999'999);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 3}, {0x04, 1u << 26}}));
    host.now_ns = ~u64{0} >> 1;
    EXPECT_LT(host.read32(0x1044), kSecond);
}

TEST_F(PulseTest, ACardWithoutRealTimeRefusesToSetIt) {
    EXPECT_FALSE(takes(kMtutc, {{0x00, 1}, {0x10, 5}}));
    EXPECT_EQ(word(kMtutc, 0x00), 26u << 16);
}

u32 general_word(CommandDriver &driver, usize at) {
    CommandResult caps = driver.must({Opcode::query_hca_cap, 0x10, 1}, QueryHcaCapOut::bytes);
    return load_be32(caps.out.data() + 0x10 + at);
}

TEST_F(PulseTest, RealTimeIsOfferedFromTheNextDriverOn) {
    auto features = [&] { return load_be32(must(access(kMcam, kRead, 0x48)).out.data() + kImage + 0x34); };
    EXPECT_EQ(general_word(driver, 0x088), 0u);
    EXPECT_EQ(features() >> 20 & 1, 0u);
    cx_core_set_real_time_clock(host.core(), true);
    EXPECT_EQ(general_word(driver, 0x088), 0u) << "the driver that is there read something else";
    EXPECT_FALSE(takes(kMtutc, {{0x00, 1}}));
    driver.register_queue();
    driver.bring_up();
    EXPECT_EQ(general_word(driver, 0x088), 0xa000'0000u) << "either format, for both kinds of queue";
    EXPECT_EQ(features() >> 20 & 1, 1u);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 1}}));
}

// ---- time stamps of completions
TEST(RealTimeStamps, AreInBothDirectionsOfTheQueuesThatAskForThem) {
    Card card(true, with_real_time());
    CommandInput set(Opcode::access_register, 0x10 + 0x1c, kWrite);
    set.set(AccessRegisterIn::register_id, kMtutc);
    store_be32(set.raw.data() + 0x10, 1);
    store_be32(set.raw.data() + 0x20, 1000);
    store_be32(set.raw.data() + 0x24, 7);
    card.driver.must(set, set.raw.size());
    for (u32 format : {0u, 1u, 2u}) {
        u64 expected = format == 2 ? u64{1000} << 32 | 7 : card.host.now_ns;
        Queue cq = card.create_cq(4), sq, rq;
        CommandInput send = card.sq_input(sq, 4, cq.number), receive = card.rq_input(rq, 4, 6, cq.number);
        card.start_sq(sq, send.set(SqContext::ts_format, format, CreateQueueIn::context));
        card.start_rq(rq, receive.set(RqContext::ts_format, format, CreateQueueIn::context));
        card.catch_all(card.create_tir(rq.number));
        card.post_buffer(rq);
        Bytes frame(60, 0xff);
        SendWqe wqe;
        wqe.inline_header = frame;
        card.send(sq, wqe);
        EXPECT_EQ(load_be64(card.poll(cq).value().raw.data() + 0x30), expected) << "sent, " << format;
        cx_core_frame_in(card.host.core(), frame.data(), frame.size());
        EXPECT_EQ(load_be64(card.poll(cq).value().raw.data() + 0x30), expected) << "received, " << format;
    }
}

TEST(RealTimeStamps, AreRefusedWhereTheCardHasNone) {
    for (bool real_time : {false, true}) {
        Card card(true, with_real_time(real_time));
        Queue cq = card.create_cq(4), sq, rq;
        for (u32 format : {2u, 3u}) {
            CommandInput send = card.sq_input(sq, 4, cq.number), receive = card.rq_input(rq, 4, 6, cq.number);
            bool good = real_time && format == 2;
            EXPECT_EQ(card.driver.run(send.set(SqContext::ts_format, format, CreateQueueIn::context)).ok(),
                      good);
            EXPECT_EQ(card.driver.run(receive.set(RqContext::ts_format, format, CreateQueueIn::context)).ok(),
                      good);
        }
    }
}

// ---- pins
TEST_F(PulseTest, OnePinIsAnInputAndOneAnOutput) {
    EXPECT_EQ(general_word(driver, 0x038) >> 29 & 3, 3u);
    for (u32 pin : {0u, 1u}) {
        EXPECT_EQ(word(kMtpps, 0x00, pin), 0x0002'0101u) << "two pins, one of each kind";
        EXPECT_EQ(word(kMtpps, 0x04, pin), 0x0000'140au) << "2^20 ns apart, 2^10 ns long";
        EXPECT_EQ(word(kMtpps, 0x08, pin), 0x0000'0201u);
        EXPECT_EQ(word(kMtpps, 0x20, pin), pin) << "off";
    }
}

TEST_F(PulseTest, AnInputTellsTheTimeOfTheEdgeThatWasChosen) {
    listen(u64{1} << 0x25);
    pulse(true);
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0xd}, {0x20, 0x8000'0000}})); // rising
    EXPECT_TRUE(takes(kMtppse, {{0x04, 1}}));
    pulse(true); // it is
    pulse(false);
    host.now_ns = 0x1'2345'6789;
    pulse(true);
    ASSERT_EQ(event_times(), std::vector<u64>{0x1'2345'6789});
    EXPECT_EQ(event(0)[1], 0x25);
    EXPECT_EQ(event(0)[0x23], 0u) << "pin";
    EXPECT_EQ(word(kMtpps, 0x2c), 0x2345'6789u) << "kept at the pin";
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0xd}, {0x20, 0x8001'0000}})); // falling
    host.now_ns += 5;
    pulse(false);
    pulse(true);
    EXPECT_EQ(event_times(), (std::vector<u64>{0x1'2345'6789, 0x1'2345'678e}));
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0x1}})); // off
    pulse(false);
    EXPECT_EQ(event_times().size(), 2u);
    EXPECT_EQ(host.counter("pulses_in"), 2u);
}

TEST_F(PulseTest, EventsComeAlwaysOnceOrNever) {
    listen(u64{1} << 0x25);
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0xd}, {0x20, 0x8000'0000}}));
    auto pulses = [&] {
        for (int i = 0; i < 3; ++i)
            pulse(true), pulse(false);
        return event_times().size();
    };
    EXPECT_EQ(pulses(), 0u);
    EXPECT_TRUE(takes(kMtppse, {{0x04, 2}}));
    EXPECT_EQ(pulses(), 0u) << "not armed";
    EXPECT_TRUE(takes(kMtppse, {{0x04, 0x8000'0002}}));
    EXPECT_EQ(word(kMtppse, 0x04), 0x8000'0002u);
    EXPECT_EQ(pulses(), 1u);
    EXPECT_EQ(word(kMtppse, 0x04), 2u) << "no longer armed";
    EXPECT_TRUE(takes(kMtppse, {{0x04, 1}}));
    EXPECT_EQ(pulses(), 4u);
    EXPECT_TRUE(takes(kMtppse, {{0x04, 0}}));
    EXPECT_EQ(pulses(), 4u);
    EXPECT_EQ(host.counter("pulses_in"), 15u);
}

TEST_F(PulseTest, AnOutputGivesAPulseEachSecondUntilItIsMoved) {
    listen(u64{1} << 0x25);
    EXPECT_TRUE(takes(kMtppse, {{0x00, 1}, {0x04, 1}}));
    EXPECT_TRUE(start_output(1, 3 * kSecond));
    EXPECT_EQ(host.timer_at, 3 * kSecond);
    later(2 * kSecond);
    later(kSecond + 50);                                                           // somewhat late
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0x10}, {0x20, 1}, {0x28, 1}, {0x2c, 500}})); // the time stamp alone
    later(4 * kSecond);
    EXPECT_EQ(event_times(), (std::vector<u64>{3 * kSecond, 4 * kSecond, (u64{1} << 32) + 500}));
    EXPECT_EQ(event(0)[0x23], 1u) << "pin";
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0x1}, {0x20, 1}}));
    later(10 * kSecond);
    EXPECT_EQ(host.counter("pulses_out"), 3u) << "missed pulses are not made up for, and it is off";
}

TEST_F(PulseTest, ASinglePulseComesOnceAndNotInThePast) {
    EXPECT_TRUE(start_output(0, 3 * kSecond));
    later(2 * kSecond);
    later(5 * kSecond);
    EXPECT_TRUE(start_output(0, 3 * kSecond));
    later(5 * kSecond);
    EXPECT_EQ(host.counter("pulses_out"), 1u);
}

TEST_F(PulseTest, ThePeriodIsASecondAndItsAdjustmentOrItsOwn) {
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0x9d},
                               {0x20, 0x8001'0101},
                               {0x28, 0},
                               {0x2c, 2'000'000'000},
                               {0x34, 0xffff'ff00}})); // 256 ns less
    later(kSecond);
    EXPECT_EQ(host.timer_at, 3 * kSecond - 256);
    EXPECT_TRUE(start_output(1, 4 * kSecond, u64{2} << 32 | 5));
    later(2 * kSecond);
    EXPECT_EQ(host.timer_at, 6 * kSecond + 5);
}

TEST_F(ClockTest, AnOutputFollowsTheRealTimeClock) {
    set_time(100, 0);
    u64 start = host.now_ns;
    listen(u64{1} << 0x25);
    EXPECT_TRUE(takes(kMtppse, {{0x00, 1}, {0x04, 1}}));
    EXPECT_TRUE(start_output(1, u64{101} << 32, 500'000'000));
    EXPECT_EQ(host.timer_at, start + kSecond);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 2}, {0x18, 100'000}}));
    later(0);
    EXPECT_EQ(host.timer_at, start + kSecond - 100'000);
    EXPECT_TRUE(takes(kMtutc, {{0x00, 1}, {0x10, 200}, {0x14, 1}})) << "far behind the first";
    later(499'999'998);
    EXPECT_EQ(event_times().size(), 0u);
    later(1);
    EXPECT_EQ(event_times(), std::vector<u64>{u64{200} << 32 | 500'000'000});
    EXPECT_TRUE(takes(kMtutc, {{0x00, 1}, {0x10, 50}})) << "and before it";
    later(51 * kSecond);
    EXPECT_EQ(event_times().size(), 2u);
    EXPECT_EQ(event_times().back(), u64{101} << 32);
}

TEST_F(ClockTest, AFasterClockGivesItsPulsesSooner) {
    set_time(100, 0);
    u64 start = host.now_ns;
    EXPECT_TRUE(start_output(1, u64{101} << 32));
    EXPECT_TRUE(takes(kMtutc, {{0x00, 3}, {0x04, 50'000'000}})); // 5 % faster
    later(0);
    EXPECT_EQ(host.timer_at, start + 952'380'953);
    later(952'380'952);
    EXPECT_EQ(host.counter("pulses_out"), 0u);
    later(1);
    EXPECT_EQ(host.counter("pulses_out"), 1u);
    EXPECT_GE(time(), 101 * kSecond);
}

TEST_F(ClockTest, AnInputIsStampedInRealTime) {
    set_time(77, 5);
    listen(u64{1} << 0x25);
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0xd}, {0x20, 0x8000'0000}}));
    EXPECT_TRUE(takes(kMtppse, {{0x04, 1}}));
    pulse(true);
    EXPECT_EQ(event_times(), std::vector<u64>{u64{77} << 32 | 5});
}

TEST_F(ClockTest, RefusesPinsAndSettingsThatAreNotThere) {
    EXPECT_FALSE(takes(kMtpps, {{0x10, 1}, {0x20, 2}})) << "pin";
    EXPECT_FALSE(run(image(kMtpps, kRead, {{0x20, 0xff}})).ok());
    EXPECT_FALSE(takes(kMtppse, {{0x00, 2}}));
    EXPECT_FALSE(run(image(kMtppse, kRead, {{0x00, 0xff}})).ok());
    EXPECT_FALSE(takes(kMtppse, {{0x04, 3}})) << "mode";
    EXPECT_FALSE(takes(kMtpps, {{0x10, 0x2}})) << "unknown field";
    EXPECT_FALSE(takes(kMtpps, {{0x10, 0xd}, {0x20, 0x8000'0100}})) << "the input as output";
    EXPECT_FALSE(takes(kMtpps, {{0x10, 0xd}, {0x20, 0x8000'0001}})) << "the output as input";
    EXPECT_FALSE(takes(kMtpps, {{0x10, 0xd}, {0x20, 0x8002'0000}})) << "pattern";
    EXPECT_FALSE(start_output(2, 0));
    EXPECT_FALSE(start_output(1, 1'000'000'000)) << "a second of nanoseconds";
    EXPECT_FALSE(start_output(1, 0, 1'000'000'000));
    EXPECT_FALSE(start_output(1, 0, (1 << 20) - 1)) << "too often";
    EXPECT_TRUE(start_output(1, 0, 1 << 20));
    EXPECT_FALSE(takes(kMtpps, {{0x10, 0x400}, {0x20, 1}, {0x24, 1023}})) << "too short";
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0x400}, {0x20, 1}, {0x24, 1024}}));
    EXPECT_EQ(word(kMtpps, 0x24, 1), 1024u);
    EXPECT_EQ(word(kMtpps, 0x1c, 1), 1u << 20);
    EXPECT_FALSE(takes(kMtpps, {{0x10, 0x280}, {0x20, 1}, {0x34, 0x8000'0000}})) << "less than nothing";
    for (u64 far : {~u64{0}, u64{0xffff'ffff} << 32 | 999'999'999})
        start_output(1, far, u64{0xffff'ffff} << 32);
    later(1000 * kSecond);
}

TEST_F(PulseTest, ADriverFindsThePinsOffAndResetEndsPulses) {
    EXPECT_TRUE(takes(kMtpps, {{0x10, 0xd}, {0x20, 0x8000'0000}}));
    EXPECT_TRUE(start_output(1, 3 * kSecond));
    pulse(true);
    cx_core_reset(host.core());
    EXPECT_EQ(host.timer_at, CX_TIMER_OFF);
    EXPECT_TRUE(cx_core_pulse_input(host.core())) << "the level is the world's";
    later(10 * kSecond);
    pulse(false);
    EXPECT_EQ(host.counter("pulses_out"), 0u);
    driver.register_queue();
    driver.bring_up();
    EXPECT_EQ(word(kMtpps, 0x20, 1), 1u);
}

} // namespace
} // namespace niclab::test
