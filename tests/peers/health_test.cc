// SPDX-License-Identifier: GPL-2.0-or-later
// The stock driver's health reporters when the card reports trouble.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Health : public Scenario {
  protected:
    void SetUp() override {
        Scenario::SetUp();
        if (!HasFatalFailure()) place_ = need(guest().pci_address(Side::a));
    }
    Status set(const std::string &name, unsigned value) {
        auto done =
            vm().qmp("qom-set", {{"path", "/machine/peripheral/nic0"}, {"property", name}, {"value", value}});
        return done.ok() ? Status() : Status(done.error());
    }
    std::string reporter(const std::string &name) {
        CommandResult shown =
            need(vm().run({"devlink", "health", "show", "pci/" + place_, "reporter", name}, 20s));
        return shown.out + shown.err;
    }
    void wait_for(const std::string &name, const std::string &word) {
        need(vm().until(name + " to say " + word, 60s,
                        [&]() -> Result<bool> { return reporter(name).find(word) != std::string::npos; }));
    }
    /// The interface that the driver makes anew is again of the same name, but in the first namespace.
    void take_interface_back() {
        need(vm().until("the new interface", 20s, [this]() -> Result<bool> {
            CommandResult moved =
                NICLAB_TRY(vm().run({"ip", "link", "set", "dev", interface(Side::a), "netns", "a"}, 20s));
            return moved.ok();
        }));
    }

    std::string place_;
};

// What the driver complains about meanwhile is what this is about; binding it anew gives it fresh reporters.
// Its recovery replaces the network interface.
TEST_F(Health, TroubleIsReportedAndFatalTroubleEndsWithARecovery) {
    Afterwards fresh([this]() -> Status {
        NICLAB_TRY(set("health-syndrome", 0));
        NICLAB_TRY(lab().repair());
        return guest().mark();
    });
    need(set("health-syndrome", 1));
    wait_for("fw", "error 1");
    EXPECT_NE(need(vm().run({"devlink", "health", "diagnose", "pci/" + place_, "reporter", "fw"}, 20s))
                  .out.find("firmware internal error"),
              std::string::npos);
    need(set("health-syndrome", 0));
    expect_ping();

    need(set("fatal-syndrome", 1));
    wait_for("fw_fatal", "recover 1");
    take_interface_back();
    need(guest().set_up(Side::a));
    need(guest().wait_link(Side::a));
    expect_ping();
    expect_transfer(Side::a);
}

// Entries of flow tables are objects, too, that need the card's memory.
TEST_F(Health, PagesAreGivenWhenManyObjectsNeedThemAndTakenBackAfterwards) {
    auto on = with_features(Side::a, {"ntuple", "on"});
    auto pages = [this] { return card_counter(Side::a, "live_pages"); };
    const std::string each = "for j in $(seq 4); do\n(for i in $(seq $j 4 160); do ";
    const std::uint64_t first = pages();
    {
        Afterwards gone([&] {
            return try_run(Side::a, each + "ethtool -N $IF delete $i || exit 1; done) &\ndone; wait");
        });
        run(Side::a, each + "ethtool -N $IF flow-type udp4 dst-port $i action 1 loc $i; done) &\ndone; wait");
        ASSERT_GT(card_counter(Side::a, "live_objects"), 256 + 32u);
        need(vm().until("the card to get pages", 20s, [&]() -> Result<bool> { return pages() > first; }));
        expect_ping();
    }
    need(vm().until("the card to give them back", 20s, [&]() -> Result<bool> { return pages() == first; }));
    expect_ping();
}

} // namespace
} // namespace niclab::scenarios
