// SPDX-License-Identifier: GPL-2.0-or-later
// What a card did last, written and read again.
#include "niclab/trace/recent_file.h"

#include <fstream>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectx/recent.h"
#include "support/temp_folder.h"
#include "unit/model/bytes.h"

namespace niclab::trace {
namespace {

using testing::HasSubstr;

class RecentTest : public testing::Test {
  protected:
    void SetUp() override {
        char error[256] = "";
        recent_ = cx_recent_open(path().c_str(), "nic1", error, sizeof error);
        ASSERT_NE(recent_, nullptr) << error;
    }
    void TearDown() override {
        if (recent_) cx_recent_close(recent_);
    }
    std::string path() const { return folder_.path() / "nic1.recent"; }
    void add(u64 ns, cx_trace_event kind, u64 a, u64 b, u64 c, const std::vector<u8> &bytes = {}) {
        cx_recent_add(recent_, ns, kind, a, b, c, bytes.data(), bytes.size());
    }
    Recent read() {
        auto result = read_recent(path());
        EXPECT_TRUE(result.ok()) << result.why();
        return result.ok() ? result.take() : Recent();
    }

    test::TempFolder folder_;
    cx_recent *recent_ = nullptr;
};

TEST_F(RecentTest, IsEmptyAtFirst) {
    Recent recent = read();
    EXPECT_EQ(recent.port, "nic1");
    EXPECT_TRUE(recent.commands.empty() && recent.queues.empty() && recent.events.empty());
    EXPECT_EQ(words_of(recent, 8), "");
}

TEST_F(RecentTest, TrafficDoesNotPushOutCommandsAndFramesAreNotKept) {
    add(10, CX_TRACE_COMMAND, 0x904, 0, 1);
    for (u64 i = 0; i < 1000; ++i) {
        add(100 + i, CX_TRACE_COMPLETION, 7, 0, i, test::good_cqe());
        add(100 + i, CX_TRACE_FRAME_OUT, 60, 7, 0, std::vector<u8>(60));
        add(100 + i, CX_TRACE_DMA, 0x1000, 60, 8);
    }
    add(2000, CX_TRACE_GUEST_ERROR, 5, 0, 0, {'b', 'a', 'd'});
    Recent recent = read();
    ASSERT_EQ(recent.commands.size(), 1u);
    EXPECT_EQ(recent.commands[0].a, 0x904u);
    ASSERT_EQ(recent.queues.size(), size_t{CX_RECENT_SLOTS});
    EXPECT_EQ(recent.queues.front().c, 1000u - CX_RECENT_SLOTS);
    EXPECT_EQ(recent.queues.back().c, 999u);
    EXPECT_EQ(recent.queues.back().bytes, test::good_cqe());
    ASSERT_EQ(recent.events.size(), 1u);
    std::string words = words_of(recent, 2);
    EXPECT_THAT(words, HasSubstr("CREATE_SQ"));
    EXPECT_THAT(words, HasSubstr("bad"));
}

TEST_F(RecentTest, OutlivesTheWriterAndKeepsTheBeginningOfLongInput) {
    add(1, CX_TRACE_COMMAND_DONE, 0x100, 0, 0, std::vector<u8>(5000, 0xa5));
    cx_recent_close(std::exchange(recent_, nullptr));
    Recent recent = read();
    ASSERT_EQ(recent.commands.size(), 1u);
    EXPECT_EQ(recent.commands[0].length, 5000u);
    EXPECT_EQ(recent.commands[0].bytes, std::vector<u8>(CX_RECENT_BYTES, 0xa5));
    EXPECT_THAT(words_of(recent, 1), HasSubstr("QUERY_HCA_CAP"));
}

TEST_F(RecentTest, AnotherFileIsRefused) {
    std::string other = folder_.path() / "other";
    EXPECT_FALSE(read_recent(other).ok());
    std::ofstream(other) << std::string(64 + 3 * CX_RECENT_SLOTS * 256, 'x');
    EXPECT_THAT(read_recent(other).why(), HasSubstr("other bytes"));
}

TEST_F(RecentTest, AKindThatDoesNotExistIsDamage) {
    add(1, CX_TRACE_COMMAND, 0x100, 0, 0);
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(64 + 16);
    file.put('\x7f');
    file.close();
    EXPECT_THAT(read_recent(path()).why(), HasSubstr("no event of kind 127"));
}

TEST(Recent, AFolderThatIsNotThereIsNamed) {
    char error[256] = "";
    EXPECT_EQ(cx_recent_open("/nowhere/at/all", "nic0", error, sizeof error), nullptr);
    EXPECT_THAT(error, HasSubstr("/nowhere/at/all"));
}

} // namespace
} // namespace niclab::trace
