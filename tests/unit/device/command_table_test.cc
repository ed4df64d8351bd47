// SPDX-License-Identifier: GPL-2.0-or-later
// What every command has in common: lengths, phase, numbers nobody gave out, codes nobody knows.
#include <gtest/gtest.h>

#include <cstring>

#include "support/command_driver.h"

namespace niclab::test {
namespace {

constexpr unsigned kOpcodes = 0x1000;

struct Row {
    u16 opcode;
    const char *name;
    u16 in, out; // least lengths, from the layouts in the manual
};
// All commands of the card; small ones have 16 bytes of input and eight or sixteen of output.
constexpr Row kRows[] = {
    {0x100, "QUERY_HCA_CAP", 0x10, 0x110},
    {0x101, "QUERY_ADAPTER", 0x10, 0x110},
    {0x102, "INIT_HCA", 0x10, 0x08},
    {0x103, "TEARDOWN_HCA", 0x10, 0x08},
    {0x104, "ENABLE_HCA", 0x10, 0x08},
    {0x105, "DISABLE_HCA", 0x10, 0x08},
    {0x107, "QUERY_PAGES", 0x10, 0x10},
    {0x108, "MANAGE_PAGES", 0x10, 0x10},
    {0x109, "SET_HCA_CAP", 0x110, 0x08},
    {0x10a, "QUERY_ISSI", 0x10, 0x70},
    {0x10b, "SET_ISSI", 0x10, 0x08},
    {0x200, "CREATE_MKEY", 0x110, 0x10},
    {0x201, "QUERY_MKEY", 0x10, 0x130},
    {0x202, "DESTROY_MKEY", 0x10, 0x08},
    {0x203, "QUERY_SPECIAL_CONTEXTS", 0x10, 0x10},
    {0x301, "CREATE_EQ", 0x110, 0x10},
    {0x302, "DESTROY_EQ", 0x10, 0x08},
    {0x303, "QUERY_EQ", 0x10, 0x110},
    {0x400, "CREATE_CQ", 0x110, 0x10},
    {0x401, "DESTROY_CQ", 0x10, 0x08},
    {0x402, "QUERY_CQ", 0x10, 0x110},
    {0x403, "MODIFY_CQ", 0x50, 0x08},
    {0x750, "QUERY_VPORT_STATE", 0x10, 0x10},
    {0x754, "QUERY_NIC_VPORT_CONTEXT", 0x10, 0x110},
    {0x755, "MODIFY_NIC_VPORT_CONTEXT", 0x200, 0x08},
    {0x76f, "QUERY_VNIC_ENV", 0x10, 0x210},
    {0x770, "QUERY_VPORT_COUNTER", 0x20, 0x210},
    {0x771, "ALLOC_Q_COUNTER", 0x10, 0x10},
    {0x772, "DEALLOC_Q_COUNTER", 0x10, 0x08},
    {0x773, "QUERY_Q_COUNTER", 0x20, 0x100},
    {0x800, "ALLOC_PD", 0x10, 0x10},
    {0x801, "DEALLOC_PD", 0x10, 0x08},
    {0x802, "ALLOC_UAR", 0x10, 0x10},
    {0x803, "DEALLOC_UAR", 0x10, 0x08},
    {0x805, "ACCESS_REG", 0x10, 0x10},
    {0x816, "ALLOC_TRANSPORT_DOMAIN", 0x10, 0x10},
    {0x817, "DEALLOC_TRANSPORT_DOMAIN", 0x10, 0x08},
    {0x827, "ADD_VXLAN_UDP_DPORT", 0x10, 0x08},
    {0x828, "DELETE_VXLAN_UDP_DPORT", 0x10, 0x08},
    {0x900, "CREATE_TIR", 0x110, 0x10},
    {0x901, "MODIFY_TIR", 0x110, 0x08},
    {0x902, "DESTROY_TIR", 0x10, 0x08},
    {0x903, "QUERY_TIR", 0x10, 0x110},
    {0x904, "CREATE_SQ", 0x110, 0x10},
    {0x905, "MODIFY_SQ", 0x50, 0x08},
    {0x906, "DESTROY_SQ", 0x10, 0x08},
    {0x907, "QUERY_SQ", 0x10, 0x110},
    {0x908, "CREATE_RQ", 0x110, 0x10},
    {0x909, "MODIFY_RQ", 0x50, 0x08},
    {0x90a, "DESTROY_RQ", 0x10, 0x08},
    {0x90b, "QUERY_RQ", 0x10, 0x110},
    {0x912, "CREATE_TIS", 0xc0, 0x10},
    {0x913, "MODIFY_TIS", 0xc0, 0x08},
    {0x914, "DESTROY_TIS", 0x10, 0x08},
    {0x915, "QUERY_TIS", 0x10, 0xb0},
    {0x916, "CREATE_RQT", 0x110, 0x10},
    {0x917, "MODIFY_RQT", 0x110, 0x08},
    {0x918, "DESTROY_RQT", 0x10, 0x08},
    {0x919, "QUERY_RQT", 0x10, 0x110},
    {0x92f, "SET_FLOW_TABLE_ROOT", 0x40, 0x08},
    {0x930, "CREATE_FLOW_TABLE", 0x40, 0x10},
    {0x931, "DESTROY_FLOW_TABLE", 0x40, 0x08},
    {0x933, "CREATE_FLOW_GROUP", 0x400, 0x10},
    {0x934, "DESTROY_FLOW_GROUP", 0x40, 0x08},
    {0x936, "SET_FLOW_TABLE_ENTRY", 0x340, 0x08},
    {0x938, "DELETE_FLOW_TABLE_ENTRY", 0x40, 0x08},
    {0x939, "ALLOC_FLOW_COUNTER", 0x10, 0x10},
    {0x93a, "DEALLOC_FLOW_COUNTER", 0x10, 0x08},
    {0x93b, "QUERY_FLOW_COUNTER", 0x20, 0x10},
    {0x93c, "MODIFY_FLOW_TABLE", 0x40, 0x08},
};
void PrintTo(const Row &row, std::ostream *os) { *os << row.name; }

bool before_init(u16 opcode) { return opcode < 0x200 || opcode == 0x805; }

class EachCommand : public testing::TestWithParam<Row> {
  protected:
    FakeHost host;
    CommandDriver driver{host};
};

TEST_P(EachCommand, HasItsName) { EXPECT_STREQ(cx_core_command_name(GetParam().opcode), GetParam().name); }

TEST_P(EachCommand, RefusesAShorterInputAndTakesNoEffect) {
    driver.bring_up();
    // The shortest of all cannot get shorter than opcode and modifier.
    usize bytes = std::max<usize>(GetParam().in - 4u, 8);
    CommandResult result = driver.run({GetParam().opcode, bytes}, 0x400);
    EXPECT_EQ(result.status(), Status::bad_input_length);
    EXPECT_NE(result.syndrome(), 0u);
    EXPECT_EQ(host.counter("live_objects"), 0u);
}

TEST_P(EachCommand, RefusesAShorterOutputAndTakesNoEffect) {
    if (GetParam().out <= 8) return; // status and syndrome always fit
    driver.bring_up();
    CommandResult result = driver.run({GetParam().opcode, 0x400}, GetParam().out - 4u);
    EXPECT_EQ(result.status(), Status::bad_output_length);
    EXPECT_EQ(host.counter("live_objects"), 0u);
}

TEST_P(EachCommand, RefusesAUserContext) {
    driver.bring_up();
    CommandInput input(GetParam().opcode, 0x400);
    EXPECT_EQ(driver.run(input.set(CommandIn::uid, 1), 0x400).status(), Status::bad_parameter);
}

TEST_P(EachCommand, IsRefusedBeforeItsPhase) {
    if (GetParam().opcode == 0x104) return; // ENABLE_HCA starts it all
    EXPECT_EQ(driver.run({GetParam().opcode, 0x400}, 0x400).status(), Status::bad_system_state);
    if (before_init(GetParam().opcode) && GetParam().opcode != 0x103) return;
    driver.enable();
    EXPECT_EQ(driver.run({GetParam().opcode, 0x400}, 0x400).status(), Status::bad_system_state);
}

TEST_P(EachCommand, ThatFailsAnswersWithASyndromeAndZerosAndIsCounted) {
    driver.prepare(CommandInput(GetParam().opcode, 0x400).set(CommandIn::uid, 7).raw, 0x400, 0);
    host.memory.fill(driver.output_chain[0], 0x200, 0xff);
    driver.ring(0);
    CommandResult result = driver.collect(0);
    ASSERT_TRUE(result.completed);
    EXPECT_NE(result.status(), Status::ok);
    EXPECT_NE(result.syndrome(), 0u);
    EXPECT_TRUE(std::all_of(result.out.begin() + 8, result.out.end(), [](u8 byte) { return byte == 0; }));
    EXPECT_EQ(host.counter("command_errors"), 1u);
    ASSERT_EQ(host.traced(CX_TRACE_COMMAND_DONE), 1u);
    FakeHost::Trace last = *std::find_if(host.traces.begin(), host.traces.end(), [](const auto &trace) {
        return trace.event == CX_TRACE_COMMAND_DONE;
    });
    EXPECT_EQ(last.a, GetParam().opcode);
    EXPECT_EQ(last.b, static_cast<u64>(result.status()));
    EXPECT_EQ(last.c, result.syndrome());
}
INSTANTIATE_TEST_SUITE_P(Table, EachCommand, testing::ValuesIn(kRows));

TEST(CommandTable, KnowsExactlyTheseCommands) {
    std::vector<u16> known;
    for (unsigned opcode = 0; opcode < 0x10000; ++opcode)
        if (std::strcmp(cx_core_command_name(opcode), "UNKNOWN") != 0)
            known.push_back(static_cast<u16>(opcode));
    std::vector<u16> expected;
    for (const Row &row : kRows)
        expected.push_back(row.opcode);
    EXPECT_EQ(known, expected);
    EXPECT_STREQ(cx_core_command_name(0x10100), "UNKNOWN") << "more than 16 bits";
}

TEST(CommandTable, UnknownOpcodesFailWithATraceACounterAndAGuestError) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    u64 unknown = 0;
    for (u16 opcode = 0; opcode < kOpcodes; ++opcode) {
        if (std::strcmp(cx_core_command_name(opcode), "UNKNOWN") != 0) continue;
        CommandResult result = driver.run({opcode, 0x10});
        ASSERT_EQ(result.status(), Status::bad_operation) << opcode;
        ASSERT_NE(result.syndrome(), 0u);
        ++unknown;
    }
    EXPECT_EQ(host.counter("command_errors"), unknown);
    EXPECT_EQ(host.counter("guest_errors"), unknown);
    EXPECT_EQ(host.traced(CX_TRACE_COMMAND_DONE), host.counter("commands"));
}

// Every command that names an object refuses numbers at both ends and one that was never given out.
constexpr Opcode kByNumber[] = {
    Opcode::query_mkey,        Opcode::destroy_mkey,
    Opcode::destroy_eq,        Opcode::query_eq,
    Opcode::destroy_cq,        Opcode::query_cq,
    Opcode::modify_cq,         Opcode::dealloc_pd,
    Opcode::dealloc_uar,       Opcode::dealloc_transport_domain,
    Opcode::dealloc_q_counter, Opcode::modify_tir,
    Opcode::destroy_tir,       Opcode::query_tir,
    Opcode::modify_sq,         Opcode::destroy_sq,
    Opcode::query_sq,          Opcode::modify_rq,
    Opcode::destroy_rq,        Opcode::query_rq,
    Opcode::modify_tis,        Opcode::destroy_tis,
    Opcode::query_tis,         Opcode::modify_rqt,
    Opcode::destroy_rqt,       Opcode::query_rqt,
};
class EachObject : public testing::TestWithParam<Opcode> {};

TEST_P(EachObject, RefusesNumbersThatNobodyHolds) {
    FakeHost host;
    CommandDriver driver(host);
    driver.bring_up();
    for (u32 number : {0u, 1u, 0xffu, 0x10000u, 0xffffffu}) {
        CommandInput input(GetParam(), 0x400);
        EXPECT_EQ(driver.run(input.set(ObjectIn::number, number), 0x400).status(), Status::bad_resource)
            << number;
    }
}
INSTANTIATE_TEST_SUITE_P(All, EachObject, testing::ValuesIn(kByNumber));

} // namespace
} // namespace niclab::test
