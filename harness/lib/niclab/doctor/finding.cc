// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/doctor/finding.h"

#include <algorithm>

namespace niclab::doctor {

const char *word(Verdict verdict) {
    switch (verdict) {
    case Verdict::ok:
        return "ok";
    case Verdict::warn:
        return "warn";
    case Verdict::bad:
        break;
    }
    return "bad";
}

bool any_bad(const std::vector<Finding> &findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding &finding) { return finding.verdict == Verdict::bad; });
}

nlohmann::json to_json(const std::vector<Finding> &findings, const std::vector<std::string> &done) {
    nlohmann::json list = nlohmann::json::array();
    for (const Finding &finding : findings)
        list.push_back({{"subject", finding.subject},
                        {"verdict", word(finding.verdict)},
                        {"text", finding.text},
                        {"remedy", finding.remedy}});
    return {{"can_run", !any_bad(findings)}, {"findings", list}, {"done", done}};
}

} // namespace niclab::doctor
