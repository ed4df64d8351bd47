// SPDX-License-Identifier: GPL-2.0-or-later
// What `niclab doctor` says of machines that are made up here.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "niclab/doctor/checks.h"
#include "niclab/space.h"
#include "support/temp_folder.h"

namespace niclab::doctor {
namespace {

constexpr uid_t kOrdinary = 65534;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

auto says(Verdict verdict, const std::string &text, const std::string &remedy = "") {
    return AllOf(Field(&Finding::verdict, verdict), Field(&Finding::text, HasSubstr(text)),
                 Field(&Finding::remedy, HasSubstr(remedy)));
}

/// A Debian 12 machine with everything in place; each test breaks one thing.
class DoctorTest : public ::testing::Test {
  protected:
    void SetUp() override {
        write("/etc/os-release",
              "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_ID=\"12\"\n");
        write("/etc/passwd",
              "root:x:0:0:root:/root:/bin/bash\nlibvirt-qemu:x:64055:109::/:/usr/sbin/nologin\n");
        write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
        write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: x\n\nprocessor\t: 1\n");
        write("/proc/loadavg", "0.50 0.40 0.30 1/100 1234\n");
        write("/dev/kvm", "");
        write("/usr/share/seabios/bios-256k.bin", "");
        write("/usr/share/qemu/pvh.bin", "");
        write("/clone/harness/host/packages.txt", "# why\none\n\ntwo # with a reason\n");
        write("/var/lib/dpkg/status", installed("one") + installed("two"));
        host_.root = root_.path();
        host_.source = host_.at("/clone");
        host_.cache = host_.at("/cache");
        host_.runs = host_.at("/runs");
        host_.temporary = host_.at("/tmp");
        host_.home = host_.at("/home");
        for (const fs::path &folder : {host_.cache, host_.runs, host_.temporary, host_.home})
            fs::create_directories(folder);
        host_.state = make_state();
        host_.user = geteuid();
        host_.locale = "C";
        host_.acceleration = [] { return AccelVerdict{Accel::kvm, "a probe guest booted with KVM"}; };
        host_.libvirt = [] { return std::string("9.0.0"); };
        host_.free_bytes = [](const fs::path &) { return 50 * kGib; };
    }
    fs::path make_state() {
        fs::create_directories(host_.at("/state"));
        return host_.at("/state");
    }
    void write(const std::string &path, const std::string &text) {
        fs::path file = root_.path() / path.substr(1);
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    static std::string installed(const std::string &name) {
        return "Package: " + name + "\nStatus: install ok installed\nVersion: 1\n\n";
    }

    test::TempFolder root_;
    Host host_;
};

TEST_F(DoctorTest, AMachineWithEverythingInPlaceIsWell) {
    for (const Finding &finding : check_all(host_))
        EXPECT_EQ(finding.verdict, Verdict::ok) << finding.subject << ": " << finding.text;
}

TEST_F(DoctorTest, AnotherDistributionIsNamed) {
    write("/etc/os-release", "ID=fedora\nVERSION_ID=40\n");
    EXPECT_THAT(check_system(host_), ElementsAre(says(Verdict::bad, "fedora 40", "Debian 12")));
}

TEST_F(DoctorTest, MissingPackagesAreNamedWithTheCommandThatInstallsThem) {
    write("/var/lib/dpkg/status", installed("two-and-more") +
                                      "Package: two\nStatus: deinstall ok config-files\n\n" +
                                      installed("three"));
    host_.user = 1000;
    EXPECT_THAT(check_packages(host_),
                ElementsAre(says(Verdict::bad, "2 missing: one two",
                                 "as root: apt-get install --no-install-recommends one two")));
    host_.user = 0;
    EXPECT_THAT(check_packages(host_),
                ElementsAre(Field(&Finding::remedy, testing::StartsWith("apt-get install"))));
}

TEST_F(DoctorTest, LittleMemoryIsBad) {
    write("/proc/meminfo", "MemTotal: 4194304 kB\nMemAvailable: 1048576 kB\n");
    EXPECT_THAT(check_memory(host_), ElementsAre(says(Verdict::bad, "1.0 of 4.0 GiB", "2 GiB")));
    write("/proc/meminfo", "");
    EXPECT_THAT(check_memory(host_), ElementsAre(says(Verdict::warn, "does not say")));
}

TEST_F(DoctorTest, ABusyMachineAndASingleProcessorAreWarnedOf) {
    write("/proc/loadavg", "4.50 1 1 1/1 1\n");
    EXPECT_THAT(check_processors(host_),
                ElementsAre(says(Verdict::warn, "2 CPUs with a load of 4.5", "wait")));
    write("/proc/loadavg", "0.10 1 1 1/1 1\n");
    write("/proc/cpuinfo", "processor\t: 0\n");
    EXPECT_THAT(check_processors(host_), ElementsAre(says(Verdict::warn, "1 CPUs", "second CPU")));
}

TEST_F(DoctorTest, EachFolderIsMeasuredByWhatIsPutThere) {
    host_.free_bytes = [](const fs::path &) { return 5 * kGib; };
    EXPECT_THAT(check_disk(host_),
                Contains(says(Verdict::bad, "the cache", "NICLAB_CACHE"))); // nothing is built yet
    fs::create_directories(host_.cache / "qemu/programs/0123");
    EXPECT_FALSE(any_bad(check_disk(host_)));
    host_.free_bytes = [](const fs::path &) { return 100 * kMib; };
    Findings all = check_disk(host_);
    ASSERT_EQ(all.size(), 4u);
    for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(all[i].verdict, Verdict::bad) << all[i].text;
    EXPECT_EQ(all[3].verdict, Verdict::ok) << all[3].text; // sockets are small
}

TEST_F(DoctorTest, WithoutKvmGuestsAreEmulatedAndTheCauseIsToldApart) {
    host_.acceleration = [] {
        return AccelVerdict{Accel::tcg, "a probe guest did not boot with KVM: silence"};
    };
    EXPECT_THAT(check_acceleration(host_),
                ElementsAre(says(Verdict::warn, "opens but does not run a guest", "dmesg")));
    host_.acceleration = []() -> Result<AccelVerdict> { return Error{"QEMU is not built yet"}; };
    EXPECT_THAT(check_acceleration(host_), ElementsAre(says(Verdict::ok, "QEMU is not built yet")));
    fs::remove(host_.at("/dev/kvm"));
    EXPECT_THAT(check_acceleration(host_), ElementsAre(says(Verdict::warn, "no /dev/kvm", "modprobe")));
}

TEST_F(DoctorTest, LibvirtsOwnWordsAreKept) {
    host_.libvirt = []() -> Result<std::string> {
        return Error{"libvirt's embedded QEMU driver does not start: x"};
    };
    fs::remove(host_.at("/usr/share/qemu/pvh.bin"));
    EXPECT_THAT(check_libvirt(host_), ElementsAre(says(Verdict::bad, "pvh.bin", "qemu-system-data"),
                                                  says(Verdict::bad, "does not start: x", "apt-get")));
}

TEST_F(DoctorTest, NothingIsBootedOnAMachineThatIsNotReady) {
    host_.libvirt = []() -> Result<std::string> { return Error{"no"}; };
    bool probed = false;
    host_.acceleration = [&]() -> Result<AccelVerdict> {
        probed = true;
        return AccelVerdict{};
    };
    EXPECT_TRUE(any_bad(check_all(host_)));
    EXPECT_FALSE(probed);
}

TEST_F(DoctorTest, RootNeedsTheUserThatLibvirtLooksFor) {
    write("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nnot-libvirt-qemu:x:1:1::/:/\n");
    host_.user = 0;
    EXPECT_THAT(check_permissions(host_),
                Contains(says(Verdict::bad, "libvirt-qemu", "libvirt-daemon-system")));
    host_.user = 1000;
    EXPECT_THAT(check_permissions(host_), Contains(says(Verdict::ok, "not root")));
}

TEST_F(DoctorTest, AHomeThatIsClosedIsFineAndOneThatIsNotThereIsNot) {
    chmod(host_.home.c_str(), 0700);
    EXPECT_THAT(check_permissions(host_), Contains(says(Verdict::ok, "closed to others")));
    host_.home = host_.at("/nowhere");
    EXPECT_THAT(check_permissions(host_), Contains(says(Verdict::warn, "/nowhere", "NICLAB_CACHE")));
}

TEST_F(DoctorTest, ACacheOfAnotherUserIsFound) {
    fs::create_directories(host_.cache / "guest/6.1-0123");
    EXPECT_FALSE(any_bad(check_permissions(host_)));
    host_.user = geteuid() + 1;
    EXPECT_THAT(check_permissions(host_), Contains(says(Verdict::bad, "belongs to user", "chown -R")));
}

// What another user may do is found out as that user.
TEST_F(DoctorTest, FoldersOfRootAreNamedToAnOrdinaryUser) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    chmod(root_.path().c_str(), 0755);
    chmod(host_.cache.c_str(), 0777);
    pid_t child = fork();
    if (child == 0) {
        if (setresuid(kOrdinary, kOrdinary, kOrdinary) != 0) _exit(3);
        host_.user = kOrdinary;
        Findings all = check_permissions(host_);
        size_t bad = 0, runs = 0;
        for (const Finding &finding : all) {
            bad += finding.verdict == Verdict::bad;
            runs += finding.text.find("the folder of runs") == 0 && finding.text.ends_with("by user 65534") &&
                    finding.remedy == "work in a clone of your own";
        }
        _exit(bad == 1 && runs == 1 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_FALSE(any_bad(check_permissions(host_)));
}

TEST_F(DoctorTest, AStateFolderThatCannotBeIsBad) {
    host_.state = Error{"/run/niclab is not a folder of ours; remove it"};
    EXPECT_THAT(check_permissions(host_), Contains(says(Verdict::bad, "not a folder of ours")));
    EXPECT_TRUE(check_leftovers(host_).empty());
}

TEST_F(DoctorTest, ALocaleThatIsNotInstalledIsWarnedOf) {
    host_.locale = "xx_XX.UTF-8";
    EXPECT_THAT(check_locale(host_), ElementsAre(says(Verdict::warn, "xx_XX.UTF-8", "LANG")));
    host_.locale = "";
    EXPECT_THAT(check_locale(host_), ElementsAre(says(Verdict::ok, "none")));
}

TEST(DoctorJson, HoldsFindingsAndWhatWasDone) {
    nlohmann::json all = to_json(
        {{"memory", Verdict::ok, "8 GiB", ""}, {"disk", Verdict::bad, "full", "free some"}}, {"made /x"});
    EXPECT_EQ(all["can_run"], false);
    EXPECT_EQ(all["findings"][1]["verdict"], "bad");
    EXPECT_EQ(all["findings"][1]["remedy"], "free some");
    EXPECT_EQ(all["done"][0], "made /x");
}

} // namespace
} // namespace niclab::doctor
