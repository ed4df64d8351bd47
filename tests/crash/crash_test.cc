// SPDX-License-Identifier: GPL-2.0-or-later
// A kernel module does wrong on request: what is said about it, and what a debugger sees.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/gdb_script.h"
#include "niclab/guest.h"
#include "niclab/paths.h"
#include "niclab/process.h"

namespace niclab {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char *kSource = "tests/crash/niclab_crash.c";

template <class T>
T need(Result<T> result) {
    if (!result.ok()) throw std::runtime_error(result.why());
    return result.take();
}

std::string line_of(const std::string &mark) {
    std::ifstream source(source_root() / kSource);
    std::string text;
    for (int line = 1; std::getline(source, text); ++line)
        if (text.find(mark) != std::string::npos) return fmt::format("niclab_crash.c:{}", line);
    throw std::runtime_error("no line is marked with " + mark);
}

class Crash : public testing::TestWithParam<std::string> {
  protected:
    static std::string module() {
        ProcessOptions options;
        options.limit = 10min;
        auto built = need(run_process({(source_root() / "tests/crash/build").string(), GetParam()}, options));
        if (built.exit_code != 0) throw std::runtime_error(built.err);
        return built.out.substr(0, built.out.find('\n'));
    }
    static VmSpec machine() {
        VmSpec spec = two_connectx_ports(GetParam());
        spec.gdb = true;
        spec.files.push_back({module(), "/niclab/niclab_crash.ko", 0644});
        return spec;
    }
    /// Has the module do wrong, and gives what is said about it.
    static std::string report_of(Vm &vm, const std::string &order) {
        size_t from = vm.console_size();
        (void)need(vm.script("echo " + order + " >/sys/kernel/debug/niclab_crash", 60s));
        need(vm.until("the report's end", 60s, [&]() -> Result<bool> {
            return vm.console(from).find("---[ end trace") != std::string::npos;
        }));
        return vm.crash_report(from);
    }
};

/// The report names the fault first, with its line and fingerprint, and then what the cards did.
void expect_report(const std::string &report, const std::string &headline, const std::string &source,
                   const std::string &fingerprint) {
    EXPECT_THAT(report, StartsWith(headline));
    EXPECT_THAT(report, HasSubstr(source));
    EXPECT_THAT(report, HasSubstr("fingerprint: " + fingerprint));
    for (const char *card : {"card nic0\n", "card nic1\n"})
        EXPECT_THAT(report, HasSubstr(card));
    EXPECT_THAT(report, HasSubstr("last commands\n"));
    EXPECT_THAT(report, HasSubstr("last doorbells, WQEs and completions\n"));
    EXPECT_THAT(report, HasSubstr(" done"));
}

// gdb tells a line of .text from one of .init.text only behind the end of the latter: both start at the
// file's 0.
void expect_debugger(Vm &vm) {
    (void)need(write_gdb_script(vm));
    ProcessOptions options;
    options.limit = 2min;
    auto shown =
        need(run_process({"gdb", "-nx", "-batch", "-x", vm.run_folder().file("gdb.script").string(), "-ex",
                          "info line niclab_crash_write", "-ex", "p $rip != 0", "-ex", "detach"},
                         options));
    EXPECT_THAT(shown.out, HasSubstr("niclab_crash.c\" starts at address")) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("<niclab_crash_write"));
    EXPECT_THAT(shown.out, HasSubstr("$1 = 1"));
    EXPECT_TRUE(need(vm.run({"true"}, 60s)).ok()) << "the guest does not go on";
}

TEST_P(Crash, IsToldWithSourceFingerprintAndWhatTheCardsDid) {
    RunFolder run = need(RunFolder::create("crash-" + GetParam()));
    {
        Vm vm = need(Vm::boot(machine(), run));
        Guest guest(vm);
        need(guest.prepare());
        need(guest.connect("mlx5_core"));
        EXPECT_EQ(vm.crash_report(), "");
        ASSERT_TRUE(need(vm.run({"insmod", "/niclab/niclab_crash.ko"}, 60s)).ok());
        expect_debugger(vm);
        expect_report(report_of(vm, "warn"), "warning: WARNING: CPU: ", line_of("the line of warn"),
                      "warning: niclab_crash_warn < niclab_crash_write");
        expect_report(report_of(vm, "words"), "warning: niclab_crash: in so many words\n",
                      "niclab_crash.c:", "warning: niclab_crash_words < niclab_crash_write");
        expect_report(report_of(vm, "oops"), "oops: BUG: kernel NULL pointer dereference",
                      line_of("the line of oops"), "oops: niclab_crash_oops < niclab_crash_write");
    }
    auto kept = nlohmann::json::parse(need(read_file(run.file("complaints.json"))));
    ASSERT_EQ(kept.size(), 3u);
    EXPECT_THAT(kept[2].value("fingerprint", ""), StartsWith("oops: niclab_crash_oops < "));
}

INSTANTIATE_TEST_SUITE_P(Kernels, Crash, testing::Values("6.1", "6.12"),
                         [](const auto &each) { return each.param == "6.1" ? "linux_6_1" : "linux_6_12"; });

} // namespace
} // namespace niclab
