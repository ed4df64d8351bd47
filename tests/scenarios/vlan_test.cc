// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

constexpr std::uint16_t kCustomerTag = 0x8100, kServiceTag = 0x88a8;
constexpr std::uint16_t kVid = 100, kForeignVid = 200;

class Vlan : public Scenario {
  protected:
    static std::string address(Side side) { return side == Side::a ? "10.78.0.1" : "10.78.0.2"; }

    /// An interface "tagged" above each port, until the end of the scope.
    std::unique_ptr<Afterwards> vlans(const std::string &protocol, std::uint16_t vid = kVid) {
        auto remove = std::make_unique<Afterwards>([this]() -> Status {
            for (Side side : kBothSides)
                NICLAB_TRY(try_run(side, "ip link del tagged"));
            return {};
        });
        for (Side side : kBothSides)
            run(side, fmt::format("ip link add link $IF name tagged type vlan proto {} id {} && "
                                  "ip addr add {}/24 dev tagged && ip link set tagged up",
                                  protocol, vid, address(side)));
        return remove;
    }

    void expect_tagged_traffic() {
        EXPECT_EQ(ping_sizes(Side::a, {0, 1, 10, 18, 56, 1000, 1472, 4000}, address(Side::b)), "");
        for (Side from : kBothSides)
            expect_transfer(from, {.bytes = 2 << 20, .address = address(other(from))});
    }

    /// A short frame to the other side's own address with a tag of its own making in it.
    Bytes frame_with_tag(Side to, std::uint16_t tpid, std::uint16_t tci, unsigned seed) {
        return tagged(ethernet(mac(to), kLocalExperimental, pattern(80, seed)), tpid, tci);
    }
};

TEST_F(Vlan, TaggedPingAndTcpPass) {
    auto up = vlans("802.1Q");
    expect_tagged_traffic();
}

TEST_F(Vlan, TaggedTrafficPassesWithoutStripping) {
    auto up = vlans("802.1Q");
    auto a = with_features(Side::a, {"rxvlan", "off"});
    auto b = with_features(Side::b, {"rxvlan", "off"});
    EXPECT_FALSE(need(guest().offloads(Side::a)).at("rx-vlan-offload"));
    expect_tagged_traffic();
}

TEST_F(Vlan, TaggedTrafficPassesWithoutInsertion) {
    auto up = vlans("802.1Q");
    auto a = with_features(Side::a, {"txvlan", "off"});
    auto b = with_features(Side::b, {"txvlan", "off"});
    EXPECT_FALSE(need(guest().offloads(Side::a)).at("tx-vlan-offload"));
    expect_tagged_traffic();
}

TEST_F(Vlan, ServiceTaggedPingAndTcpPass) {
    auto up = vlans("802.1ad");
    expect_tagged_traffic();
}

TEST_F(Vlan, PriorityAndVidArriveAsSent) {
    auto up = vlans("802.1Q");
    const std::uint16_t tci = 5 << 13 | kVid;
    Bytes frame = frame_with_tag(Side::b, kCustomerTag, tci, 1);
    expect_arrivals(Side::a, {frame}, {frame});
    auto b = with_features(Side::b, {"rxvlan", "off"});
    frame = frame_with_tag(Side::b, kCustomerTag, tci, 2);
    expect_arrivals(Side::a, {frame}, {frame});
}

TEST_F(Vlan, AVidNobodyAddedIsFilteredAndPromiscuousSeesIt) {
    auto up = vlans("802.1Q");
    Bytes known = frame_with_tag(Side::b, kCustomerTag, kVid, 1);
    Bytes foreign = frame_with_tag(Side::b, kCustomerTag, kForeignVid, 2);
    expect_arrivals(Side::a, {foreign, known}, {known});
    {
        Afterwards off([this] { return try_run(Side::b, "ip link set $IF promisc off"); });
        run(Side::b, "ip link set $IF promisc on");
        expect_arrivals(Side::a, {foreign, known}, {foreign, known});
    }
    expect_arrivals(Side::a, {foreign, known}, {known});
}

TEST_F(Vlan, AVidIsFilteredAgainOnceItsInterfaceIsGone) {
    Bytes frame = frame_with_tag(Side::b, kCustomerTag, kVid, 1);
    {
        auto up = vlans("802.1Q");
        expect_arrivals(Side::a, {frame}, {frame});
    }
    expect_arrivals(Side::a, {frame}, {});
}

TEST_F(Vlan, ManyVidsAreKnownAtOnce) {
    const std::string each = "for vid in 2 3 63 64 1000 4000 4094; do ";
    Afterwards remove([&] { return try_run(Side::b, each + "ip link del v$vid; done"); });
    run(Side::b,
        each + "ip link add link $IF name v$vid type vlan id $vid && ip link set v$vid up || exit 1; done");
    std::vector<Bytes> sent, wanted;
    for (std::uint16_t vid : {2, 4, 63, 64, 65, 1000, 4094, 4093}) {
        sent.push_back(frame_with_tag(Side::b, kCustomerTag, vid, vid));
        if (vid != 4 && vid != 65 && vid != 4093) wanted.push_back(sent.back());
    }
    expect_arrivals(Side::a, sent, wanted);
}

TEST_F(Vlan, FilterOffLetsEveryVidIn) {
    if (!need(guest().offloads(Side::b)).at("rx-vlan-filter"))
        GTEST_SKIP() << "the driver has no VLAN filter";
    Bytes foreign = frame_with_tag(Side::b, kCustomerTag, kForeignVid, 1);
    if (Status fixed = guest().ethtool(Side::b, {"-K", interface(Side::b), "rx-vlan-filter", "off"});
        !fixed.ok())
        GTEST_SKIP() << "a VLAN filter that can be switched: " << fixed.why();
    Afterwards on([this] {
        return guest().ethtool(Side::b, {"-K", interface(Side::b), "rx-vlan-filter", "on"});
    });
    expect_arrivals(Side::a, {foreign}, {foreign});
}

TEST_F(Vlan, ServiceTaggedFramesAreNotTakenForCustomerTaggedOnes) {
    auto up = vlans("802.1ad");
    Bytes service = frame_with_tag(Side::b, kServiceTag, kVid, 1);
    Bytes customer = frame_with_tag(Side::b, kCustomerTag, kVid, 2);
    expect_arrivals(Side::a, {customer, service}, {service});
}

} // namespace
} // namespace niclab::scenarios
