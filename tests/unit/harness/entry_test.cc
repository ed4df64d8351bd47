// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of the cache: one that was cut or spoiled is noticed and made anew, and two makers make it once.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/paths.h"
#include "niclab/process.h"
#include "support/temp_folder.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

using ::testing::HasSubstr;

class EntryTest : public ::testing::Test {
  protected:
    /// A recipe as those in images/: its answer is the entry, and each making adds a line to "made".
    std::string recipe(const std::string &in_the_middle = "") {
        std::string script = fmt::format(
            "set -euo pipefail; source {1}/images/common.bash; cache={0}/cache\n"
            "lock thing; entry=$cache/thing/6.1-0123\n"
            "if ! entry_intact \"$entry\"; then\n"
            "    new_entry \"$entry\"; echo made >>{0}/made; {2}\n"
            "    mkdir \"$work/sub\"; echo first >\"$work/image\"; echo second >\"$work/sub/file\"\n"
            "    publish \"$entry\"\n"
            "fi\necho \"$entry\"\n",
            folder_.path().string(), source_root().string(), in_the_middle);
        auto ended = run_process({"bash", "-c", script, "thing"});
        if (!ended.ok()) return ended.why();
        said_ = ended->err;
        return ended->out;
    }
    size_t times_made() const {
        auto text = read_file(folder_.path() / "made");
        return text.ok() ? static_cast<size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
    }
    /// The entry must be made once more, and be whole then.
    void expect_made_anew() {
        size_t before = times_made();
        EXPECT_EQ(recipe(), entry_.string() + "\n");
        EXPECT_THAT(said_, HasSubstr("is not what was put there"));
        EXPECT_EQ(times_made(), before + 1);
        EXPECT_EQ(*read_file(entry_ / "image"), "first\n");
        EXPECT_EQ(*read_file(entry_ / "sub/file"), "second\n");
    }

    test::TempFolder folder_;
    fs::path entry_ = folder_.path() / "cache/thing/6.1-0123";
    std::string said_;
};

TEST_F(EntryTest, IsMadeOnceAndThenTakenAsItIs) {
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(recipe(), entry_.string() + "\n") << said_;
    EXPECT_EQ(times_made(), 1u);
}

TEST_F(EntryTest, AByteThatChangedIsNoticedThoughLengthAndTimeAreTheSame) {
    recipe();
    recipe(); // has looked at it
    auto written = fs::last_write_time(entry_ / "image");
    std::ofstream(entry_ / "image") << "fIrst\n";
    fs::last_write_time(entry_ / "image", written);
    expect_made_anew();
}

TEST_F(EntryTest, AFileThatWasCutIsNoticed) {
    recipe();
    fs::resize_file(entry_ / "sub/file", 3);
    expect_made_anew();
}

TEST_F(EntryTest, AFileThatIsGoneIsNoticed) {
    recipe();
    fs::remove(entry_ / "image");
    expect_made_anew();
}

TEST_F(EntryTest, ChecksumsThatWereCutAreNoProof) {
    recipe();
    std::ofstream(entry_ / ".sums") << "";
    expect_made_anew();
    fs::remove(entry_ / ".sums");
    expect_made_anew();
}

TEST_F(EntryTest, ACopyWithOtherTimesIsAsGood) {
    recipe();
    fs::path copy = folder_.path() / "copy";
    fs::copy(entry_, copy, fs::copy_options::recursive);
    fs::remove_all(entry_);
    fs::rename(copy, entry_);
    recipe();
    EXPECT_EQ(times_made(), 1u) << said_;
}

TEST_F(EntryTest, WhatAKilledMakerLeftGoesWithTheNextOne) {
    recipe("kill -KILL $$");
    EXPECT_FALSE(fs::exists(entry_));
    size_t half_made = 0;
    for (const auto &left : fs::directory_iterator(entry_.parent_path()))
        half_made += left.path() != entry_;
    EXPECT_EQ(half_made, 1u);
    EXPECT_EQ(recipe(), entry_.string() + "\n");
    for (const auto &left : fs::directory_iterator(entry_.parent_path()))
        EXPECT_EQ(left.path(), entry_);
}

TEST_F(EntryTest, TwoMakersAtOnceMakeItOnce) {
    std::string script =
        fmt::format("for i in 1 2; do bash -c 'set -euo pipefail; source {1}/images/common.bash\n"
                    "cache={0}/cache; lock thing; entry=$cache/thing/6.1-0123\n"
                    "entry_intact \"$entry\" && exit\n"
                    "new_entry \"$entry\"; echo made >>{0}/made; echo x >\"$work/image\"\n"
                    "publish \"$entry\"' thing & done; wait",
                    folder_.path().string(), source_root().string());
    auto ended = run_process({"bash", "-c", script});
    ASSERT_TRUE(ended.ok()) << ended.why();
    EXPECT_EQ(times_made(), 1u) << ended->err;
    EXPECT_TRUE(fs::exists(entry_ / "image"));
}

} // namespace
} // namespace niclab
