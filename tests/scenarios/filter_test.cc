// SPDX-License-Identifier: GPL-2.0-or-later
// Which destination addresses a port takes.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

constexpr Mac kForeign = {0x02, 0, 0, 0x77, 0, 0x99};
constexpr Mac kGroup = {0x01, 0, 0x5e, 0x01, 0x02, 0x03};
constexpr Mac kOtherGroup = {0x01, 0, 0x5e, 0x01, 0x02, 0x04};

class Filter : public Scenario {
  protected:
    Bytes to(const Mac &mac) { return ethernet(mac, kLocalExperimental, pattern(100, ++made_)); }

    /// A setting of side b until the end of the scope.
    std::unique_ptr<Afterwards> with(const std::string &set, const std::string &undo) {
        auto restore = std::make_unique<Afterwards>([this, undo] { return try_run(Side::b, undo); });
        run(Side::b, set);
        return restore;
    }

  private:
    unsigned made_ = 0;
};

TEST_F(Filter, OwnAddressAndBroadcastArriveAndAForeignUnicastDoesNot) {
    Bytes own = to(mac(Side::b)), foreign = to(kForeign), broadcast = to(kBroadcast);
    expect_arrivals(Side::a, {foreign, own, broadcast}, {own, broadcast});
}

TEST_F(Filter, PromiscuousSeesForeignUnicastUntilItEnds) {
    Bytes foreign = to(kForeign);
    {
        auto promiscuous = with("ip link set $IF promisc on", "ip link set $IF promisc off");
        Bytes group = to(kGroup);
        expect_arrivals(Side::a, {foreign, group}, {foreign, group});
    }
    expect_arrivals(Side::a, {foreign}, {});
}

TEST_F(Filter, AGroupIsHeardOnlyWhileJoined) {
    Bytes group = to(kGroup), other_group = to(kOtherGroup);
    expect_arrivals(Side::a, {group}, {});
    {
        auto joined =
            with("ip maddr add 01:00:5e:01:02:03 dev $IF", "ip maddr del 01:00:5e:01:02:03 dev $IF");
        expect_arrivals(Side::a, {other_group, group}, {group});
    }
    expect_arrivals(Side::a, {group}, {});
}

TEST_F(Filter, AllMulticastHearsEveryGroupButNoForeignUnicast) {
    Bytes group = to(kGroup), foreign = to(kForeign);
    {
        auto all = with("ip link set $IF allmulticast on", "ip link set $IF allmulticast off");
        expect_arrivals(Side::a, {foreign, group}, {group});
    }
    expect_arrivals(Side::a, {group}, {});
}

TEST_F(Filter, AChangedAddressReplacesTheOldOne) {
    Mac first = mac(Side::b);
    Bytes old_frame = to(first), new_frame = to({0x02, 0, 0, 0x77, 0, 0x55});
    std::string original = address_text(Side::b);
    {
        auto changed =
            with("ip link set $IF address 02:00:00:77:00:55", "ip link set $IF address " + original);
        expect_arrivals(Side::a, {old_frame, new_frame}, {new_frame});
        run(Side::a, "ip neigh flush dev $IF");
        expect_ping();
    }
    expect_arrivals(Side::a, {new_frame, old_frame}, {old_frame});
    run(Side::a, "ip neigh flush dev $IF");
    expect_ping();
}

TEST_F(Filter, FurtherUnicastAddressesAreTakenTooUntilRemoved) {
    Bytes further = to({0x02, 0, 0, 0x77, 0, 0x66}), foreign = to(kForeign);
    {
        auto stacked =
            with("ip link add link $IF name stacked address 02:00:00:77:00:66 type macvlan mode bridge && "
                 "ip link set stacked up",
                 "ip link del stacked");
        expect_arrivals(Side::a, {foreign, further}, {further});
    }
    expect_arrivals(Side::a, {further}, {});
}

TEST_F(Filter, SettingsSurviveIfdownAndIfup) {
    Bytes group = to(kGroup), foreign = to(kForeign);
    auto joined = with("ip maddr add 01:00:5e:01:02:03 dev $IF", "ip maddr del 01:00:5e:01:02:03 dev $IF");
    need(guest().set_down(Side::b));
    need(guest().set_up(Side::b));
    need(guest().wait_link(Side::b));
    expect_arrivals(Side::a, {foreign, group}, {group});
}

} // namespace
} // namespace niclab::scenarios
