// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/callgrind.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace niclab::bench {
namespace {

constexpr std::string_view kTrigger = "desc: Trigger: Client Request: ";

/// Reads the lines one by one. A name is written out once, "(7) name", and is "(7)" from then on. Costs are
/// lines of "POSITION COST"; the line behind "calls=" has the cost of the function that is called, which has
/// lines of its own.
class Reader {
  public:
    Status take(std::string_view line) {
        if (line.starts_with(kTrigger)) {
            dump_.trigger = line.substr(kTrigger.size());
        } else if (line.starts_with("fn=")) {
            current_ = NICLAB_TRY(name_of(line.substr(3)));
        } else if (line.starts_with("cfn=")) {
            NICLAB_TRY(name_of(line.substr(4)));
        } else if (line.starts_with("calls=")) {
            behind_calls_ = true;
        } else if (is_cost(line) && !std::exchange(behind_calls_, false)) {
            return add(line);
        }
        return {};
    }
    Result<CallgrindDump> dump() {
        if (dump_.functions.empty()) return Error{"callgrind's file has no costs"};
        return std::move(dump_);
    }

  private:
    static bool is_cost(std::string_view line) {
        return !line.empty() && std::string_view("0123456789+-*").find(line[0]) != std::string_view::npos;
    }
    Result<std::string> name_of(std::string_view text) {
        size_t close = text.find(')');
        if (!text.starts_with('(') || close == std::string_view::npos)
            return Error{fmt::format("callgrind's file has '{}' where a name is expected", text)};
        std::string &name = names_[std::string(text.substr(0, close))];
        if (close + 2 < text.size()) name = text.substr(close + 2);
        return name;
    }
    Status add(std::string_view line) {
        size_t blank = line.rfind(' ');
        std::uint64_t cost = 0;
        const char *end = line.data() + line.size();
        if (blank == std::string_view::npos || std::from_chars(line.data() + blank + 1, end, cost).ptr != end)
            return Error{fmt::format("callgrind's file has '{}' where a cost is expected", line)};
        dump_.functions[current_] += cost;
        return {};
    }

    CallgrindDump dump_;
    std::map<std::string, std::string> names_;
    std::string current_;
    bool behind_calls_ = false;
};

} // namespace

Result<CallgrindDump> parse_callgrind(std::string_view text) {
    Reader reader;
    while (!text.empty()) {
        size_t end = std::min(text.find('\n'), text.size());
        NICLAB_TRY(reader.take(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return reader.dump();
}

} // namespace niclab::bench
