// SPDX-License-Identifier: GPL-2.0-or-later
// Our driver in a VM: what the common scenarios do not cover.
#include <fmt/format.h>

#include "niclab/artifacts.h"
#include "niclab/reload.h"
#include "scenarios/lab.h"

namespace niclab::scenarios {

const Subject &subject() {
    static const Subject ours{.driver = "niclab",
                              .kernel = NICLAB_TEST_KERNEL,
                              .module = "niclab",
                              .names = {.queue_packets = "ch{}_rx_packets",
                                        .vport = "port_{}_{}_{}",
                                        .port_packets = "port_phy_{}_packets",
                                        .out_of_buffer = "port_rx_out_of_buffer"}};
    return ours;
}

namespace {

class OurDriver : public Scenario {
  protected:
    /// Leaves both ports without driver and the module out of the kernel, until the end of the scope.
    std::unique_ptr<Afterwards> unloaded() {
        need(guest().unload("niclab"));
        return std::make_unique<Afterwards>([this] { return lab().connect(); });
    }

    CommandResult insmod(const std::string &parameters) {
        std::vector<std::string> argv = {"insmod", "/niclab/niclab.ko"};
        if (!parameters.empty()) argv.push_back(parameters);
        return need(vm().run(argv, 30s));
    }

    bool loaded() { return need(vm().run({"test", "-d", "/sys/module/niclab"}, 10s)).ok(); }
};

TEST_F(OurDriver, ClaimsNoDeviceByIdentity) {
    EXPECT_EQ(need(vm().run({"modinfo", "-F", "alias", "/niclab/niclab.ko"}, 10s)).out, "");
}

TEST_F(OurDriver, InsertingTheModuleBindsNothing) {
    auto without = unloaded();
    for (Side side : kBothSides)
        need(vm().script(
            fmt::format("echo >/sys/bus/pci/devices/{}/driver_override", need(guest().pci_address(side))),
            10s));
    ASSERT_EQ(insmod("").exit_code, 0);
    for (Side side : kBothSides)
        EXPECT_EQ(need(guest().driver_of(side)), "");
}

TEST_F(OurDriver, TheReceiveMappingIsShownAsAParameter) {
    EXPECT_EQ(need(vm().run({"cat", "/sys/module/niclab/parameters/rx_map"}, 10s)).out, "fragment\n");
}

TEST_F(OurDriver, AnUnknownReceiveMappingIsRefused) {
    auto without = unloaded();
    for (const char *value : {"rx_map=nonsense", "rx_map=", "rx_map=fragment2", "rx_map=FRAGMENT"}) {
        CommandResult refused = insmod(value);
        EXPECT_NE(refused.exit_code, 0) << value;
        EXPECT_NE(refused.err.find("Invalid"), std::string::npos) << refused.err;
        EXPECT_FALSE(loaded()) << value;
    }
}

TEST_F(OurDriver, TheReceiveMappingCanBeNamedWhenInserting) {
    auto without = unloaded();
    need(guest().load_niclab("rx_map=fragment"));
    EXPECT_TRUE(loaded());
    EXPECT_EQ(need(vm().run({"cat", "/sys/module/niclab/parameters/rx_map"}, 10s)).out, "fragment\n");
}

TEST_F(OurDriver, ANewBuildIsSwappedInWhileTheMachineRuns) {
    std::string module = need(driver_module(subject().kernel)), said;
    auto say = [&](const std::string &line) { said += line + "\n"; };
    need(vm().script("echo not a module >/niclab/niclab.ko", 10s));
    need(reload_driver(guest(), module, "rx_map=fragment", say));
    EXPECT_NE(said.find("link up, ping and 1 MiB over TCP both ways"), std::string::npos) << said;
    EXPECT_NE(said.find("niclab "), std::string::npos) << "the driver's own lines: " << said;
    Status refused = reload_driver(guest(), module, "rx_map=nonsense", say);
    EXPECT_NE(refused.why().find("loading niclab.ko failed"), std::string::npos) << refused.why();
    need(lab().connect());
}

} // namespace
} // namespace niclab::scenarios
