// SPDX-License-Identifier: GPL-2.0-or-later
// The reference page of the documentation is what the tables hold.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "niclab/model/describe.h"

namespace niclab::model {
namespace {

TEST(ReferencePage, IsWhatTheTablesHold) {
    std::ifstream file(NICLAB_SOURCE_ROOT "/docs/connectx-reference.md");
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), reference_page().take())
        << "bring it up to date by: ./niclab describe --markdown >docs/connectx-reference.md";
}

} // namespace
} // namespace niclab::model
