// SPDX-License-Identifier: GPL-2.0-or-later
// The network driver tests of the kernel's own source, run against the stock driver on our card: two joined
// ports, one in namespace a, the other, which the tests call the remote end, in b.
#include <map>
#include <memory>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "niclab/artifacts.h"
#include "niclab/guest.h"

namespace niclab {
namespace {

using namespace std::chrono_literals;

/// A program of tools/testing/selftests/drivers/net.
struct Program {
    const char *path;
    bool both_ports = false; ///< it takes the names of two joined interfaces of one namespace
    /// Cases that do not pass, and what is missing where. All others must.
    std::map<std::string, std::string> not_passing = {};
    const char *why_not = nullptr; ///< why the program says nothing about the card
};

const Program kPrograms[] = {
    {.path = "ping.py"},
    {.path = "queues.py"},
    {.path = "stats.py"},
    {.path = "hw/csum.py"},
    {.path = "hw/pp_alloc_fail.py",
     .why_not = "wants 15 000 packets a second, which an emulated processor does not give"},
    {.path = "hw/rss_ctx.py", .why_not = "Debian's ethtool prints no JSON for -x and -c"},
    {.path = "hw/devlink_port_split.py", .why_not = "the card has no port that can be split"},
    {.path = "hw/ethtool.sh",
     .both_ports = true,
     .not_passing = {{"force of different speeds autoneg off",
                      "the wire of QEMU carries no speed: the link stays up"}}},
    {.path = "hw/ethtool_extended_state.sh",
     .why_not = "the wire of QEMU carries no link state: the link stays up"},
    {.path = "hw/ethtool_mm.sh", .why_not = "Debian's ethtool knows no MAC merge layer"},
    {.path = "hw/ethtool_rmon.sh",
     .both_ports = true,
     .not_passing = {{"eth0 does not support tx histogram counters", "the stock driver reports none"},
                     {"peer0 does not support tx histogram counters", "the stock driver reports none"}}},
    {.path = "hw/hw_stats_l3.sh", .why_not = "wants four joined ports and a switch"},
    {.path = "hw/hw_stats_l3_gre.sh", .why_not = "wants four joined ports and a switch"},
    {.path = "hw/loopback.sh", .why_not = "the stock driver has no loopback feature"},
};

void PrintTo(const Program &program, std::ostream *out) { *out << program.path; }

constexpr const char *kGuestOfA = "peer0";
constexpr const char *kFolder = "/selftests/tools/testing/selftests/drivers/net";

/// Verdict of each case: "pass", "fail", "skip ..." or "xfail ...". Python programs speak KTAP, shell
/// programs print a line "TEST: name   [ OK ]" for each.
std::map<std::string, std::string> verdicts(const std::string &output) {
    static const std::regex ktap(R"(^(not )?ok \d+ (\S+)( # (SKIP|XFAIL).*)?$)");
    static const std::regex table(R"(^TEST: (.*\S)\s+\[\s*(\w+)\s*\]$)");
    std::map<std::string, std::string> found;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        std::smatch m;
        if (std::regex_match(line, m, ktap))
            found[m[2]] = m[1].matched ? "fail" : m[4].matched ? m[3].str().substr(3) : "pass";
        else if (std::regex_match(line, m, table))
            found[m[1]] = m[2] == "OK" ? "pass" : m[2] == "FAIL" ? "fail" : m[2].str();
    }
    return found;
}

class SelfTests : public testing::TestWithParam<Program> {
  protected:
    static void SetUpTestSuite() {
        auto folder = RunFolder::create("selftests");
        ASSERT_TRUE(folder.ok()) << folder.why();
        auto tests = kernel_selftests("6.12");
        ASSERT_TRUE(tests.ok()) << tests.why();
        VmSpec spec = two_connectx_ports("6.12");
        spec.archives = {*tests + "/selftests.cpio"};
        auto booted = Vm::boot(spec, *folder);
        ASSERT_TRUE(booted.ok()) << booted.why();
        vm_ = std::make_unique<Vm>(booted.take());
        guest_ = std::make_unique<Guest>(*vm_);
        Status ready = guest_->prepare();
        if (ready.ok()) ready = guest_->connect("mlx5_core");
        if (ready.ok()) ready = guest_->mark();
        ASSERT_TRUE(ready.ok()) << ready.why();
    }
    static void TearDownTestSuite() {
        guest_.reset();
        vm_.reset();
    }

    void SetUp() override { ASSERT_TRUE(guest_) << "the guest did not boot"; }
    void TearDown() override {
        if (!guest_) return;
        if (Status clean = guest_->expect_clean(); !clean.ok()) ADD_FAILURE() << clean.why();
    }

    static std::string script(const Program &program) {
        std::string path = fmt::format("{}/{}", kFolder, program.path);
        std::string text = fmt::format("cd {}\n", path.substr(0, path.rfind('/')));
        std::string a = guest_->interface(Side::a), b = guest_->interface(Side::b);
        if (program.both_ports) return text + fmt::format("exec bash {} {} {} 2>&1\n", path, a, kGuestOfA);
        return text + fmt::format("export NETIF={} LOCAL_V4={} REMOTE_V4={} LOCAL_V6={} REMOTE_V6={}\n"
                                  "export REMOTE_TYPE=netns REMOTE_ARGS=b REMOTE_IFNAME={}\n"
                                  "exec python3 {} 2>&1\n",
                                  a, Guest::address(Side::a), Guest::address(Side::b),
                                  Guest::address(Side::a, true), Guest::address(Side::b, true), b, path);
    }
    /// Moves the port of side b between namespaces; in a it is called kGuestOfA, since a has an eth0 of its
    /// own.
    static void move_port(const char *from, const std::string &name, const char *to,
                          const std::string &new_name) {
        auto moved = vm_->script(
            fmt::format("ip -n {0} link set dev {1} down && ip -n {0} link set dev {1} netns {2} name {3}",
                        from, name, to, new_name),
            10s);
        ASSERT_TRUE(moved.ok()) << moved.why();
        ASSERT_TRUE(moved->ok()) << moved->err;
    }
    static void restore() {
        for (Side side : {Side::a, Side::b}) {
            Status up = guest_->set_up(side);
            if (up.ok()) up = guest_->wait_link(side);
            ASSERT_TRUE(up.ok()) << up.why();
        }
    }

    static std::string surprises(const Program &program);

    static inline std::unique_ptr<Vm> vm_;
    static inline std::unique_ptr<Guest> guest_;
};

/// Runs the program; the cases that did not end as they should, with its output, or an empty text.
std::string SelfTests::surprises(const Program &program) {
    std::string b = guest_->interface(Side::b);
    if (program.both_ports) move_port("b", b, "a", kGuestOfA);
    auto ended = guest_->script(Side::a, script(program), 300s);
    if (program.both_ports) move_port("a", kGuestOfA, "b", b);
    restore();
    if (!ended.ok()) return ended.why();
    auto found = verdicts(ended->out);
    if (found.empty()) return "no case ran:\n" + ended->out;
    std::string text;
    // A program that broke off has fewer cases than it should.
    if (program.not_passing.empty() && !ended->ok()) text = fmt::format("status {}\n", ended->exit_code);
    for (const auto &[name, verdict] : found)
        if ((verdict == "pass") == program.not_passing.contains(name))
            text += fmt::format("{}: {}\n", name, verdict);
    return text.empty() ? text : text + ended->out;
}

// The programs have time limits of their own, which a busy machine breaks: each has a second chance.
TEST_P(SelfTests, EveryCasePasses) {
    const Program &program = GetParam();
    if (program.why_not) GTEST_SKIP() << program.why_not;
    std::string wrong = surprises(program);
    if (!wrong.empty()) wrong = surprises(program);
    EXPECT_EQ(wrong, "");
}

INSTANTIATE_TEST_SUITE_P(Kernel612, SelfTests, testing::ValuesIn(kPrograms), [](const auto &program) {
    std::string name = program.param.path;
    for (char &c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

} // namespace
} // namespace niclab
