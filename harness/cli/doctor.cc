// SPDX-License-Identifier: GPL-2.0-or-later
// What this machine can do. Each line has a verdict; one that is not good comes with its remedy.
#include <cstdio>

#include <fmt/format.h>

#include "commands.h"
#include "niclab/doctor/checks.h"
#include "niclab/doctor/fix.h"
#include "niclab/lifeline.h"

namespace niclab::cli {
namespace {

using namespace doctor;

void print(const Findings &findings) {
    for (const Finding &finding : findings) {
        std::puts(fmt::format("{:<4}  {}: {}",
                              finding.verdict == Verdict::bad ? "BAD" : word(finding.verdict),
                              finding.subject, finding.text)
                      .c_str());
        if (!finding.remedy.empty()) std::puts(fmt::format("      remedy: {}", finding.remedy).c_str());
    }
    std::puts(any_bad(findings) ? "\nthe lab cannot run here yet" : "\nthe lab can run here");
}

} // namespace

int doctor(const DoctorOptions &options) {
    Host host = this_host();
    std::vector<std::string> done;
    if (options.fix) done = fix(host);
    Findings findings = check_all(host);
    if (Lifeline::interrupted()) return failure(Lifeline::interruption().what);
    if (options.json) {
        std::puts(
            to_json(findings, done).dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    } else {
        for (const std::string &line : done)
            std::puts(("fix   " + line).c_str());
        print(findings);
    }
    return any_bad(findings) ? 1 : 0;
}

} // namespace niclab::cli
