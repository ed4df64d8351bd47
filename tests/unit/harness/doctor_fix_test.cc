// SPDX-License-Identifier: GPL-2.0-or-later
// What `niclab doctor --fix` takes away, and what it leaves.
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "niclab/descriptor.h"
#include "niclab/doctor/cache.h"
#include "niclab/doctor/checks.h"
#include "niclab/doctor/fix.h"
#include "niclab/doctor/remains.h"
#include "niclab/leftovers.h"
#include "support/marked_process.h"
#include "support/temp_folder.h"

namespace niclab::doctor {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr pid_t kNobody = 0x7ffffff0; // above every process number

class FixTest : public ::testing::Test {
  protected:
    void SetUp() override {
        host_.cache = folder_.path() / "cache";
        host_.runs = folder_.path() / "runs";
        host_.temporary = folder_.path() / "tmp";
        host_.user = geteuid();
        fs::create_directories(folder_.path() / "state");
        host_.state = folder_.path() / "state";
    }
    /// An entry with a megabyte in it that was last used `hours` ago.
    fs::path entry(const std::string &name, int hours, const std::string &file = "initramfs.cpio") {
        fs::path path = host_.cache / name;
        fs::create_directories(path);
        std::ofstream(path / file) << std::string(1 << 20, 'x');
        age(path, hours);
        return path;
    }
    static void age(const fs::path &path, int hours) {
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    }
    std::vector<fs::path> disposable() {
        std::vector<fs::path> paths;
        for (const Disposable &each : disposable_entries(host_.cache))
            paths.push_back(each.path);
        return paths;
    }

    test::TempFolder folder_;
    Host host_;
};

TEST_F(FixTest, OfEachSeriesTheNewestStaysHoweverOldItIs) {
    entry("guest/6.1-aaaa", 300);
    entry("guest/6.12-aaaa", 300);
    fs::path old = entry("guest/6.1-bbbb", 400);
    EXPECT_THAT(disposable(), ElementsAre(old));
}

TEST_F(FixTest, AnotherClonesEntryStaysWhileThatCloneIsInUse) {
    entry("guest/6.1-mine", 0);
    entry("guest/6.1-theirs", 23);
    EXPECT_THAT(disposable(), IsEmpty());
}

TEST_F(FixTest, WhatAKilledRecipeLeftIsFoundUnlessOneIsAtWork) {
    entry("kernel/6.1-aaaa", 0);
    fs::path half = entry("kernel/6.1-bbbb.QwErTy", 0);
    Descriptor maker(open((host_.cache / "kernel-6.1.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    ASSERT_EQ(flock(maker.get(), LOCK_EX), 0);
    EXPECT_THAT(disposable(), IsEmpty());
    EXPECT_FALSE(dispose({half, host_.cache / "kernel-6.1.lock", 0, true}));
    maker = Descriptor();
    EXPECT_THAT(disposable(), ElementsAre(half));
}

TEST_F(FixTest, AQemuTreeThatWasNeverConfiguredIsHalfMade) {
    entry("qemu/tree-aaaa", 0, "configured");
    fs::path half = entry("qemu/tree-bbbb", 0, "build.log");
    std::ofstream(host_.cache / "qemu/tree-aaaa.lock");
    EXPECT_THAT(disposable(), ElementsAre(half));
}

TEST_F(FixTest, FilesOfWritersThatAreGoneAreHalfMade) {
    fs::path dead = entry("qemu/programs/.abcd." + std::to_string(kNobody), 0);
    entry("qemu/programs/.abcd." + std::to_string(getpid()), 0);
    entry("qemu/programs/abcd", 0);
    fs::create_directories(host_.cache / "vmlinux");
    fs::path cut = host_.cache / ("vmlinux/1234-56.packed." + std::to_string(kNobody));
    std::ofstream(cut) << "x";
    EXPECT_THAT(disposable(), UnorderedElementsAre(dead, cut));
}

TEST_F(FixTest, ForeignFoldersInTheCacheAreNotLookedAt) {
    entry("something/else", 1000);
    entry("something/more", 1000);
    EXPECT_THAT(disposable(), IsEmpty());
}

TEST_F(FixTest, TheFindingGivesSizeAndNames) {
    entry("guest/6.1-new", 0);
    entry("guest/6.1-old", 50);
    EXPECT_THAT(
        check_cache(host_),
        ElementsAre(testing::Field(&Finding::text, testing::AllOf(HasSubstr("1 entries"), HasSubstr("1 MiB"),
                                                                  HasSubstr(" guest/6.1-old")))));
}

TEST_F(FixTest, FixMakesFoldersAndDeletesWhatNobodyNeeds) {
    fs::path old = entry("guest/6.1-old", 50), kept = entry("guest/6.1-new", 0);
    EXPECT_THAT(fix(host_),
                UnorderedElementsAre("made " + host_.runs.string(), "deleted " + old.string() + " (1 MiB)"));
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(kept));
    EXPECT_THAT(fix(host_), IsEmpty());
}

TEST_F(FixTest, LeftoversOfADeadOwnerEndAndThoseOfALivingOneDoNot) {
    std::signal(SIGCHLD, SIG_IGN); // ended children leave no zombies, as under init
    fs::path dead = *host_.state / (std::to_string(kNobody) + "-3"),
             alive = *host_.state / process_identity(getpid());
    fs::create_directories(dead);
    fs::create_directories(alive);
    pid_t left = test::start_marked(dead), kept = test::start_marked(alive);
    pid_t orphan =
        test::start_marked(*host_.state / (std::to_string(kNobody) + "-4")); // its folder is not there
    EXPECT_THAT(orphans(*host_.state), ElementsAre(orphan));
    EXPECT_EQ(check_leftovers(host_).size(), 2u);

    std::vector<std::string> done = fix(host_);
    EXPECT_THAT(done, Contains(HasSubstr("removed 1 processes of a dead run")));
    EXPECT_THAT(done, Contains("ended process " + std::to_string(orphan) + " of a run that is no more"));
    EXPECT_FALSE(fs::exists(dead));
    EXPECT_EQ(kill(left, 0), -1);
    EXPECT_EQ(kill(kept, 0), 0);
    EXPECT_TRUE(sweep(alive));
    std::signal(SIGCHLD, SIG_DFL);
}

TEST_F(FixTest, OnlyOldFoldersOfTestsGo) {
    for (const char *name : {"niclab-test-old", "niclab-test-new", "other"})
        fs::create_directories(host_.temporary / name);
    age(host_.temporary / "niclab-test-old", 30);
    age(host_.temporary / "other", 30);
    EXPECT_THAT(old_test_folders(host_.temporary, host_.user),
                ElementsAre(host_.temporary / "niclab-test-old"));
    EXPECT_THAT(old_test_folders(host_.temporary, host_.user + 1), IsEmpty());
}

} // namespace
} // namespace niclab::doctor
