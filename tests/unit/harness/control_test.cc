// SPDX-License-Identifier: GPL-2.0-or-later
// Orders between niclab processes.
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "niclab/control.h"
#include "support/temp_folder.h"

namespace niclab {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ControlTest : public ::testing::Test {
  protected:
    void SetUp() override {
        auto started = ControlServer::start(socket(), [this](const json &order, const Say &say) -> Status {
            ++orders_;
            for (int i = 0; i < order.value("lines", 0); ++i)
                say("line " + std::to_string(i));
            return order.contains("fail") ? Status(Error{order.value("fail", "")}) : Status();
        });
        ASSERT_TRUE(started.ok()) << started.why();
        server_ = started.take();
    }
    void TearDown() override { server_.reset(); }
    std::string socket() const { return folder_.path() / "control"; }
    Status order(const json &what) {
        said_.clear();
        return send_order(socket(), what, [this](const std::string &line) { said_.push_back(line); });
    }
    /// A client of the test's own, which says `bytes` and perhaps does not wait for an answer.
    std::string say_raw(const std::string &bytes, bool wait) const {
        int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket().copy(address.sun_path, sizeof address.sun_path - 1);
        EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
        EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
        shutdown(fd, SHUT_WR);
        std::string text;
        char buffer[512];
        for (ssize_t n; wait && (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
            text.append(buffer, static_cast<size_t>(n));
        close(fd);
        return text;
    }

    test::TempFolder folder_;
    std::unique_ptr<ControlServer> server_;
    std::atomic<int> orders_ = 0;
    std::vector<std::string> said_;
};

TEST_F(ControlTest, AnOrderIsCarriedOutAndItsProgressArrives) {
    Status done = order({{"lines", 3}});
    EXPECT_TRUE(done.ok()) << done.why();
    EXPECT_THAT(said_, ElementsAre("line 0", "line 1", "line 2"));
    EXPECT_EQ(orders_, 1);
}

TEST_F(ControlTest, AFailureKeepsItsWords) {
    EXPECT_EQ(order({{"fail", "the driver does not load: \"no\"\nwhy"}, {"lines", 1}}).why(),
              "the driver does not load: \"no\"\nwhy");
    EXPECT_THAT(said_, ElementsAre("line 0"));
}

TEST_F(ControlTest, WhatIsNoOrderIsAnsweredAndCarriesNothingOut) {
    for (const char *bytes : {"nonsense\n", "[1]\n", "\n", "{\"half\":", ""})
        EXPECT_THAT(say_raw(bytes, /*wait=*/true), HasSubstr("\"error\"")) << bytes;
    EXPECT_EQ(orders_, 0);
}

TEST_F(ControlTest, AnOrderWithValuesOfOtherTypesIsAnsweredAndTheNextOneCarriedOut) {
    EXPECT_THAT(order({{"lines", "three"}}).why(), HasSubstr("not understood"));
    EXPECT_THAT(order({{"fail", {1, 2}}}).why(), HasSubstr("not understood"));
    EXPECT_TRUE(order({{"lines", 1}}).ok());
}

TEST_F(ControlTest, AClientThatLeavesDoesNoHarm) {
    say_raw("{\"lines\": 10000}\n", /*wait=*/false);
    EXPECT_TRUE(order({{"lines", 1}}).ok());
    EXPECT_EQ(orders_, 2);
}

TEST_F(ControlTest, NobodyListeningIsSaid) {
    server_.reset();
    EXPECT_THAT(order(json::object()).why(), HasSubstr("nobody listens at " + socket()));
}

TEST_F(ControlTest, APathThatIsTooLongIsRefused) {
    EXPECT_THAT(send_order("/" + std::string(200, 'x'), json::object(), [](const std::string &) {}).why(),
                HasSubstr("too long"));
}

TEST(LiveVms, AnAnnouncedVmIsFoundWithItsKernelAndFolder) {
    auto socket = announce("6.12", "/some/run");
    ASSERT_TRUE(socket.ok()) << socket.why();
    std::vector<LiveVm> found;
    for (const LiveVm &vm : live_vms())
        if (vm.pid == getpid()) found.push_back(vm);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kernel, "6.12");
    EXPECT_EQ(found[0].run_folder, "/some/run");
    EXPECT_EQ(found[0].socket, *socket);
}

} // namespace
} // namespace niclab
