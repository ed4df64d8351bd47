// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "niclab/ethtool.h"
#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Identity : public Scenario {};

TEST_F(Identity, TheDriverUnderTestOwnsBothCards) {
    for (Side side : kBothSides)
        EXPECT_EQ(need(guest().driver_of(side)), subject().driver);
}

TEST_F(Identity, EthtoolNamesDriverFirmwareBoardAndPlace) {
    for (Side side : kBothSides) {
        std::string shown = run(side, "ethtool -i $IF");
        EXPECT_NE(shown.find("driver: " + subject().driver + "\n"), std::string::npos) << shown;
        EXPECT_NE(shown.find("bus-info: " + need(guest().pci_address(side)) + "\n"), std::string::npos)
            << shown;
        // "22.<minor>.<sub> (<board id>)": the initialization segment's and QUERY_ADAPTER's answers.
        EXPECT_NE(
            run(side,
                "ethtool -i $IF | sed -nE '/^firmware-version: 22\\.[0-9]+\\.[0-9]+ \\([A-Z0-9_]+\\)$/p'"),
            "")
            << shown;
    }
}

TEST_F(Identity, TheAddressIsTheOneTheHypervisorGave) {
    for (Side side : kBothSides)
        EXPECT_EQ(mac(side), mac_from(mac_of(vm().spec(), side == Side::a ? 0 : 1)));
}

class Link : public Scenario {
  protected:
    std::string carrier(Side side) { return run(side, "cat /sys/class/net/$IF/carrier"); }

    void set_cable(Side side, bool plugged) {
        need(vm().qmp("set_link", {{"name", side == Side::a ? "nic0" : "nic1"}, {"up", plugged}}));
    }

    void wait_carrier(Side side, const std::string &wanted) {
        need(vm().until("carrier " + wanted, 20s,
                        [&]() -> Result<bool> { return carrier(side) == wanted + "\n"; }));
    }
};

TEST_F(Link, SpeedAndDuplexAreThoseOfThePort) {
    for (Side side : kBothSides) {
        EXPECT_EQ(run(side, "cat /sys/class/net/$IF/speed /sys/class/net/$IF/duplex"), "100000\nfull\n");
        std::string shown = run(side, "ethtool $IF");
        EXPECT_NE(shown.find("Speed: 100000Mb/s"), std::string::npos) << shown;
        EXPECT_NE(shown.find("Link detected: yes"), std::string::npos) << shown;
    }
}

TEST_F(Link, APulledCableIsSeenAndPluggingItInHeals) {
    for (Side side : kBothSides) {
        {
            Afterwards plug([&]() -> Status {
                set_cable(side, true);
                return guest().wait_link(side);
            });
            set_cable(side, false);
            wait_carrier(side, "0");
            EXPECT_EQ(carrier(other(side)), "1\n") << "only one cable was pulled";
        }
        expect_ping();
    }
}

TEST_F(Link, ACablePulledWhileTheInterfaceIsDownIsMissedWhenItComesUp) {
    {
        Afterwards plug([&]() -> Status {
            set_cable(Side::a, true);
            return guest().wait_link(Side::a);
        });
        need(guest().set_down(Side::a));
        set_cable(Side::a, false);
        need(guest().set_up(Side::a));
        wait_carrier(Side::a, "0");
    }
    expect_ping();
}

TEST_F(Link, AnInterfaceThatIsDownTakesNothingAndComesBack) {
    {
        Afterwards up([&]() -> Status {
            NICLAB_TRY(guest().set_up(Side::a));
            return guest().wait_link(Side::a);
        });
        need(guest().set_down(Side::a));
        EXPECT_EQ(need(guest().ping(Side::b, 2)).received, 0u);
    }
    expect_ping();
}

} // namespace
} // namespace niclab::scenarios
