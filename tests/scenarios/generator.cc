// SPDX-License-Identifier: GPL-2.0-or-later
#include "scenarios/generator.h"

#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {

Generator::Generator(Guest &guest, Side from, const std::string &to, const Options &options)
    : guest_(guest), from_(from) {
    need(script(fmt::format(
        "modprobe pktgen && cd /proc/net/pktgen && echo add_device $IF >kpktgend_0 && "
        "for word in 'count {}' 'burst {}' 'delay {}' 'pkt_size {}' 'dst 10.77.0.202' 'dst_mac {}'; do "
        "echo $word >$IF || exit 1; done",
        options.count, options.burst, options.gap_nanoseconds, options.bytes, to)));
}

Generator::~Generator() {
    if (Status done = script("rmmod pktgen"); !done.ok()) ADD_FAILURE() << "cleaning up: " << done.why();
}

void Generator::send() {
    need(script("cd /proc/net/pktgen && echo start >pgctrl && grep -q 'Result: OK' $IF"));
}

Status Generator::script(const std::string &text) {
    std::string whole = fmt::format("IF={}\n{}", guest_.interface(from_), text);
    CommandResult ended = NICLAB_TRY(guest_.script(from_, whole, Milliseconds(60'000)));
    if (ended.ok()) return {};
    return Error{fmt::format("'{}' ended with status {}: {}{}", text, ended.exit_code, ended.out, ended.err)};
}

} // namespace niclab::scenarios
