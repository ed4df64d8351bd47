// SPDX-License-Identifier: GPL-2.0-or-later
// Commands that the documentation shows exist: targets of the Makefile, verbs and options of the programs. CI
// itself runs the README's two.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace niclab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kRoot = NICLAB_SOURCE_ROOT;

std::string text_of(const fs::path &path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

struct Shown {
    std::string page, line;
    std::vector<std::string> words;
};

// Commands stand in `code spans` and in lines indented by four blanks.
std::vector<Shown> commands_beginning_with(const std::string &program) {
    std::vector<Shown> found;
    auto keep = [&](const fs::path &page, const std::string &text) {
        std::istringstream stream(text);
        Shown shown{page.filename(), text, {}};
        for (std::string word; stream >> word;)
            shown.words.push_back(word);
        if (shown.words.size() > 1 && shown.words[0] == program) found.push_back(shown);
    };
    std::vector<fs::path> pages{kRoot / "README.md"};
    for (const auto &entry : fs::directory_iterator(kRoot / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    for (const fs::path &page : pages) {
        std::istringstream lines(text_of(page));
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("    ")) keep(page, line);
            for (std::size_t from = 0; (from = line.find('`', from)) != std::string::npos;) {
                std::size_t to = line.find('`', from + 1);
                if (to == std::string::npos) break;
                keep(page, line.substr(from + 1, to - from - 1));
                from = to + 1;
            }
        }
    }
    return found;
}

struct Output {
    int status;
    std::string text;
};
Output run(const std::string &command) {
    Output output{-1, {}};
    FILE *pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return output;
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        output.text.append(buffer, n);
    output.status = pclose(pipe);
    return output;
}

TEST(DocumentedCommands, MakeTargetsExist) {
    std::string makefile = text_of(kRoot / "Makefile");
    std::vector<Shown> shown = commands_beginning_with("make");
    ASSERT_FALSE(shown.empty());
    for (const Shown &command : shown)
        EXPECT_THAT(makefile, HasSubstr("\n" + command.words[1] + ":"))
            << command.page << ": " << command.line;
}

TEST(DocumentedCommands, VerbsAndOptionsOfNiclabExist) {
    std::vector<Shown> shown = commands_beginning_with("./niclab");
    ASSERT_FALSE(shown.empty());
    for (const Shown &command : shown) {
        bool has_verb = !command.words[1].starts_with("-");
        Output help = run(std::string(NICLAB_CLI) + (has_verb ? " " + command.words[1] : "") + " --help");
        EXPECT_EQ(help.status, 0) << command.page << ": " << command.line << "\n" << help.text;
        for (const std::string &word : command.words)
            if (word.starts_with("--")) {
                EXPECT_THAT(help.text, HasSubstr(word)) << command.page << ": " << command.line;
            }
    }
}

// Nothing but the program is needed to run these.
TEST(DocumentedCommands, WhatIsDescribedIsThere) {
    unsigned ran = 0;
    for (const Shown &command : commands_beginning_with("./niclab")) {
        if (command.words[1] != "describe") continue;
        std::string words;
        for (std::size_t i = 1; i < command.words.size(); ++i)
            words += " " + command.words[i];
        Output output = run(std::string(NICLAB_CLI) + words);
        EXPECT_EQ(output.status, 0) << command.page << ": " << command.line << "\n" << output.text;
        EXPECT_FALSE(output.text.empty()) << command.line;
        ++ran;
    }
    EXPECT_GT(ran, 3u);
}

TEST(DocumentedCommands, WrongWordsEndWithASentenceAndStatusTwo) {
    for (const char *words :
         {"describe frobs", "describe layout Frob", "describe bytes", "describe bytes cqe 00",
          "describe bytes wqe zz", "describe syndrome 1", "trace --filter frobs", "trace --seconds 0",
          "counters --over x", "counters --vm 0", "up --nic frob", "up --nic igb --driver niclab",
          "up --nic igb --pcap x", "up --nics 1", "up --iommu none --mode lazy",
          "up --iommu none --caching-mode on", "up --iommu frob", "up --mode frob"}) {
        Output output = run(std::string(NICLAB_CLI) + " " + words + " </dev/null");
        EXPECT_EQ(WEXITSTATUS(output.status), 2) << words << "\n" << output.text;
        EXPECT_THAT(output.text, testing::StartsWith("niclab: ")) << words;
    }
    Output record = run(std::string(NICLAB_CLI) + " trace --read /proc/self/stat");
    EXPECT_EQ(WEXITSTATUS(record.status), 1) << record.text;
    EXPECT_THAT(record.text, HasSubstr("record of a card"));
}

TEST(DocumentedCommands, WrongWordsOfNightsEndWithASentenceAndStatusTwo) {
    for (const char *words : {"matrix", "matrix /no/such.yaml", "matrix /dev/null", "matrix x --jobs 0",
                              "matrix x --list --resume", "report --since soon", "report --since 0",
                              "bisect unit HEAD", "bisect frob HEAD~1 HEAD"}) {
        Output output = run(std::string(NICLAB_CLI) + " " + words + " </dev/null");
        EXPECT_EQ(WEXITSTATUS(output.status), 2) << words << "\n" << output.text;
        EXPECT_THAT(output.text, testing::StartsWith("niclab: ")) << words;
    }
}

TEST(DocumentedCommands, NightsCanBeListed) {
    Output all =
        run(std::string(NICLAB_CLI) + " matrix " + (kRoot / "tests/nightly.yaml").string() + " --list");
    EXPECT_EQ(all.status, 0) << all.text;
    EXPECT_THAT(all.text, HasSubstr("scenarios/6.12/mlx5_core/connectx/intel/lazy"));
    EXPECT_THAT(all.text, HasSubstr(" pruned"));
}

TEST(DocumentedCommands, SuitesOfTheRunnerExist) {
    std::vector<Shown> shown = commands_beginning_with("tests/run");
    ASSERT_FALSE(shown.empty());
    std::string runner = text_of(kRoot / "tests/run");
    for (const Shown &command : shown)
        for (std::size_t i = 1; i < command.words.size() && command.words[i] != "--"; ++i)
            EXPECT_THAT(runner, HasSubstr(command.words[i])) << command.page << ": " << command.line;
}

TEST(DocumentedCommands, AnUnknownVerbEndsWithUsageAndStatusTwo) {
    Output output = run(std::string(NICLAB_CLI) + " frobnicate");
    EXPECT_EQ(WEXITSTATUS(output.status), 2) << output.text;
    EXPECT_THAT(output.text, HasSubstr("frobnicate"));
}

} // namespace
} // namespace niclab
