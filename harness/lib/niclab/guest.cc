// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/guest.h"

#include <atomic>

#include <fmt/format.h>

#include "niclab/ethtool.h"

using nlohmann::json;

namespace niclab {
namespace {

constexpr auto kQuick = std::chrono::seconds(20);
constexpr auto kProbe = std::chrono::seconds(60);

// What our driver or a stock driver must never make the card count.
constexpr const char *kErrorCounters[] = {"command_errors", "doorbells_invalid", "error_completions",
                                          "cq_overruns",    "eq_overruns",       "queue_errors",
                                          "dma_faults",     "guest_errors"};

size_t index_of(Side side) { return side == Side::a ? 0 : 1; }
const char *name_of(Side side) { return side == Side::a ? "a" : "b"; }

/// The command's own words when it failed.
Status succeeded(const Result<CommandResult> &ended, const std::string &what) {
    if (!ended.ok()) return ended.error();
    if (ended->ok()) return {};
    std::string words = ended->err.empty() ? ended->out : ended->err;
    words.erase(words.find_last_not_of("\n ") + 1);
    return Error{fmt::format("{} failed with status {}: {}", what, ended->exit_code, words)};
}

Result<json> parsed(const std::string &text, const std::string &what) {
    json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded())
        return Error{fmt::format("{} did not print JSON but '{}'", what, text.substr(0, 200))};
    return value;
}

/// "5 packets transmitted, 5 received, ...": the number before `word`.
unsigned number_before(const std::string &text, const std::string &word) {
    size_t end = text.find(word);
    if (end == std::string::npos) return 0;
    size_t begin = text.find_last_not_of("0123456789", end - 1);
    return static_cast<unsigned>(std::strtoul(text.c_str() + begin + 1, nullptr, 10));
}

Result<PingResult> ping_result(const Result<CommandResult> &ended) {
    if (!ended.ok()) return ended.error();
    PingResult result{number_before(ended->out, " packets transmitted"),
                      number_before(ended->out, " received")};
    if (result.sent == 0) return Error{fmt::format("ping sent nothing: {}{}", ended->out, ended->err)};
    return result;
}

CapturedFrame frame_of(const json &entry) {
    CapturedFrame frame;
    frame.hex = entry.value("hex", "");
    frame.length = entry.value("length", std::size_t{0});
    frame.count = entry.value("count", std::uint64_t{0});
    frame.checksum = entry.value("checksum", "");
    frame.type = entry.value("type", "");
    if (entry.contains("vlan_tci")) frame.vlan_tci = entry.value("vlan_tci", 0u);
    if (entry.contains("vlan_tpid")) frame.vlan_tpid = entry.value("vlan_tpid", 0u);
    return frame;
}

} // namespace

std::string Guest::address(Side side, bool ipv6) {
    return fmt::format("{}{}", ipv6 ? "fd77::" : "10.77.0.", index_of(side) + 1);
}

Status Guest::prepare() {
    // A name that no driver has keeps every driver off a card until bind_driver says which one may have it.
    // Duplicate detection and router solicitation would put frames on the wire that no test asked for.
    std::string script = "set -e\n";
    for (Side side : {Side::a, Side::b}) {
        script += fmt::format("ip netns add {0}\nip -n {0} link set lo up\nip netns exec {0} sysctl -qw "
                              "net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0 "
                              "net.ipv6.conf.default.router_solicitations=0\n",
                              name_of(side));
        if (index_of(side) < vm_.spec().nics.size())
            script += fmt::format("echo nobody >/sys/bus/pci/devices/{}/driver_override\n",
                                  NICLAB_TRY(pci_address(side)));
    }
    NICLAB_TRY(succeeded(vm_.script(script, kQuick), "making the namespaces"));
    return mark();
}

Result<std::string> Guest::pci_address(Side side) {
    std::string &known = port(side).pci;
    if (!known.empty()) return known;
    std::string root = root_port_address(index_of(side));
    auto listed = vm_.script(fmt::format("cd /sys/bus/pci/devices/{} && echo 0000:??:00.0", root), kQuick);
    NICLAB_TRY(succeeded(listed, "looking for card " + std::string(name_of(side))));
    std::string address = listed->out.substr(0, listed->out.find_first_of(" \n"));
    if (address.empty() || address.find('?') != std::string::npos)
        return Error{fmt::format("there is no card behind root port {}", root)};
    known = address;
    return known;
}

Result<std::string> Guest::driver_of(Side side) {
    std::string pci = NICLAB_TRY(pci_address(side));
    auto link = vm_.run({"readlink", "/sys/bus/pci/devices/" + pci + "/driver"}, kQuick);
    if (!link.ok()) return link.error();
    std::string path = link->out.substr(0, link->out.find('\n'));
    return path.substr(path.rfind('/') + 1);
}

Status Guest::load_niclab(const std::string &parameters) {
    return succeeded(vm_.script("insmod /niclab/niclab.ko " + parameters, kProbe), "loading niclab.ko");
}

Status Guest::load_module(const std::string &driver) {
    auto there = vm_.run({"test", "-d", "/sys/bus/pci/drivers/" + driver}, kQuick);
    if (!there.ok()) return there.error();
    if (there->ok()) return {};
    if (driver == "niclab") return load_niclab();
    return succeeded(vm_.run({"modprobe", driver}, kProbe), "loading the module " + driver);
}

Status Guest::unload(const std::string &module) {
    NICLAB_TRY(succeeded(vm_.run({"rmmod", module}, kProbe), "unloading the module " + module));
    for (Side side : {Side::a, Side::b})
        if (index_of(side) < vm_.spec().nics.size() && NICLAB_TRY(driver_of(side)).empty())
            port(side).interface.clear();
    return {};
}

Status Guest::unbind_driver(Side side) {
    std::string pci = NICLAB_TRY(pci_address(side));
    std::string script = fmt::format("set -e; cd /sys/bus/pci/devices/{}\n"
                                     "echo nobody >driver_override\n"
                                     "[ ! -e driver ] || echo {} >driver/unbind\n",
                                     pci, pci);
    port(side).interface.clear();
    return succeeded(vm_.script(script, kProbe), "unbinding " + pci);
}

Status Guest::bind_driver(Side side, const std::string &driver) {
    std::string pci = NICLAB_TRY(pci_address(side));
    std::string now = NICLAB_TRY(driver_of(side));
    // A driver that was loaded while the card waited for it has taken the card by itself.
    if (now == driver) return interface(side).empty() ? adopt_interface(side) : Status();
    if (!now.empty()) NICLAB_TRY(unbind_driver(side));
    NICLAB_TRY(load_module(driver));
    size_t console_before = vm_.console_size();
    // drivers_probe succeeds even if the driver's probe fails: the link tells.
    std::string script = fmt::format("set -e; cd /sys/bus/pci/devices/{0}\n"
                                     "echo {1} >driver_override\n"
                                     "echo {0} >/sys/bus/pci/drivers_probe\n"
                                     "[ -e driver ]\n",
                                     pci, driver);
    auto bound = vm_.script(script, kProbe);
    if (!bound.ok()) return bound.error();
    if (bound->ok()) return adopt_interface(side);
    std::string console = vm_.console(console_before);
    size_t line = console.rfind(pci);
    std::string words =
        line == std::string::npos ? "nothing" : console.substr(line, console.find('\n', line) - line);
    return Error{fmt::format("{} did not take card {}; the kernel says '{}'", driver, name_of(side), words)};
}

Status Guest::adopt_interface(Side side) {
    std::string pci = NICLAB_TRY(pci_address(side));
    // A virtio card is a device of the virtio bus on one of the PCI bus.
    std::string script =
        fmt::format("cd /sys/bus/pci/devices/{} && ls net virtio*/net 2>/dev/null | grep -v '[:/]'", pci);
    auto appeared = [&]() -> Result<bool> {
        CommandResult listed = NICLAB_TRY(vm_.script(script, kQuick));
        port(side).interface = listed.out.substr(0, listed.out.find('\n'));
        return !port(side).interface.empty();
    };
    NICLAB_TRY(vm_.until(fmt::format("the network interface of card {}", name_of(side)), kQuick, appeared));
    return succeeded(vm_.run({"ip", "link", "set", "dev", interface(side), "netns", name_of(side)}, kQuick),
                     "moving " + interface(side) + " into its namespace");
}

Status Guest::set_up(Side side) {
    // The kernel drops IPv6 addresses when an interface goes down, so both are set each time.
    std::string script =
        fmt::format("set -e\n"
                    "ip -n {0} addr replace {1}/24 dev {3}\n"
                    "ip -n {0} link set dev {3} up\n"
                    "ip -n {0} addr replace {2}/64 dev {3} nodad\n",
                    name_of(side), address(side), address(side, /*ipv6=*/true), interface(side));
    return succeeded(vm_.script(script, kProbe),
                     fmt::format("bringing up {} of card {}", interface(side), name_of(side)));
}

Status Guest::set_down(Side side) {
    return succeeded(
        vm_.run({"ip", "-n", name_of(side), "link", "set", "dev", interface(side), "down"}, kProbe),
        fmt::format("taking down {} of card {}", interface(side), name_of(side)));
}

Status Guest::set_mtu(Side side, unsigned mtu) {
    return succeeded(vm_.run({"ip", "-n", name_of(side), "link", "set", "dev", interface(side), "mtu",
                              std::to_string(mtu)},
                             kProbe),
                     fmt::format("setting MTU {} on card {}", mtu, name_of(side)));
}

Status Guest::wait_link(Side side, Milliseconds limit) {
    return vm_.until(fmt::format("the link of card {}", name_of(side)), limit, [&]() -> Result<bool> {
        json links = NICLAB_TRY(ip(side, {"link", "show", "dev", interface(side)}));
        return links.is_array() && !links.empty() && links[0].value("operstate", "") == "UP";
    });
}

Status Guest::connect(const std::string &driver) {
    for (Side side : {Side::a, Side::b})
        NICLAB_TRY(bind_driver(side, driver));
    for (Side side : {Side::a, Side::b})
        NICLAB_TRY(set_up(side));
    for (Side side : {Side::a, Side::b})
        NICLAB_TRY(wait_link(side));
    return {};
}

Result<CommandResult> Guest::run(Side side, std::vector<std::string> argv, Milliseconds limit) {
    // "ip netns exec" replaces itself by the program: a handle is the program's own process.
    argv.insert(argv.begin(), {"ip", "netns", "exec", name_of(side)});
    return vm_.run(argv, limit);
}

Result<CommandResult> Guest::script(Side side, const std::string &text, Milliseconds limit) {
    return run(side, {"/bin/sh", "-c", text}, limit);
}

Result<int> Guest::start(Side side, std::vector<std::string> argv) {
    argv.insert(argv.begin(), {"ip", "netns", "exec", name_of(side)});
    return vm_.start(argv);
}

Result<json> Guest::ip(Side side, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ip", "-n", name_of(side), "-j"});
    auto ended = vm_.run(arguments, kQuick);
    std::string what = fmt::format("{}", fmt::join(arguments, " "));
    NICLAB_TRY(succeeded(ended, what));
    return ended->out.empty() ? Result<json>(json::array()) : parsed(ended->out, what);
}

Result<PingResult> Guest::ping(Side from, unsigned count, unsigned payload, bool dont_fragment) {
    std::vector<std::string> argv = {"ping",
                                     "-n",
                                     "-q",
                                     "-i",
                                     "0.05",
                                     "-W",
                                     "5",
                                     "-c",
                                     std::to_string(count),
                                     "-s",
                                     std::to_string(payload)};
    if (dont_fragment) argv.insert(argv.end(), {"-M", "do"});
    argv.push_back(address(other(from)));
    return ping_result(run(from, argv, kQuick + std::chrono::seconds(count)));
}

Result<PingResult> Guest::ping6(Side from, unsigned count, unsigned payload) {
    return ping_result(run(from,
                           {"ping", "-6", "-n", "-q", "-i", "0.05", "-W", "5", "-c", std::to_string(count),
                            "-s", std::to_string(payload), address(other(from), /*ipv6=*/true)},
                           kQuick + std::chrono::seconds(count)));
}

Result<TransferResult> Guest::transfer(Side from, const TransferOptions &options) {
    std::vector<std::string> common = {"--bytes", std::to_string(options.bytes),
                                       "--seed",  std::to_string(options.seed),
                                       "--port",  std::to_string(options.port)};
    std::vector<std::string> receive = {"/niclab/xfer", "receive"};
    std::string to = options.address.empty() ? address(other(from), options.ipv6) : options.address;
    std::vector<std::string> send = {"/niclab/xfer", "send", to};
    receive.insert(receive.end(), common.begin(), common.end());
    send.insert(send.end(), common.begin(), common.end());
    int receiver = NICLAB_TRY(start(other(from), receive));
    CommandResult sent = NICLAB_TRY(run(from, send, options.limit));
    CommandResult received =
        NICLAB_TRY(vm_.wait(receiver, "the receiver of a transfer to end", options.limit));
    json sender = NICLAB_TRY(parsed(sent.out, "xfer send"));
    json got = NICLAB_TRY(parsed(received.out, "xfer receive"));
    TransferResult result;
    result.bytes = got.value("bytes", std::uint64_t{0});
    result.mbit_per_second = got.value("mbit_per_second", 0.0);
    result.why = got.value("error", "");
    if (result.why.empty()) result.why = sender.value("error", "");
    if (result.why.empty() && sender.value("digest", "") != got.value("digest", ""))
        result.why = "the digests of sender and receiver differ";
    result.hash_match = result.why.empty() && sent.ok() && received.ok();
    return result;
}

Result<Counters> Guest::ethtool_statistics(Side side) {
    auto ended = run(side, {"ethtool", "-S", interface(side)}, kQuick);
    NICLAB_TRY(succeeded(ended, "ethtool -S"));
    return parse_ethtool_statistics(ended->out);
}

Result<std::map<std::string, bool>> Guest::offloads(Side side) {
    auto ended = run(side, {"ethtool", "-k", interface(side)}, kQuick);
    NICLAB_TRY(succeeded(ended, "ethtool -k"));
    return parse_ethtool_features(ended->out);
}

Status Guest::ethtool(Side side, const std::vector<std::string> &arguments) {
    std::vector<std::string> argv = {"ethtool"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return succeeded(run(side, argv, kProbe), fmt::format("{}", fmt::join(argv, " ")));
}

Result<json> Guest::link_statistics(Side side) {
    json links = NICLAB_TRY(ip(side, {"-s", "link", "show", "dev", interface(side)}));
    if (!links.is_array() || links.empty() || !links[0].contains("stats64"))
        return Error{fmt::format("ip does not show statistics of {}", interface(side))};
    return links[0]["stats64"];
}

Status Guest::send_frame(Side from, const std::string &hex, const SendOptions &options) {
    // The frame goes through standard input: an argument may not be as long as 64 KiB in hex are.
    std::vector<std::string> argv = {"ip",           "netns", "exec",          name_of(from),
                                     "/niclab/wire", "send",  interface(from), "-"};
    argv.insert(argv.end(),
                {"--count", std::to_string(options.count), "--gap-us", std::to_string(options.gap_us)});
    if (options.vary_offset) argv.insert(argv.end(), {"--vary", std::to_string(*options.vary_offset)});
    if (options.checksum)
        argv.insert(argv.end(),
                    {"--checksum", fmt::format("{}:{}", options.checksum->first, options.checksum->second)});
    if (options.gso)
        argv.insert(argv.end(), {"--gso", *options.gso, "--gso-size", std::to_string(options.gso_size),
                                 "--header-length", std::to_string(options.header_length)});
    return succeeded(vm_.run(argv, kProbe, hex), "sending a frame");
}

Result<int> Guest::start_capture(Side at, const std::string &filter, unsigned count,
                                 Milliseconds for_how_long) {
    static std::atomic<unsigned> serial{0};
    std::string ready = fmt::format("/run/capture-{}", ++serial);
    std::vector<std::string> argv = {"/niclab/wire",
                                     "capture",
                                     interface(at),
                                     "--count",
                                     std::to_string(count),
                                     "--for-ms",
                                     std::to_string(for_how_long.count()),
                                     "--ready",
                                     ready};
    if (!filter.empty()) argv.insert(argv.end(), {"--filter", filter});
    int handle = NICLAB_TRY(start(at, argv));
    NICLAB_TRY(succeeded(vm_.run({"/niclab/wire", "await", ready}, kQuick), "starting a capture"));
    capture_limits_[handle] = for_how_long + kQuick;
    return handle;
}

Result<std::vector<CapturedFrame>> Guest::finish_capture(int handle) {
    auto ended = vm_.wait(handle, "a capture to end", capture_limits_[handle]);
    NICLAB_TRY(succeeded(ended, "the capture"));
    json entries = NICLAB_TRY(parsed(ended->out, "wire capture"));
    std::vector<CapturedFrame> frames;
    for (const json &entry : entries)
        frames.push_back(frame_of(entry));
    return frames;
}

Result<Counters> Guest::error_counters(size_t card) {
    Counters errors;
    if (card >= vm_.spec().nics.size() || vm_.spec().nics[card].model != "connectx") return errors;
    Counters all = NICLAB_TRY(vm_.card_counters(card));
    for (const char *name : kErrorCounters)
        if (auto found = all.find(name); found != all.end()) errors.insert(*found);
    return errors;
}

Status Guest::mark() {
    for (size_t card = 0; card < counters_mark_.size(); ++card)
        counters_mark_[card] = NICLAB_TRY(error_counters(card));
    console_mark_ = vm_.console_size();
    return {};
}

Status Guest::expect_clean() {
    std::string faults = vm_.crash_report(console_mark_);
    for (size_t card = 0; card < counters_mark_.size(); ++card) {
        Counters now = NICLAB_TRY(error_counters(card));
        for (const auto &[name, value] : now)
            if (value != counters_mark_[card][name])
                faults += fmt::format("{}card {} counted {} {}",
                                      faults.empty() || faults.ends_with('\n') ? "" : "\n", card,
                                      value - counters_mark_[card][name], name);
    }
    if (!faults.empty()) return Error{faults};
    return {};
}

} // namespace niclab
