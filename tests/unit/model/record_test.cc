// SPDX-License-Identifier: GPL-2.0-or-later
// What a card recorded, read again; records that are cut off, damaged or no records at all.
#include "niclab/trace/record_file.h"

#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "connectx/cx_core.h"
#include "niclab/trace/pcapng.h"
#include "niclab/trace/words.h"
#include "support/temp_folder.h"
#include "unit/model/bytes.h"

namespace niclab::trace {
namespace {

using test::good_cqe;
using test::kSend;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<u8> kFrame = [] {
    std::vector<u8> frame(60);
    for (u8 i = 0; i < 6; ++i)
        frame[i] = 0xff, frame[6 + i] = static_cast<u8>(0x50 + i);
    frame[12] = 0x08;
    frame[13] = 0x06;
    return frame;
}();

class RecordTest : public testing::Test {
  protected:
    std::string file(const std::string &name) const { return folder_.path() / name; }
    static void add(cx_recorder *recorder, u64 ns, cx_trace_event kind, u64 a, u64 b, u64 c,
                    const std::vector<u8> &bytes = {}) {
        cx_recorder_add(recorder, ns, kind, a, b, c, bytes.data(), bytes.size());
    }
    /// A send and an arrival, at 1 000 ns of the guest and 5 000 000 000 ns of the host and on.
    std::string record(const std::string &name = "a.record") const {
        char error[256] = "";
        cx_recorder *recorder =
            cx_recorder_open(file(name).c_str(), "nic0", 1000, 5'000'000'000, error, sizeof error);
        EXPECT_NE(recorder, nullptr) << error;
        add(recorder, 1010, CX_TRACE_DOORBELL, 0x10800, 0x0000050a00001203, 8);
        add(recorder, 1020, CX_TRACE_WQE, 0x12, 5, 0x0a03, kSend);
        add(recorder, 1030, CX_TRACE_DMA, 0x1000, 60, 4 << 1);
        add(recorder, 1040, CX_TRACE_FRAME_OUT, 60, 0x12, 0, kFrame);
        add(recorder, 1050, CX_TRACE_COMPLETION, 7, 0, 5, good_cqe());
        add(recorder, 2000, CX_TRACE_WIRE, 60, 0, 0, kFrame);
        add(recorder, 2010, CX_TRACE_FRAME_IN, 60, 9, 0);
        cx_recorder_close(recorder);
        return file(name);
    }
    static std::string text_of(const std::string &path) {
        std::ifstream in(path, std::ios::binary);
        std::stringstream text;
        text << in.rdbuf();
        return text.str();
    }
    std::string written(const std::string &bytes) const {
        std::ofstream(file("b.record"), std::ios::binary) << bytes;
        return file("b.record");
    }
    test::TempFolder folder_;
};

std::vector<std::string> words(const std::vector<Event> &events) {
    std::vector<std::string> lines;
    for (const Event &event : events)
        lines.push_back(std::string(kind_of(event)) + " " + words_of(event));
    return lines;
}

TEST_F(RecordTest, IsReadAsItWasWritten) {
    auto opened = RecordFile::open(record());
    ASSERT_TRUE(opened.ok()) << opened.why();
    std::vector<RecordFile> files;
    files.push_back(opened.take());
    EXPECT_EQ(files[0].port(), "nic0");
    EXPECT_EQ(files[0].unix_ns(1040), 5'000'000'040u);
    auto events = read_all(files);
    ASSERT_TRUE(events.ok()) << events.why();
    EXPECT_FALSE(files[0].cut_off() || files[0].full());
    EXPECT_THAT(
        words(*events),
        ElementsAre("doorbell send at 0x10800: sq=0x12 wqe=5",
                    "wqe sq 0x12 wqe 5: wqe_index=5 opcode=send qpn=0x12 ds=3 ce=2 l4_csum=1 l3_csum=1 "
                    "byte_count=0x3c lkey=0x1234 address=0x1000",
                    "dma read payload 60 bytes at 0x1000",
                    "frame out of sq 0x12: 60 bytes 50:51:52:53:54:55 > ff:ff:ff:ff:ff:ff type 0x0806",
                    "cqe cq 0x7: qpn=0x12 wqe_counter=5 opcode=requester owner=1",
                    "frame from the wire: 60 bytes 50:51:52:53:54:55 > ff:ff:ff:ff:ff:ff type 0x0806",
                    "frame 60 bytes to rq 0x9"));
}

TEST_F(RecordTest, WordsOfEverythingElse) {
    auto one = [](cx_trace_event kind, u64 a, u64 b, u64 c, std::vector<u8> bytes = {}) {
        Event event{0, static_cast<u16>(kind), static_cast<u32>(bytes.size()), a, b, c, std::move(bytes)};
        return words_of(event);
    };
    std::vector<u8> output(16);
    output[0x0b] = 0x44;
    EXPECT_EQ(one(CX_TRACE_COMMAND, 0x102, 0, 3), "INIT_HCA [3]");
    EXPECT_EQ(one(CX_TRACE_COMMAND, 0x107, 1, 3), "QUERY_PAGES [3] op_mod=0x1");
    EXPECT_EQ(one(CX_TRACE_COMMAND_DONE, 0x400, 0, 0, output), "CREATE_CQ done number=0x44");
    EXPECT_EQ(one(CX_TRACE_COMMAND_DONE, 0x400, 3, 0x590001),
              "CREATE_CQ refused: bad_parameter syndrome=0x590001 (cq_commands: format)");
    EXPECT_EQ(one(CX_TRACE_COMMAND_DONE, 0x999, 0x77, 1), "UNKNOWN refused: ? syndrome=0x1");
    EXPECT_EQ(one(CX_TRACE_STATE, CX_SQ, 0x12, 1, {}), "sq 0x12 is ready");
    EXPECT_EQ(one(CX_TRACE_STATE, CX_PORT, 1, 1, {}), "port 0x1 is 1");
    EXPECT_EQ(one(CX_TRACE_STATE, 99, 1, 1, {}), "? 0x1 is 1");
    EXPECT_EQ(one(CX_TRACE_INTERRUPT, 3, 4, 0), "vector 3 of eq 0x4");
    EXPECT_EQ(one(CX_TRACE_DMA_FAULT, 0x1000, 64, 1), "DMA write of 64 bytes at 0x1000 faulted");
    EXPECT_EQ(one(CX_TRACE_DMA, 0x40, 8, 99 << 1 | 1), "write ? 8 bytes at 0x40");
    EXPECT_EQ(one(CX_TRACE_GUEST_ERROR, 0x18, 0, 0, {'b', 'a', 'd'}), "guest error: bad: 0x18");
    EXPECT_EQ(one(CX_TRACE_DOORBELL, 0x18, 1, 4), "command at 0x18: 0x1");
    EXPECT_EQ(one(CX_TRACE_DOORBELL, 0x10040, 0x03000005, 4), "arm EQ at 0x10040: eqn=3 ci=5");
    EXPECT_EQ(one(CX_TRACE_DOORBELL, 0x10020, 0x0000000500000007, 8), "arm CQ at 0x10020: ci=5 cqn=7");
    EXPECT_EQ(one(CX_TRACE_FRAME_IN, 60, 0, 1ull << 40), "60 bytes dropped: ?");
    EXPECT_THAT(one(CX_TRACE_EVENT, 4, 0, 0), StartsWith("eq 0x4:"));
}

TEST_F(RecordTest, SeveralCardsAreJoinedInTime) {
    std::vector<RecordFile> files;
    for (const char *name : {"a.record", "c.record"})
        files.push_back(RecordFile::open(record(name)).take());
    auto events = read_all(files);
    ASSERT_TRUE(events.ok());
    ASSERT_EQ(events->size(), 14u);
    for (size_t i = 1; i < events->size(); ++i)
        EXPECT_LE((*events)[i - 1].guest_ns, (*events)[i].guest_ns);
    EXPECT_EQ((*events)[0].port, 0u);
    EXPECT_EQ((*events)[1].port, 1u);
}

TEST_F(RecordTest, CutOffAtAnyByteItGivesWhatIsWhole) {
    // 48 bytes an event, and what belongs to it in units of 8.
    const std::set<size_t> kEnds = {64, 112, 208, 256, 368, 480, 592, 640};
    std::string whole = text_of(record());
    ASSERT_EQ(whole.size(), 640u);
    for (size_t length = 0; length < whole.size(); ++length) {
        auto opened = RecordFile::open(written(whole.substr(0, length)));
        if (length < 64) {
            EXPECT_THAT(opened.why(), HasSubstr("too short"));
            continue;
        }
        std::vector<RecordFile> files;
        files.push_back(opened.take());
        auto events = read_all(files);
        ASSERT_TRUE(events.ok()) << length << events.why();
        EXPECT_LT(events->size(), 7u);
        EXPECT_EQ(files[0].cut_off(), !kEnds.contains(length)) << length;
    }
}

TEST_F(RecordTest, ABrokenByteIsASentenceOrAnotherValue) {
    std::string whole = text_of(record());
    unsigned refused = 0;
    for (size_t at = 0; at < whole.size(); ++at) {
        std::string broken = whole;
        broken[at] = static_cast<char>(~broken[at]);
        auto opened = RecordFile::open(written(broken));
        if (!opened.ok()) {
            ++refused;
            continue;
        }
        std::vector<RecordFile> files;
        files.push_back(opened.take());
        if (auto events = read_all(files); events.ok())
            words(*events);
        else
            EXPECT_THAT(events.why(), HasSubstr("is damaged at byte"));
    }
    EXPECT_EQ(refused, 16u); // magic, version, length of the header
}

TEST_F(RecordTest, WhatIsNoRecordIsSaidInOneSentence) {
    EXPECT_THAT(RecordFile::open(file("none")).why(), HasSubstr("cannot open"));
    EXPECT_THAT(RecordFile::open(written(std::string(100, 'x'))).why(), HasSubstr("not a record of a card"));
    std::string later = text_of(record());
    later[8] = 2;
    EXPECT_THAT(RecordFile::open(written(later)).why(), HasSubstr("version 2"));
    char error[256] = "";
    EXPECT_EQ(cx_recorder_open("/nonexistent/x", "nic0", 0, 0, error, sizeof error), nullptr);
    EXPECT_STREQ(error, "cannot record to '/nonexistent/x': No such file or directory");
}

TEST_F(RecordTest, AReaderFollowsWhatTheCardWrites) {
    char error[256];
    cx_recorder *recorder = cx_recorder_open(file("x").c_str(), "nic1", 0, 0, error, sizeof error);
    auto opened = RecordFile::open(file("x"));
    ASSERT_TRUE(opened.ok()) << opened.why();
    RecordFile reader = opened.take();
    EXPECT_FALSE(reader.next().take().has_value());
    add(recorder, 1, CX_TRACE_INTERRUPT, 3, 4, 0);
    cx_recorder_flush(recorder);
    auto event = reader.next();
    ASSERT_TRUE(event.ok() && event->has_value());
    EXPECT_EQ((*event)->a, 3u);
    EXPECT_FALSE(reader.next().take().has_value());
    cx_recorder_close(recorder);
}

// What does not fit is cut; the length is kept.
TEST_F(RecordTest, LongBytesAreCut) {
    char error[256];
    cx_recorder *recorder = cx_recorder_open(file("x").c_str(), "nic1", 0, 0, error, sizeof error);
    add(recorder, 1, CX_TRACE_COMMAND, 0x100, 0, 0, std::vector<u8>(100'000, 0xaa));
    cx_recorder_close(recorder);
    RecordFile reader = RecordFile::open(file("x")).take();
    auto event = reader.next().take();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->length, 100'000u);
    EXPECT_EQ(event->bytes.size(), 65536u);
}

u32 word(const std::string &bytes, size_t at) {
    u32 value;
    std::memcpy(&value, bytes.data() + at, 4);
    return value;
}

// Section header of 28 bytes, interface of 20 + 8 ("nic0") + 8 (resolution) + 4, then a packet each way.
TEST_F(RecordTest, FramesBecomePacketsWithComments) {
    std::vector<RecordFile> files;
    files.push_back(RecordFile::open(record()).take());
    auto events = read_all(files);
    auto count = write_pcapng(file("x.pcapng"), files, *events);
    ASSERT_TRUE(count.ok()) << count.why();
    EXPECT_EQ(*count, 2u);
    std::string bytes = text_of(file("x.pcapng"));
    EXPECT_EQ(word(bytes, 0), 0x0a0d0d0au);
    EXPECT_EQ(word(bytes, 4), 28u);
    EXPECT_EQ(word(bytes, 8), 0x1a2b3c4du);
    EXPECT_EQ(word(bytes, 24), 28u);
    EXPECT_EQ(word(bytes, 28), 1u);
    EXPECT_EQ(word(bytes, 32), 40u);
    EXPECT_EQ(bytes.substr(28 + 20, 4), "nic0");
    size_t packet = 28 + 40;
    EXPECT_EQ(word(bytes, packet), 6u);
    EXPECT_EQ(u64{word(bytes, packet + 12)} << 32 | word(bytes, packet + 16), 5'000'000'040u);
    EXPECT_EQ(word(bytes, packet + 20), 60u);
    EXPECT_EQ(word(bytes, packet + 24), 60u);
    EXPECT_EQ(bytes.substr(packet + 28, 60), std::string(kFrame.begin(), kFrame.end()));
    EXPECT_THAT(bytes, HasSubstr("sq 0x12 wqe 5: wqe_index=5 opcode=send"));
    EXPECT_THAT(bytes, HasSubstr("60 bytes to rq 0x9"));
    size_t second = packet + word(bytes, packet + 4);
    EXPECT_EQ(word(bytes, second - 4), word(bytes, packet + 4));
    EXPECT_EQ(second + word(bytes, second + 4), bytes.size());
    EXPECT_EQ(word(bytes, second - 12), 2u);       // outbound
    EXPECT_EQ(word(bytes, bytes.size() - 12), 1u); // inbound
    EXPECT_THAT(write_pcapng("/nonexistent/x", files, *events).why(), HasSubstr("cannot write"));
}

} // namespace
} // namespace niclab::trace
