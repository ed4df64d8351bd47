// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of names are whole, and a description is made of them.
#include "niclab/model/describe.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectx/cx_core.h"
#include "niclab/model/decode.h"
#include "niclab/model/fields.h"
#include "niclab/model/tables.h"

namespace niclab::model {
namespace {

using testing::HasSubstr;

bool has_field(std::string_view layout, std::string_view name) {
    return std::any_of(fields().begin(), fields().end(),
                       [&](const FieldRow &row) { return row.layout == layout && row.name == name; });
}

TEST(Tables, HoldWhatTheHeadersDefine) {
    const LayoutRow *cq = find_layout("CqContext");
    ASSERT_NE(cq, nullptr);
    EXPECT_EQ(cq->bytes, 0x40);
    EXPECT_TRUE(has_field("Cqe", "l4_hdr_type")); // stands on two lines
    EXPECT_EQ(name_of("CqeSyndrome", 5), "flushed");
    EXPECT_EQ(name_of("WqType", 3), "cyclic_striding"); // stands on one line with others
    EXPECT_EQ(name_of("CqeSyndrome", 99), "");
    EXPECT_EQ(find_layout("cqcontext"), nullptr);
}

TEST(Tables, RowsLieInsideTheirLayouts) {
    for (const FieldRow &row : fields()) {
        const LayoutRow *layout = find_layout(row.layout);
        ASSERT_NE(layout, nullptr) << row.layout;
        EXPECT_LE(row.at + (row.hi == 63 ? 8 : 4), layout->bytes) << row.layout << " " << row.name;
    }
    for (const TypedField &row : typed_fields()) {
        EXPECT_TRUE(has_field(row.layout, row.field)) << row.layout << " " << row.field;
        EXPECT_TRUE(std::any_of(enumerators().begin(), enumerators().end(), [&](const EnumRow &each) {
            return each.type == row.type;
        })) << row.type;
    }
    for (const ConditionalField &row : conditional_fields()) {
        EXPECT_TRUE(has_field(row.layout, row.field)) << row.layout << " " << row.field;
        EXPECT_TRUE(has_field(row.layout, row.when)) << row.layout << " " << row.when;
    }
    for (const EnumRow &row : enumerators()) {
        if (row.type != "Opcode") continue;
        for (bool output : {false, true})
            for (std::string_view layout : layouts_of_command(static_cast<u16>(row.value), output))
                EXPECT_NE(find_layout(layout), nullptr) << row.name << " " << layout;
    }
}

TEST(Tables, ASyndromeStandsForOneCause) {
    std::set<u32> numbers;
    for (const SyndromeRow &row : syndromes())
        EXPECT_TRUE(numbers.insert(row.number).second) << std::hex << row.number;
    EXPECT_GT(numbers.size(), 100u);
}

TEST(Describe, EveryTopicHasRowsOfOneKind) {
    auto all = describe({});
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(all->size(), topics().size());
    for (const auto &[name, rows] : all->items()) {
        ASSERT_FALSE(rows.empty()) << name;
        for (const Document &row : rows)
            EXPECT_EQ(row.size(), rows.front().size()) << name;
        EXPECT_TRUE(describe({name}).ok());
    }
}

TEST(Describe, SaysWhatIsModelledAndWhatIsRefused) {
    std::string text = as_text(*describe({"commands"}));
    EXPECT_THAT(text,
                testing::ContainsRegex("0x400 +CREATE_CQ +0x110 +0x10 +CqContext +ObjectOut +INIT_HCA\n"));
    EXPECT_THAT(text, testing::ContainsRegex("0x935 +QUERY_FLOW_GROUP +refused"));
    EXPECT_THAT(as_text(*describe({"registers"})), testing::ContainsRegex("0x5003 +PMTU +16 +read, write\n"));
    EXPECT_THAT(as_text(*describe({"capabilities"})),
                testing::ContainsRegex("general +log_max_qp +17 +17\n"));
    EXPECT_THAT(as_text(*describe({"counters"})), HasSubstr("dma_wqe_link_bytes"));
    EXPECT_THAT(as_text(*describe({"properties"})), testing::ContainsRegex("queues +8 "));
    EXPECT_THAT(as_text(*describe({"identity"})), HasSubstr("0x101d"));
}

TEST(Describe, ALayoutWithItsFieldsInTheirOrder) {
    EXPECT_EQ(as_text(*describe({"layout", "CqArm"})), "CqArm, 0x8 bytes\n"
                                                       "  offset  bits   field           meaning\n"
                                                       "  0x00    29:28  sn\n"
                                                       "  0x00    24:24  solicited_only\n"
                                                       "  0x00    23:0   ci\n"
                                                       "  0x04    23:0   cqn\n");
}

TEST(Describe, ASyndromeByItsNumber) {
    std::string text = as_text(*describe({"syndrome", "0x500003"}));
    EXPECT_THAT(text, testing::ContainsRegex("0x500003 +command_queue +input length +bad_input_length"));
    EXPECT_THAT(as_text(*describe({"syndrome", "5701890"})), HasSubstr("0x570102")); // a kind, and 2 more
    for (const char *wrong : {"0x1", "x", "", "0x500003x"})
        EXPECT_FALSE(describe({"syndrome", wrong}).ok()) << wrong;
}

TEST(Describe, WrongWordsGetASentence) {
    EXPECT_THAT(describe({"frobs"}).why(), HasSubstr("'frobs' cannot be described"));
    EXPECT_THAT(describe({"layout"}).why(), HasSubstr("layout NAME"));
    EXPECT_THAT(describe({"layout", "Frob"}).why(), HasSubstr("no layout 'Frob'"));
    EXPECT_FALSE(describe({"commands", "more"}).ok());
}

} // namespace
} // namespace niclab::model
