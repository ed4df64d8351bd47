// SPDX-License-Identifier: GPL-2.0-or-later
// What the cards record of the stock driver's bring-up and traffic, and the file of frames made of it, which
// another program reads.
#include <algorithm>

#include <fmt/format.h>

#include "connectx/cx_core.h"
#include "niclab/card_record.h"
#include "niclab/trace/pcapng.h"
#include "niclab/trace/words.h"
#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

using trace::Event;
using trace::RecordFile;

class Record : public Scenario {
  protected:
    /// All that both cards do while `work` runs.
    std::vector<Event> record(const std::function<void()> &work) {
        auto paths = need(start_recording(vm()));
        work();
        need(stop_recording(vm()));
        files_.clear();
        for (const auto &path : paths)
            files_.push_back(need(RecordFile::open(path)));
        return need(trace::read_all(files_));
    }
    /// How many frames of the file the guest's tcpdump finds by a filter; lines behind the first are
    /// indented.
    size_t listed(const std::string &filter) {
        return std::stoul(run(Side::a, "tcpdump -Z root -nn -r /tmp/frames.pcapng " + filter +
                                           " 2>/tmp/why | grep -cv '^[[:space:]]' || cat /tmp/why"));
    }
    std::vector<RecordFile> files_;
};

bool says(const std::vector<Event> &events, const std::string &kind, const std::string &words) {
    return std::any_of(events.begin(), events.end(), [&](const Event &event) {
        return trace::kind_of(event) == kind && trace::words_of(event).find(words) != std::string::npos;
    });
}

/// Frames of the wire with the experimental type.
size_t marked(const std::vector<Event> &events, cx_trace_event kind, size_t port) {
    return static_cast<size_t>(std::count_if(events.begin(), events.end(), [&](const Event &event) {
        return event.kind == kind && event.port == port && event.bytes.size() > 13 &&
               event.bytes[12] == 0x88 && event.bytes[13] == 0xb5;
    }));
}

TEST_F(Record, HoldsTheCommandsOfABringUp) {
    auto events = record([&] { need(lab().repair()); });
    for (const char *command :
         {"ENABLE_HCA [", "QUERY_HCA_CAP [", "MANAGE_PAGES [", "INIT_HCA [", "CREATE_EQ [", "CREATE_CQ [",
          "CREATE_SQ [", "CREATE_RQ [", "MODIFY_SQ [", "CREATE_TIR ["})
        EXPECT_TRUE(says(events, "command", command)) << command;
    EXPECT_TRUE(says(events, "command", "CREATE_SQ done number="));
    EXPECT_TRUE(says(events, "eqe", "type=command"));
    EXPECT_TRUE(says(events, "interrupt", "vector 0"));
    EXPECT_FALSE(says(events, "command", "UNKNOWN"));
    expect_ping();
}

TEST_F(Record, JoinsWqeFrameAndCompletionAndTcpdumpCountsTheSame) {
    auto silence = quiet();
    constexpr unsigned kFrames = 5;
    Bytes frame = padded(ethernet(kBroadcast, kLocalExperimental, pattern(100, 1)));
    std::uint64_t before = card_counter(Side::b, "rx_frames");
    auto events = record([&] {
        need(guest().send_frame(Side::a, hex(frame), {.count = kFrames}));
        need(vm().until("the frames to be received", 20s, [&]() -> Result<bool> {
            return card_counter(Side::b, "rx_frames") - before >= kFrames;
        }));
    });
    EXPECT_EQ(marked(events, CX_TRACE_FRAME_OUT, 0), kFrames);
    EXPECT_EQ(marked(events, CX_TRACE_WIRE, 1), kFrames);
    EXPECT_TRUE(says(events, "wqe", "byte_count="));
    EXPECT_TRUE(says(events, "cqe", "opcode=responder_send"));
    EXPECT_TRUE(says(events, "frame", "to rq "));
    EXPECT_TRUE(says(events, "dma", "read payload"));
    EXPECT_TRUE(says(events, "doorbell", "send at"));

    std::string file = vm().run_folder().file("frames.pcapng");
    size_t packets = need(trace::write_pcapng(file, files_, events));
    need(vm().put_file(file, "/tmp/frames.pcapng"));
    EXPECT_EQ(listed(""), packets);
    EXPECT_EQ(listed("ether proto 0x88b5"), 2 * kFrames);
    EXPECT_EQ(listed(fmt::format("ether proto 0x88b5 and greater {0} and less {0}", frame.size())),
              2 * kFrames);
}

TEST_F(Record, AFileThatCannotBeMadeIsRefusedAndNothingElseHappens) {
    auto refused =
        vm().qmp("qom-set",
                 {{"path", "/machine/peripheral/nic0"}, {"property", "record"}, {"value", "/nonexistent/x"}});
    EXPECT_NE(refused.why().find("cannot record to '/nonexistent/x'"), std::string::npos) << refused.why();
    expect_ping();
}

} // namespace
} // namespace niclab::scenarios
