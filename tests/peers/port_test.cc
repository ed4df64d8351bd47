// SPDX-License-Identifier: GPL-2.0-or-later
// What the stock driver asks of the port, the board and the cable module.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class PortOfStock : public Scenario {
  protected:
    std::string card(Side side) {
        return side == Side::a ? "/machine/peripheral/nic0" : "/machine/peripheral/nic1";
    }
    nlohmann::json property(const std::string &name) {
        return need(vm().qmp("qom-get", {{"path", card(Side::a)}, {"property", name}}));
    }
    Status set_property(const std::string &name, const nlohmann::json &value) {
        auto done = vm().qmp("qom-set", {{"path", card(Side::a)}, {"property", name}, {"value", value}});
        return done.ok() ? Status() : Status(done.error());
    }
    void expect_words(const std::string &command, const std::vector<std::string> &words) {
        std::string shown = run(Side::a, command);
        for (const std::string &word : words)
            EXPECT_NE(shown.find(word), std::string::npos) << "no '" << word << "' in " << shown;
    }
    std::unique_ptr<Afterwards> afterwards(const std::string &undo) {
        return std::make_unique<Afterwards>([this, undo]() -> Status {
            NICLAB_TRY(try_run(Side::a, undo));
            return guest().wait_link(Side::a);
        });
    }
};

TEST_F(PortOfStock, RunsAtTheSpeedThatEthtoolSets) {
    {
        auto back = afterwards("ethtool -s $IF autoneg on advertise 0x4000000000");
        expect_words("ethtool $IF", {"100000baseCR4/Full", "25000baseCR/Full", "Port: Direct Attach Copper"});
        run(Side::a, "ethtool -s $IF speed 25000 autoneg off");
        need(guest().wait_link(Side::a));
        expect_words("ethtool $IF", {"Speed: 25000Mb/s", "Auto-negotiation: off"});
        expect_ping();
        run(Side::a, "! ethtool -s $IF speed 56000 autoneg off 2>&1");
    }
    expect_words("ethtool $IF", {"Speed: 100000Mb/s", "Auto-negotiation: on"});
}

TEST_F(PortOfStock, ErrorCorrectionFollowsEthtool) {
    auto back = afterwards("ethtool --set-fec $IF encoding auto");
    expect_words("ethtool --show-fec $IF", {"Active FEC encoding: RS"});
    run(Side::a, "ethtool --set-fec $IF encoding off");
    need(guest().wait_link(Side::a));
    expect_words("ethtool --show-fec $IF", {"Active FEC encoding: Off"});
}

TEST_F(PortOfStock, PauseFollowsEthtool) {
    auto back = afterwards("ethtool -A $IF rx on tx on");
    expect_words("ethtool -a $IF", {"RX:\t\ton", "TX:\t\ton"});
    run(Side::a, "ethtool -A $IF rx off tx on");
    expect_words("ethtool -a $IF", {"RX:\t\toff", "TX:\t\ton"});
}

TEST_F(PortOfStock, APauseFrameIsObeyedAndCounted) {
    auto silence = quiet();
    std::uint64_t frames = statistic(Side::b, "rx_pause_ctrl_phy"),
                  obeyed = statistic(Side::b, "rx_global_pause"), packets = statistic(Side::b, "rx_packets");
    Bytes pause = ethernet({0x01, 0x80, 0xc2, 0, 0, 1}, 0x8808, {0, 1, 0xff, 0xff});
    need(guest().send_frame(Side::a, hex(padded(pause)), {.count = 5}));
    EXPECT_EQ(statistic(Side::b, "rx_pause_ctrl_phy"), frames + 5);
    EXPECT_EQ(statistic(Side::b, "rx_global_pause"), obeyed + 5);
    EXPECT_EQ(statistic(Side::b, "rx_packets"), packets) << "nobody behind the port sees them";
}

TEST_F(PortOfStock, TheModuleIsReadAndItsPullingIsSeen) {
    expect_words("ethtool -m $IF", {"QSFP28", "100G Base-CR4", "niclab", "NL-QSFP28-CR4-1M"});
    {
        Afterwards plug([this]() -> Status {
            NICLAB_TRY(set_property("module-plugged", true));
            return guest().wait_link(Side::a);
        });
        std::uint64_t before = statistic(Side::a, "module_unplug");
        need(set_property("module-plugged", false));
        need(vm().until("the link to go", 20s, [&]() -> Result<bool> {
            return run(Side::a, "cat /sys/class/net/$IF/carrier") == "0\n";
        }));
        EXPECT_EQ(statistic(Side::a, "module_unplug"), before + 1);
        expect_words("ethtool $IF", {"No cable"});
    }
    expect_ping();
}

TEST_F(PortOfStock, TheIndicatorLightBlinksWhileEthtoolAsks) {
    EXPECT_EQ(property("beacon"), false);
    int handle = need(guest().start(Side::a, {"ethtool", "-p", interface(Side::a), "3"}));
    need(vm().until("the light to blink", 20s, [&]() -> Result<bool> { return property("beacon") == true; }));
    EXPECT_TRUE(need(vm().wait(handle, "ethtool -p", 30s)).ok());
    EXPECT_EQ(property("beacon"), false);
}

TEST_F(PortOfStock, DevlinkKnowsTheFirmware) {
    std::string place = need(guest().pci_address(Side::a));
    CommandResult shown = need(vm().run({"devlink", "dev", "info", "pci/" + place}, 20s));
    EXPECT_NE(shown.out.find("fw.version 22.35.1000"), std::string::npos) << shown.out << shown.err;
}

TEST_F(PortOfStock, TheSelfTestFindsEverythingGood) {
    std::uint64_t before = card_counter(Side::a, "loopback_frames");
    expect_words("ethtool -t $IF",
                 {"Link Test\t 0", "Speed Test\t 0", "Health Test\t 0", "Loopback Test\t 0"});
    EXPECT_EQ(card_counter(Side::a, "loopback_frames"), before + 1);
}

} // namespace
} // namespace niclab::scenarios
