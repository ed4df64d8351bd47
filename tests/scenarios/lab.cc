// SPDX-License-Identifier: GPL-2.0-or-later
#include "scenarios/lab.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "niclab/artifacts.h"
#include "niclab/lifeline.h"
#include "niclab/matrix/machine.h"
#include "niclab/progress.h"

namespace niclab::scenarios {
namespace {

std::unique_ptr<Lab> the_lab;

/// The VM ends with the program's last test, not among the destructors of static objects.
class EndOfProgram : public ::testing::Environment {
  public:
    void TearDown() override {
        if (!the_lab) return;
        // What the kernel said after the last scenario belongs to no test but counts all the same.
        if (Status clean = the_lab->guest().expect_clean(); !clean.ok()) ADD_FAILURE() << clean.why();
        Lab::end();
    }
};
const auto *const end_of_program = ::testing::AddGlobalTestEnvironment(new EndOfProgram);

/// Under emulation, a processor may lose its timer while the kernel starts: it then idles for ever, and the
/// guest never answers. No driver runs by then, so this says nothing about what is tested here; a second
/// machine is tried, and the first one's logs stay in the run's folder.
Result<Vm> boot_machine(const VmSpec &spec, const RunFolder &run) {
    auto first = Vm::boot(spec, run, 90s);
    if (first.ok() || Lifeline::interrupted()) return first;
    progress("the machine did not boot, trying once more: " + first.why());
    return Vm::boot(spec, run);
}

Result<std::unique_ptr<Lab>> boot() {
    RunFolder run = NICLAB_TRY(RunFolder::create(subject().driver + "-" + subject().kernel));
    VmSpec spec = two_connectx_ports(subject().kernel);
    spec.vcpus = 4; // as many channels
    for (NicSpec &nic : spec.nics)
        nic.model = subject().card;
    NICLAB_TRY(matrix::set_iommu_from_environment(spec));
    if (subject().driver == "niclab") NICLAB_TRY(add_driver(spec));
    Vm vm = NICLAB_TRY(boot_machine(spec, run));
    auto lab = std::make_unique<Lab>(std::move(vm));
    NICLAB_TRY(lab->guest().prepare());
    NICLAB_TRY(lab->connect());
    return lab;
}

const char *const kStateScript = R"(
{ ip -o -d link; ip -o -4 addr show dev $IF; ethtool -k $IF; ethtool -l $IF; ethtool -g $IF; } |
sed -E "s/^[0-9]+: //; s/\b$IF\b/IF/g; s/ state [A-Z]+//; s/,(LOWER_UP|NO-CARRIER)//g; s/<NO-CARRIER,/</"
)";

} // namespace

Result<Lab *> Lab::get() {
    static std::string refusal;
    if (the_lab && !the_lab->vm().alive()) end();
    if (the_lab) return the_lab.get();
    if (!refusal.empty()) return Error{refusal};
    auto booted = boot();
    if (!booted.ok()) {
        refusal = booted.why();
        return booted.error();
    }
    the_lab = booted.take();
    return the_lab.get();
}

void Lab::end() { the_lab.reset(); }

Status Lab::connect() {
    NICLAB_TRY(guest_.connect(subject().driver));
    std::string now = NICLAB_TRY(state());
    if (first_state_.empty()) first_state_ = now;
    return {};
}

Status Lab::repair() {
    for (Side side : kBothSides)
        NICLAB_TRY(guest_.unbind_driver(side));
    return connect();
}

Result<std::string> Lab::state() {
    std::string text;
    for (Side side : kBothSides) {
        std::string script = fmt::format("IF={}{}", guest_.interface(side), kStateScript);
        CommandResult shown = NICLAB_TRY(guest_.script(side, script, 30s));
        text += shown.out + shown.err;
    }
    return text;
}

void Scenario::SetUp() {
    auto lab = Lab::get();
    ASSERT_TRUE(lab.ok()) << lab.why();
    lab_ = *lab;
}

void Scenario::TearDown() {
    if (!lab_) return;
    if (Status clean = guest().expect_clean(); !clean.ok()) ADD_FAILURE() << clean.why();
    if (auto state = lab_->state(); !state.ok())
        ADD_FAILURE() << state.why();
    else
        EXPECT_EQ(*state, lab_->first_state()) << "the scenario did not leave the ports as it found them";
    // Complaints count from the driver's first load on, without a gap between scenarios; only a failure,
    // whose complaints were told, sets a new beginning.
    if (HasFailure() && !(lab_->repair().ok() && guest().mark().ok())) Lab::end();
}

std::string Scenario::address_text(Side side) { return run(side, "tr -d '\\n' </sys/class/net/$IF/address"); }

Status Scenario::try_run(Side side, const std::string &script, Milliseconds limit) {
    std::string text = fmt::format("IF={}\n{}", interface(side), script);
    CommandResult ended = NICLAB_TRY(guest().script(side, text, limit));
    if (!ended.ok())
        return Error{
            fmt::format("'{}' ended with status {}: {}{}", script, ended.exit_code, ended.out, ended.err)};
    return {};
}

std::string Scenario::run(Side side, const std::string &script, Milliseconds limit,
                          std::source_location where) {
    std::string text = fmt::format("IF={}\n{}", interface(side), script);
    CommandResult ended = need(guest().script(side, text, limit), where);
    if (!ended.ok())
        need(Status(Error{fmt::format("'{}' ended with status {}: {}{}", script, ended.exit_code, ended.out,
                                      ended.err)}),
             where);
    return ended.out;
}

std::string Scenario::ping_sizes(Side from, const std::vector<unsigned> &sizes, const std::string &address,
                                 const std::string &options) {
    return run(from,
               fmt::format(R"(for size in {}; do
    out=$(ping -n -c 1 -W 10 {} -s $size {} 2>&1) || echo "$size bytes: $out"
    case $out in *"wrong data"*) echo "$size bytes: $out" ;; esac
done)",
                           fmt::join(sizes, " "), options, address),
               300s);
}

void Scenario::expect_ping() {
    for (Side from : kBothSides) {
        EXPECT_TRUE(need(guest().ping(from, 3)).all());
        EXPECT_TRUE(need(guest().ping6(from, 3)).all());
    }
}

void Scenario::expect_transfer(Side from, TransferOptions options) {
    TransferResult result = need(guest().transfer(from, options));
    EXPECT_TRUE(result.hash_match) << result.why;
    EXPECT_EQ(result.bytes, options.bytes);
}

std::vector<CapturedFrame> Scenario::capture(Side side, const std::string &filter, unsigned count,
                                             const std::function<void()> &send) {
    int handle = need(guest().start_capture(side, filter, count, 20s));
    send();
    std::vector<CapturedFrame> each;
    for (CapturedFrame &frame : need(guest().finish_capture(handle)))
        each.insert(each.end(), frame.count, frame);
    return each;
}

Bytes whole(const CapturedFrame &frame) {
    Bytes bytes = bytes_from(frame.hex);
    if (!frame.vlan_tci) return bytes;
    return tagged(bytes, static_cast<std::uint16_t>(frame.vlan_tpid.value_or(0x8100)),
                  static_cast<std::uint16_t>(*frame.vlan_tci));
}

void Scenario::expect_arrivals(Side from, const std::vector<Bytes> &frames,
                               const std::vector<Bytes> &arriving, std::source_location where) {
    testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expect_arrivals");
    std::vector<std::string> wanted;
    for (const Bytes &frame : arriving)
        wanted.push_back(hex(padded(frame)));
    Bytes last = padded(ethernet(kBroadcast, kLocalExperimental, pattern(46, 1000 + serial_++)));
    wanted.push_back(hex(last));

    auto seen = capture(other(from), "src=02:00:00:77:00:01", static_cast<unsigned>(wanted.size()), [&] {
        for (const Bytes &frame : frames)
            need(guest().send_frame(from, hex(frame)));
        need(guest().send_frame(from, hex(last)));
    });
    std::vector<std::string> came;
    for (const CapturedFrame &frame : seen)
        came.push_back(hex(whole(frame)));
    EXPECT_EQ(came, wanted);
}

std::uint64_t Scenario::snmp(Side side, const std::string &group, const std::string &name) {
    return std::stoull(
        run(side, fmt::format("awk '/^{}: [A-Z]/ {{for (i = 2; i <= NF; i++) if ($i == \"{}\") at = i}} "
                              "/^{}: [0-9]/ {{print $at}}' /proc/net/snmp",
                              group, name, group)));
}

std::vector<std::uint64_t> Scenario::packets_by_queue() {
    Counters all = need(guest().ethtool_statistics(Side::b));
    std::vector<std::uint64_t> result;
    auto name = [](unsigned queue) {
        return fmt::format(fmt::runtime(subject().names.queue_packets), queue);
    };
    for (unsigned queue = 0; all.contains(name(queue)); ++queue)
        result.push_back(all[name(queue)]);
    return result;
}

std::vector<std::uint64_t> Scenario::spread(Family family, unsigned count, bool one_flow) {
    auto sum = [](const std::vector<std::uint64_t> &each) {
        return std::accumulate(each.begin(), each.end(), std::uint64_t{0});
    };
    Bytes frame = udp(mac(Side::b), family, 1000, 2000, pattern(32, 1));
    std::vector<std::uint64_t> before = packets_by_queue(), after;
    SendOptions options{.count = count};
    if (!one_flow) options.vary_offset = static_cast<unsigned>(l4_offset(frame)); // the ports
    need(guest().send_frame(Side::a, hex(frame), options));
    need(vm().until("the packets to be counted", 20s, [&]() -> Result<bool> {
        after = packets_by_queue();
        return sum(after) >= sum(before) + count;
    }));
    EXPECT_EQ(sum(after), sum(before) + count);
    std::transform(after.begin(), after.end(), before.begin(), after.begin(), std::minus<>());
    return after;
}

std::uint64_t Scenario::statistic(Side side, const std::string &name) {
    Counters all = need(guest().ethtool_statistics(side));
    if (!all.contains(name)) need(Status(Error{"ethtool -S has no '" + name + "'"}));
    return all[name];
}

std::uint64_t Scenario::card_counter(Side side, const std::string &name) {
    Counters all = need(vm().card_counters(side == Side::a ? 0 : 1));
    if (!all.contains(name)) need(Status(Error{"the card has no counter '" + name + "'"}));
    return all[name];
}

std::unique_ptr<Afterwards> Scenario::quiet() {
    auto restore = std::make_unique<Afterwards>([this]() -> Status {
        for (Side side : kBothSides) {
            NICLAB_TRY(try_run(side, "sysctl -qw net.ipv6.conf.$IF.disable_ipv6=0"));
            NICLAB_TRY(guest().set_up(side));
        }
        return {};
    });
    for (Side side : kBothSides)
        run(side, "sysctl -qw net.ipv6.conf.$IF.disable_ipv6=1; ip addr flush dev $IF");
    wait_until_quiet();
    return restore;
}

void Scenario::wait_until_quiet() {
    std::pair<std::uint64_t, std::uint64_t> before{~0ull, ~0ull};
    unsigned same = 0;
    need(vm().until("the wire to fall silent", 20s, [&]() -> Result<bool> {
        std::pair now{card_counter(Side::a, "tx_frames"), card_counter(Side::b, "tx_frames")};
        same = now == before ? same + 1 : 0;
        before = now;
        return same >= 4;
    }));
}

std::unique_ptr<Afterwards> Scenario::with_features(Side side, const std::vector<std::string> &words) {
    auto set = [this, side](const std::vector<std::string> &wanted) {
        std::vector<std::string> arguments = {"-K", interface(side)};
        arguments.insert(arguments.end(), wanted.begin(), wanted.end());
        return guest().ethtool(side, arguments);
    };
    std::vector<std::string> back = words;
    for (std::size_t i = 1; i < back.size(); i += 2)
        back[i] = words[i] == "on" ? "off" : "on";
    auto restore = std::make_unique<Afterwards>([set, back] { return set(back); });
    need(set(words));
    return restore;
}

BackgroundTraffic::BackgroundTraffic(Guest &guest, Side from) : guest_(guest), from_(from) {
    // The other side may vanish and return: its address must not have to be found out again each time.
    Side to = other(from);
    nlohmann::json link = need(guest.ip(to, {"link", "show", "dev", guest.interface(to)}));
    need(guest.ip(from, {"neigh", "replace", Guest::address(to), "lladdr", link.at(0).at("address"), "dev",
                         guest.interface(from), "nud", "permanent"}));
    std::uint64_t before = answers();
    handle_ =
        need(guest.start(from, {"ping", "-n", "-q", "-f", "-s", "1000", "-w", "300", Guest::address(to)}));
    running_ = true;
    need(guest.vm().until("the background traffic to flow", 20s,
                          [&]() -> Result<bool> { return answers() > before + 10; }));
}

std::uint64_t BackgroundTraffic::answers() {
    return need(guest_.vm().card_counters(from_ == Side::a ? 0 : 1)).at("rx_frames");
}

BackgroundTraffic::~BackgroundTraffic() {
    if (!running_) return;
    if (auto stopped = stop(); !stopped.ok()) ADD_FAILURE() << stopped.why();
}

Result<unsigned> BackgroundTraffic::stop() {
    running_ = false;
    NICLAB_TRY(
        guest_.ip(from_, {"neigh", "del", Guest::address(other(from_)), "dev", guest_.interface(from_)}));
    NICLAB_TRY(guest_.vm().run({"kill", "-INT", std::to_string(handle_)}, 10s));
    CommandResult ended = NICLAB_TRY(guest_.vm().wait(handle_, "the background traffic to end", 20s));
    std::size_t received = ended.out.find(" received");
    std::size_t number = ended.out.rfind(' ', received == std::string::npos ? received : received - 1);
    if (received == std::string::npos || number == std::string::npos)
        return Error{"the background traffic ended without a summary: " + ended.out + ended.err};
    return static_cast<unsigned>(std::atoi(ended.out.c_str() + number + 1));
}

} // namespace niclab::scenarios
