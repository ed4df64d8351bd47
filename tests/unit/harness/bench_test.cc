// SPDX-License-Identifier: GPL-2.0-or-later
// The arithmetic of the bench: symbols, windows, differences, repetitions, results.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "niclab/bench/callgrind.h"
#include "niclab/bench/host.h"
#include "niclab/bench/marks.h"
#include "niclab/bench/report.h"
#include "niclab/bench/wall.h"

namespace fs = std::filesystem;

namespace niclab::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char *kKallsyms = "0000000000000000 A fixed_percpu_data\n"
                                  "ffffffff81000000 T _text\n"
                                  "ffffffff81000100 t zeta\n"
                                  "ffffffff81000100 T alpha\n"
                                  "ffffffff81000140 D some_data\n"
                                  "ffffffff81000180 T dma_map_page_attrs\n"
                                  "ffffffffc0001000 t card_xmit\t[card]\n"
                                  "ffffffffc0001040 W card_poll\t[card]\n"
                                  "nonsense\n";

SymbolTable symbols() {
    auto parsed = SymbolTable::parse(kKallsyms);
    EXPECT_TRUE(parsed.ok()) << parsed.why();
    return *parsed;
}

TEST(BenchSymbols, AFunctionReachesToTheNextOne) {
    SymbolTable table = symbols();
    EXPECT_EQ(table.at(0xffffffff81000100)->name, "alpha") << "the first name of an address stands for all";
    EXPECT_EQ(table.at(0xffffffff8100017f)->name, "alpha") << "data is no function";
    EXPECT_EQ(table.at(0xffffffff81000180)->name, "dma_map_page_attrs");
    EXPECT_EQ(table.at(0xffffffffc000103f)->name, "card_xmit");
    EXPECT_EQ(table.at(0xffffffffc0001041)->module, "card");
    EXPECT_EQ(table.at(0xffffffff80ffffff), nullptr);
}

TEST(BenchSymbols, AListWithoutAddressesIsRefused) {
    // What a reader without privilege sees.
    EXPECT_FALSE(SymbolTable::parse("0000000000000000 T alpha\n0000000000000000 T beta\n").ok());
    EXPECT_FALSE(SymbolTable::parse("").ok());
}

// What callgrind writes, shortened: names are written out once, a call's cost is not the caller's own.
constexpr const char *kCallgrind = "version: 1\n"
                                   "desc: Trigger: Client Request: end tx-60 1\n"
                                   "positions: line\n"
                                   "events: Ir\n"
                                   "ob=(1) /usr/bin/qemu\n"
                                   "fn=(1) igb_start_xmit\n"
                                   "0 100\n"
                                   "cfn=(2) vtd_iommu_translate\n"
                                   "calls=5 0\n"
                                   "0 5000\n"
                                   "+3 20\n"
                                   "\n"
                                   "fn=(2)\n"
                                   "0 5000\n"
                                   "totals: 5120\n";

TEST(BenchCallgrind, AFunctionHasWhatItExecutedItself) {
    auto dump = parse_callgrind(kCallgrind);
    ASSERT_TRUE(dump.ok()) << dump.why();
    EXPECT_EQ(dump->trigger, "end tx-60 1");
    EXPECT_EQ(dump->functions,
              (std::map<std::string, std::uint64_t>{{"igb_start_xmit", 120}, {"vtd_iommu_translate", 5000}}));
    EXPECT_FALSE(parse_callgrind("").ok());
    EXPECT_FALSE(parse_callgrind("fn=main\n0 1\n").ok());
    EXPECT_FALSE(parse_callgrind("fn=(1) main\n0 many\n").ok());
}

TEST(BenchHost, AUnitCostsTheDifferenceOfTheDumpsInEachGroup) {
    std::map<std::string, CallgrindDump> dumps;
    dumps["end tx-60 1"] = {"", {{"igb_start_xmit", 1000}, {"vtd_iommu_translate", 50}}};
    dumps["end tx-60 2"] = {"", {{"igb_start_xmit", 1800}, {"vtd_iommu_translate", 50}, {"memcpy", 16}}};
    Planned planned{*find_scenario("tx-60"), 8};
    Measured measured = host_cost(dumps, planned, **find_driver("igb"));
    ASSERT_EQ(measured.cost.functions.size(), 2u);
    EXPECT_EQ(measured.cost.functions[0].module, "card");
    EXPECT_EQ(measured.cost.functions[0].instructions, 100);
    EXPECT_EQ(measured.cost.functions[1].module, "copies");
    EXPECT_EQ(measured.cost.functions[1].instructions, 2);
    EXPECT_EQ(host_cost(dumps, planned, **find_driver("mlx5_core")).cost.functions[0].module, "other port");
    dumps.erase("end tx-60 2");
    EXPECT_FALSE(host_cost(dumps, planned, **find_driver("igb")).why_not.empty());
}

TEST(BenchHost, TheSendersOwnWorkIsSubtracted) {
    std::map<std::string, CallgrindDump> dumps;
    dumps["end rx-drop-60 1"] = {"", {{"igb_receive", 1000}, {"e1000e_tx", 400}}};
    dumps["end rx-drop-60 2"] = {"", {{"igb_receive", 1800}, {"e1000e_tx", 800}}};
    Planned planned{*find_scenario("rx-drop-60"), 8};
    EXPECT_FALSE(host_cost(dumps, planned, **find_driver("igb")).why_not.empty());
    dumps["end rx-drop-60+base 1"] = {"", {{"e1000e_tx", 400}}};
    dumps["end rx-drop-60+base 2"] = {"", {{"e1000e_tx", 800}}};
    Measured measured = host_cost(dumps, planned, **find_driver("igb"));
    ASSERT_EQ(measured.cost.functions.size(), 1u);
    EXPECT_EQ(measured.cost.functions[0].name, "igb_receive");
    EXPECT_EQ(measured.cost.functions[0].instructions, 100);
}

TEST(BenchWall, ARateIsTheDifferenceOfTheWindows) {
    std::vector<Planned> planned = {{*find_scenario("tx-60"), 1000}, {*find_scenario("rr-1"), 10}};
    auto times = read_times("time tx-60 30000000 50000000\nskip rr-1 the other end is gone\n", planned);
    ASSERT_TRUE(times.ok()) << times.why();
    EXPECT_DOUBLE_EQ((*times)[0].per_second, 50000);
    EXPECT_EQ((*times)[1].why_not, "the other end is gone");
    EXPECT_EQ(read_times("broken no link\n", planned).why(), "no link");
    for (const char *bad : {"", "time tx-60 3\n", "time tx-60 5 5\n", "time tx-60 many more\n"})
        EXPECT_FALSE(read_times(bad, planned)->at(0).why_not.empty()) << bad;
}

TEST(BenchWall, TheMedianStandsBetweenTheExtremes) {
    EXPECT_EQ(rate(**find_scenario("tx-60"), {50000, 70000, 60000}), "60.0 (50.0 to 70.0) kframe/s");
    EXPECT_EQ(rate(**find_scenario("tcp-out"), {1e6 / 1024 / 8}), "1.0 (1.0 to 1.0) Mbit/s");
}

TEST(BenchHost, EveryFunctionHasAGroup) {
    const Driver &igb = **find_driver("igb"), &ours = **find_driver("niclab");
    for (auto [function, driver, group] : {std::tuple{"e1000x_rx_ready", &igb, "other port"},
                                           {"e1000x_update_regs_on_link_up", &igb, "card"},
                                           {"niclab::connectx::send", &ours, "card"},
                                           {"g_hash_table_lookup", &ours, "vIOMMU"},
                                           {"qemu_send_packet", &ours, "net"},
                                           {"msix_notify", &ours, "PCI, MSI"},
                                           {"address_space_rw", &ours, "memory"},
                                           {"memory_region_dispatch_write", &ours, "memory"},
                                           {"__memcpy_avx_unaligned_erms", &ours, "copies"},
                                           {"cpu_exec_loop", &ours, "processor"}})
        EXPECT_STREQ(host_group(function, *driver), group) << function;
}

Window window(std::vector<counting::AddressCount> counts, std::uint64_t frames) {
    return window_of(counts, {{"tx_frames", 1000}}, {{"tx_frames", 1000 + frames}});
}

// 10 units cost 100 + 10 * 7 instructions in card_xmit, 20 units 100 + 20 * 7.
Cost cost_of_ten() {
    Window once = window({{0xffffffffc0001000, 10}, {0xffffffffc0001004, 160}, {0x401000, 55}}, 10);
    Window twice = window(
        {{0xffffffffc0001000, 20}, {0xffffffffc0001004, 220}, {0x401000, 55}, {0xffffffff81000180, 5}}, 20);
    return unit_cost(once, twice, 10, symbols());
}

TEST(BenchCost, FixedCostGoesOutWithTheDifference) {
    Cost cost = cost_of_ten();
    ASSERT_EQ(cost.functions.size(), 2u) << "what both windows have alike costs nothing per unit";
    EXPECT_EQ(cost.functions[0].name, "card_xmit");
    EXPECT_EQ(cost.functions[0].module, "card");
    EXPECT_DOUBLE_EQ(cost.functions[0].instructions, 7);
    EXPECT_DOUBLE_EQ(cost.functions[0].entries, 1);
    EXPECT_DOUBLE_EQ(cost.instructions(), 7.5);
    EXPECT_DOUBLE_EQ(cost.card.at("tx_frames"), 1);
}

TEST(BenchCost, ABaselineIsSubtractedByFunction) {
    Cost cost = cost_of_ten();
    Cost base;
    base.functions = {{"card_xmit", "card", 3, 1}, {"only_base", "kernel", 2, 1}};
    base.card = {{"tx_frames", 0.25}};
    Cost rest = cost.minus(base);
    EXPECT_DOUBLE_EQ(rest.instructions(), 7.5 - 5);
    EXPECT_DOUBLE_EQ(rest.card.at("tx_frames"), 0.75);
    EXPECT_DOUBLE_EQ(cost.minus(cost).instructions(), 0);
}

TEST(BenchMetrics, EntriesAndCardCountersAreAddedByName) {
    Driver driver{"card", "card", "card", {}, "peer", {"card"}, ""};
    Cost cost = cost_of_ten();
    cost.card = {{"dma_wqe_reads", 1},          {"dma_cqe_writes", 0.5},  {"dma_wqe_bytes_read", 64},
                 {"dma_cqe_bytes_written", 32}, {"doorbells_send", 0.25}, {"tx_bytes", 60}};
    auto values = values_of(cost, driver);
    EXPECT_DOUBLE_EQ(values.at("instructions"), 7.5);
    EXPECT_DOUBLE_EQ(values.at("driver_instructions"), 7);
    EXPECT_DOUBLE_EQ(values.at("dma_maps"), 0.5);
    EXPECT_DOUBLE_EQ(values.at("dma_unmaps"), 0);
    EXPECT_DOUBLE_EQ(values.at("dma_accesses"), 1.5);
    EXPECT_DOUBLE_EQ(values.at("dma_bytes"), 96);
    EXPECT_DOUBLE_EQ(values.at("doorbells"), 0.25);
    cost.card.clear();
    EXPECT_FALSE(values_of(cost, driver).contains("dma_bytes"))
        << "a card that does not count is not said to do none";
}

TEST(BenchRows, NamesAreUniqueAndAMistypedOneIsAnswered) {
    std::set<std::string> names;
    for (const Scenario &row : scenarios()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_TRUE(find_scenario(row.name).ok());
        EXPECT_GT(row.units, 0u) << row.name;
    }
    EXPECT_THAT(find_scenario("tx-61").why(), AllOf(HasSubstr("tx-61"), HasSubstr("tx-60,")));
    EXPECT_THAT(find_driver("mlx4").why(), HasSubstr("mlx5_core"));
    EXPECT_THAT(find_iommu("amd").why(), HasSubstr("caching"));
}

TEST(BenchRows, TheOtherEndsModuleIsNoneOfTheDriver) {
    for (const Driver &row : drivers()) {
        EXPECT_THAT(row.modules, Not(::testing::Contains(std::string(row.peer)))) << row.name;
        EXPECT_STRNE(row.model, row.peer) << row.name;
    }
}

TEST(BenchScript, AReceiverIsMeasuredWithAndWithoutFramesForIt) {
    const Scenario *row = *find_scenario("rx-drop-60");
    std::string script = guest_script(**find_driver("niclab"), {{row, 77}});
    EXPECT_THAT(script,
                HasSubstr("measure rx-drop-60+base pktgen 77 --from b --to a --interface $b --burst 32 "
                          "--flows 1 --size 60 --mac $foreign"));
    EXPECT_THAT(script,
                HasSubstr("measure rx-drop-60 pktgen 77 --from b --to a --interface $b --burst 32 --flows 1 "
                          "--size 60 --mac $mac_a"));
    EXPECT_THAT(script, AllOf(HasSubstr("matchall action drop"), Not(HasSubstr("--xdp-drop"))));
    EXPECT_THAT(guest_script(**find_driver("igb"), {{*find_scenario("rx-xdp-drop-60"), 77}}),
                HasSubstr("--xdp-drop $a"));
}

Measured measured(double in_driver) {
    Measured result;
    result.cost.functions = {{"card_xmit", "mlx5_core", in_driver, 1}, {"rest", "kernel", 9000, 1}};
    return result;
}

Cell cell(double first, double second) {
    Setting setting{*find_driver("mlx5_core"), *find_iommu("lazy")};
    return cell_of(**find_scenario("tx-60"), setting, {measured(first), measured(second)});
}

TEST(BenchCell, RepetitionsThatDifferAreUnstable) {
    EXPECT_TRUE(cell(500, 500).stable());
    EXPECT_EQ(cell(500, 500).spread, 0);
    // 0.2 % of the driver's part, though only 0.01 % of all.
    EXPECT_FALSE(cell(500, 501).stable());
    EXPECT_NEAR(cell(500, 501).spread, 0.002, 1e-9);
    Setting setting{*find_driver("mlx5_core"), *find_iommu("lazy")};
    Cell skipped = cell_of(**find_scenario("tx-60"), setting, {measured(1), Measured{{}, "no XDP"}});
    EXPECT_FALSE(skipped.measured());
    EXPECT_EQ(skipped.why_not, "no XDP");
}

TEST(BenchReport, AResultIsReadBackAndComparedWithAnother) {
    fs::path path = fs::temp_directory_path() / ("niclab-bench-" + std::to_string(getpid()) + ".json");
    Report before{"6.1", 2, {}, {cell(500, 500)}}, after{"6.1", 2, {}, {cell(450, 450)}};
    std::ofstream(path) << as_json(before).dump();
    auto read = read_report(path);
    fs::remove(path);
    ASSERT_TRUE(read.ok()) << read.why();
    EXPECT_EQ(as_json(*read), as_json(before));

    Comparison better = compare(*read, after);
    EXPECT_EQ(better.compared, 1u);
    EXPECT_EQ(better.dearer, 0u);
    EXPECT_THAT(better.text,
                AllOf(HasSubstr("500.0 ->      450.0  -10.00 %"), HasSubstr("-50.0  card_xmit")));
    EXPECT_EQ(compare(after, *read).dearer, 1u);
    EXPECT_EQ(compare(before, *read).dearer, 0u);
    after.cells[0].driver = "niclab";
    EXPECT_EQ(compare(before, after).compared, 0u);
}

TEST(BenchReport, AFileThatIsNoResultIsRefused) {
    fs::path path = fs::temp_directory_path() / ("niclab-bench-bad-" + std::to_string(getpid()) + ".json");
    for (const char *text : {"", "[]", "{}", R"({"format": 1})", R"({"format": 1, "kernel": 6})"}) {
        std::ofstream(path) << text;
        EXPECT_THAT(read_report(path).why(), HasSubstr(path.string())) << text;
    }
    fs::remove(path);
    EXPECT_FALSE(read_report(path).ok());
}

class MarkStream : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
    void TearDown() override {
        close(ends_[0]);
        close(ends_[1]);
    }
    Result<Mark> told(counting::MarkHeader header, const std::string &rest) {
        EXPECT_EQ(write(ends_[0], &header, sizeof header), static_cast<ssize_t>(sizeof header));
        EXPECT_EQ(write(ends_[0], rest.data(), rest.size()), static_cast<ssize_t>(rest.size()));
        shutdown(ends_[0], SHUT_WR);
        return read_mark(ends_[1]);
    }
    int ends_[2] = {-1, -1};
};

TEST_F(MarkStream, AMarkHasTextAttachmentAndCounts) {
    counting::AddressCount count{0xffffffff81000000, 3};
    auto mark = told({counting::kMarkMagic, 5, 2, 1},
                     "begin"
                     "ab" +
                         std::string(reinterpret_cast<const char *>(&count), sizeof count));
    ASSERT_TRUE(mark.ok()) << mark.why();
    EXPECT_EQ(mark->text, "begin");
    EXPECT_EQ(mark->attachment, "ab");
    ASSERT_EQ(mark->counts.size(), 1u);
    EXPECT_EQ(mark->counts[0].count, 3u);
}

TEST_F(MarkStream, AnotherMagicIsRefused) { EXPECT_FALSE(told({0x12345678, 0, 0, 0}, "").ok()); }
TEST_F(MarkStream, MoreThanIsAllowedIsRefused) {
    EXPECT_FALSE(told({counting::kMarkMagic, 4097, 0, 0}, "").ok());
}
TEST_F(MarkStream, AnEndInTheMiddleIsTold) {
    EXPECT_THAT(told({counting::kMarkMagic, 5, 0, 0}, "beg").why(), HasSubstr("QEMU ended"));
}

} // namespace
} // namespace niclab::bench
