// SPDX-License-Identifier: GPL-2.0-or-later
// Receive-side scaling as `ethtool` sets it: hash fields, key, indirection. Judged by where frames go.
#include <set>

#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

constexpr unsigned kQueues = 4;
constexpr unsigned kFlows = 64;

class Hash : public Scenario {
  protected:
    /// The queues that get some of many flows.
    std::set<unsigned> queues_of_flows(Family family = Family::ipv4) {
        std::vector<std::uint64_t> each = spread(family, kFlows, /*one_flow=*/false);
        std::set<unsigned> queues;
        for (unsigned queue = 0; queue < each.size(); ++queue)
            if (each[queue] != 0) queues.insert(queue);
        return queues;
    }
    std::unique_ptr<Afterwards> with_fields(const char *kind, const char *fields) {
        auto set = [this, kind](const char *wanted) {
            return guest().ethtool(Side::b, {"-N", interface(Side::b), "rx-flow-hash", kind, wanted});
        };
        auto back = std::make_unique<Afterwards>([set] { return set("sdfn"); });
        need(set(fields));
        return back;
    }
};

TEST_F(Hash, FieldsThatAreLeftOutDoNotSpreadFlows) {
    auto silence = quiet();
    for (auto [kind, family] : {std::pair{"udp4", Family::ipv4}, std::pair{"udp6", Family::ipv6}}) {
        SCOPED_TRACE(kind);
        EXPECT_EQ(queues_of_flows(family).size(), kQueues);
        for (const char *fields : {"sd", "s", "d"}) {
            auto with = with_fields(kind, fields);
            EXPECT_EQ(queues_of_flows(family).size(), 1u) << fields << ": the ports are not looked at";
        }
        for (const char *fields : {"sdf", "n", "fn"}) {
            auto with = with_fields(kind, fields);
            EXPECT_GT(queues_of_flows(family).size(), 1u) << fields;
        }
    }
}

TEST_F(Hash, KeyOfZerosSendsEveryFlowToTheFirstEntry) {
    auto silence = quiet();
    std::string first = run(
        Side::b, "ethtool -x $IF | tr -d ' \\t' | grep -E '^([0-9a-f]{2}:){39}[0-9a-f]{2}$' | tr -d '\\n'");
    Afterwards back([&] { return guest().ethtool(Side::b, {"-X", interface(Side::b), "hkey", first}); });
    std::string zeros = "00";
    for (int i = 1; i < 40; ++i)
        zeros += ":00";
    need(guest().ethtool(Side::b, {"-X", interface(Side::b), "hkey", zeros}));
    EXPECT_EQ(queues_of_flows(), std::set<unsigned>{0});
}

TEST_F(Hash, WeightsSayWhichQueuesAreUsed) {
    auto silence = quiet();
    Afterwards back([this] { return guest().ethtool(Side::b, {"-X", interface(Side::b), "default"}); });
    need(guest().ethtool(Side::b, {"-X", interface(Side::b), "weight", "0", "1", "0", "3"}));
    EXPECT_EQ(queues_of_flows(), (std::set<unsigned>{1, 3}));
    need(guest().ethtool(Side::b, {"-X", interface(Side::b), "equal", "2"}));
    EXPECT_EQ(queues_of_flows(), (std::set<unsigned>{0, 1}));
}

} // namespace
} // namespace niclab::scenarios
