// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/script.h"

#include <fmt/format.h>

#include "niclab/guest.h"

namespace niclab::bench {
namespace {

// Port 0 is measured and lives in namespace "a", port 1 is the other end in "b". Neighbours are written down
// and IPv6 is off, so that nothing but the load is on the wire.
constexpr const char *kPrologue = R"(#!/bin/sh
load=/niclab/load

# bind PORT-ADDRESS PCI-DRIVER MODULE: prints the card's address
bind() {
    cd /sys/bus/pci/devices/$1/0000:??:00.0 || return 1
    card=${PWD##*/}
    echo $2 >driver_override
    if [ -e /niclab/$3.ko ]; then insmod /niclab/$3.ko; else modprobe -a $2 $3; fi
    [ -e driver ] || echo $card >/sys/bus/pci/drivers_probe
    [ -e driver ] && echo $card
}

# interface CARD: prints the name of its network interface
interface() {
    tries=0
    while [ $tries -lt 100 ]; do
        for name in /sys/bus/pci/devices/$1/net/* /sys/bus/pci/devices/$1/virtio*/net/*; do
            [ -e $name ] && echo ${name##*/} && return
        done
        tries=$((tries + 1))
        sleep 0.1
    done
    return 1
}

# connect NAMESPACE INTERFACE ADDRESS
connect() {
    ip netns add $1 && ip link set $2 netns $1 && ip -n $1 link set lo up || return 1
    ip netns exec $1 sysctl -qw net.ipv6.conf.all.disable_ipv6=1
    ip -n $1 addr add $3/24 dev $2 && ip -n $1 link set $2 up
}

wait_link() {
    tries=0
    until ip -n $1 -o link show $2 | grep -q 'state UP'; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || return 1
        sleep 0.1
    done
}

mac_in() { ip netns exec $1 cat /sys/class/net/$2/address; }
)";

// measure NAME VERB COUNT OPTION...
constexpr const char *kCounted = R"(
$load note start
broken() { $load note "broken $*"; exit 1; }
measure() {
    name=$1 verb=$2
    shift 2
    why=$($load $verb $name "$@" 2>&1) || $load note "skip $name $why"
}
)";

constexpr const char *kTimed = R"sh(
broken() { echo "broken $*"; exit 0; }
measure() {
    name=$1 verb=$2
    shift 2
    $load $verb $name "$@" 2>/tmp/why || echo "skip $name $(tail -n 1 /tmp/why)"
}
)sh";

std::string connection(const Driver &driver) {
    return fmt::format(R"(
card_a=$(bind {port_a} {pci_driver} {driver}) || broken "{driver} does not take its card"
card_b=$(bind {port_b} {peer} {peer}) || broken "{peer} does not take its card"
a=$(interface $card_a) || broken "{driver} makes no network interface"
b=$(interface $card_b) || broken "{peer} makes no network interface"
connect a $a {address_a} && connect b $b {address_b} || broken "the namespaces are not made"
wait_link a $a || broken "the link of {driver} does not come up"
wait_link b $b || broken "the link of {peer} does not come up"
mac_a=$(mac_in a $a) mac_b=$(mac_in b $b) foreign=02:00:00:00:00:99
ip -n a neigh add {address_b} lladdr $mac_b dev $a nud permanent
ip -n b neigh add {address_a} lladdr $mac_a dev $b nud permanent
sysctl -qw net.core.bpf_jit_kallsyms=1
modprobe pktgen
sleep 3
)",
                       fmt::arg("port_a", root_port_address(0)), fmt::arg("port_b", root_port_address(1)),
                       fmt::arg("pci_driver", driver.pci_driver), fmt::arg("driver", driver.name),
                       fmt::arg("peer", driver.peer), fmt::arg("address_a", Guest::address(Side::a)),
                       fmt::arg("address_b", Guest::address(Side::b)));
}

std::string load_line(const Planned &planned, bool baseline) {
    const Scenario &row = *planned.scenario;
    bool out = row.way == Way::out;
    std::string line =
        fmt::format("measure {}{} {} {} --from {} --to {} --interface ${} --burst {} --flows {}", row.name,
                    baseline ? kBaselineSuffix : "", row.load, planned.units, out ? "a" : "b",
                    out ? "b" : "a", out ? "a" : "b", row.burst, row.flows);
    if (row.size) line += fmt::format(" --size {}", row.size);
    // What only is sent goes to nobody: the other end's card drops it without a cost to the guest.
    bool taken = !out && !baseline;
    line += fmt::format(" --mac ${} --address {}", taken ? "mac_a" : "foreign",
                        Guest::address(out ? Side::b : Side::a));
    if (row.drop == Drop::xdp) line += " --xdp-drop $a";
    return line + "\n";
}

std::string scenario_lines(const Planned &planned) {
    std::string lines;
    if (planned.scenario->drop == Drop::tc)
        lines +=
            "tc -n a qdisc add dev $a ingress && tc -n a filter add dev $a ingress matchall action drop ||\n"
            "    broken \"tc takes no filter\"\n";
    if (planned.scenario->has_baseline()) lines += load_line(planned, /*baseline=*/true);
    lines += load_line(planned, /*baseline=*/false);
    if (planned.scenario->drop == Drop::tc) lines += "tc -n a qdisc del dev $a ingress\n";
    return lines;
}

std::string all_lines(const Driver &driver, const std::vector<Planned> &planned) {
    std::string lines = connection(driver);
    for (const Planned &each : planned)
        lines += "\n" + scenario_lines(each);
    return lines;
}

} // namespace

std::string guest_script(const Driver &driver, const std::vector<Planned> &planned) {
    return kPrologue + (kCounted + all_lines(driver, planned)) +
           "\n$load publish kallsyms /proc/kallsyms\n$load note done\n";
}

std::string timed_script(const Driver &driver, const std::vector<Planned> &planned) {
    return kPrologue + (kTimed + all_lines(driver, planned));
}

} // namespace niclab::bench
