// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/reload.h"

#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "niclab/gdb_script.h"

namespace niclab {
namespace {

constexpr const char *kDriver = "niclab", *kModule = "/niclab/niclab.ko";
constexpr unsigned kPings = 3;
constexpr std::uint64_t kTransferBytes = 1 << 20;

Status replace(Guest &guest, const std::string &module, const std::string &parameters) {
    NICLAB_TRY(guest.vm().put_file(module, kModule));
    for (Side side : {Side::a, Side::b})
        NICLAB_TRY(guest.unbind_driver(side));
    auto loaded =
        guest.vm().run({"test", "-d", std::string("/sys/module/") + kDriver}, std::chrono::seconds(10));
    if (!loaded.ok()) return loaded.error();
    if (loaded->ok()) NICLAB_TRY(guest.unload(kDriver));
    NICLAB_TRY(guest.load_niclab(parameters));
    return guest.connect(kDriver);
}

Status check_traffic(Guest &guest, const Say &say) {
    for (Side from : {Side::a, Side::b}) {
        PingResult ping = NICLAB_TRY(guest.ping(from, kPings));
        if (!ping.all())
            return Error{fmt::format("{} of {} pings from {} came back", ping.received, ping.sent,
                                     guest.interface(from))};
        TransferOptions options;
        options.bytes = kTransferBytes;
        TransferResult sent = NICLAB_TRY(guest.transfer(from, options));
        if (!sent.hash_match) return Error{"the transfer from " + guest.interface(from) + ": " + sent.why};
    }
    say(fmt::format("{} and {}: link up, ping and 1 MiB over TCP both ways", guest.interface(Side::a),
                    guest.interface(Side::b)));
    return {};
}

/// The shell's own text stands between the kernel's lines on the console.
void say_kernel_lines(const std::string &console, const Say &say) {
    static const std::regex kernel_line(R"(^\[ *\d+\.\d+\] .*)");
    std::istringstream lines(console);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (std::regex_match(line, kernel_line)) say("  " + line);
    }
}

} // namespace

Status reload_driver(Guest &guest, const std::string &module, const std::string &parameters, const Say &say) {
    size_t console_from = guest.vm().console_size();
    Status result = replace(guest, module, parameters);
    if (result.ok()) result = check_traffic(guest, say);
    say_kernel_lines(guest.vm().console(console_from), say);
    if (guest.vm().spec().gdb) (void)write_gdb_script(guest.vm()); // the module lies elsewhere now
    std::string report = guest.vm().crash_report(console_from);
    if (!report.empty()) return Error{"the kernel complains: " + report + result.why()};
    return result;
}

} // namespace niclab
