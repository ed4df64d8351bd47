// SPDX-License-Identifier: GPL-2.0-or-later
// The device page lists what the tables hold, and nothing else.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "connectx/command.h"
#include "connectx/registers.h"

#include <gtest/gtest.h>

namespace niclab::connectx {
namespace {

std::string page() {
    std::ifstream file(NICLAB_SOURCE_ROOT "/docs/connectx.md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The capital words between two marks.
std::set<std::string> names_on_page(const std::string &after, const std::string &before) {
    std::string text = page();
    usize from = text.find(after), to = text.find(before, from);
    EXPECT_LT(from, to);
    EXPECT_NE(to, std::string::npos);
    usize start = from + after.size();
    std::string list = text.substr(start, to - start);
    std::regex name("[A-Z][A-Z0-9_]+");
    return {std::sregex_token_iterator(list.begin(), list.end(), name), std::sregex_token_iterator()};
}

TEST(DevicePage, ListsEveryCommandOfTheTableAndNoOther) {
    std::set<std::string> table;
    for (unsigned opcode = 0; opcode < 0x10000; ++opcode)
        if (const Command *row = find_command(static_cast<u16>(opcode))) table.insert(row->name);
    EXPECT_EQ(names_on_page("\"bad operation\":", "Registers:"), table);
}

TEST(DevicePage, ListsEveryRegisterOfTheTableAndNoOther) {
    std::set<std::string> table;
    for (const Register &row : all_registers())
        table.insert(row.name);
    EXPECT_EQ(names_on_page("Registers:", "## What is not"), table);
}

} // namespace
} // namespace niclab::connectx
