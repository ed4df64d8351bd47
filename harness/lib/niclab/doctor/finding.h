// SPDX-License-Identifier: GPL-2.0-or-later
// One line of `niclab doctor`.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace niclab::doctor {

enum class Verdict {
    ok,
    warn, ///< the lab runs, but slower or less than it could
    bad,  ///< the lab does not run
};

struct Finding {
    std::string subject; ///< "memory"
    Verdict verdict = Verdict::ok;
    std::string text;   ///< one sentence
    std::string remedy; ///< empty when nothing is to be done
};

const char *word(Verdict verdict);
bool any_bad(const std::vector<Finding> &findings);
nlohmann::json to_json(const std::vector<Finding> &findings, const std::vector<std::string> &done);

} // namespace niclab::doctor
