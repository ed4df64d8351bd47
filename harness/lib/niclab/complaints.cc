// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/complaints.h"

#include <algorithm>
#include <array>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "niclab/complaint_rules.h"

namespace niclab {
namespace {

constexpr size_t kTellingFrames = 3;
constexpr size_t kShownFrames = 12;
constexpr size_t kLinesOfACause = 3; // WARN() and BUG() may print a text of their own under "cut here"

constexpr std::array kNames = {
    std::pair{ComplaintKind::panic, "panic"},
    std::pair{ComplaintKind::oops, "oops"},
    std::pair{ComplaintKind::kasan, "kasan"},
    std::pair{ComplaintKind::ubsan, "ubsan"},
    std::pair{ComplaintKind::lockdep, "lockdep"},
    std::pair{ComplaintKind::list_corruption, "list corruption"},
    std::pair{ComplaintKind::slab_corruption, "slab corruption"},
    std::pair{ComplaintKind::debug_object, "debug object"},
    std::pair{ComplaintKind::bug, "bug"},
    std::pair{ComplaintKind::warning, "warning"},
    std::pair{ComplaintKind::call_trace, "call trace"},
    std::pair{ComplaintKind::hung_task, "hung task"},
    std::pair{ComplaintKind::lockup, "lockup"},
    std::pair{ComplaintKind::rcu_stall, "rcu stall"},
    std::pair{ComplaintKind::out_of_memory, "out of memory"},
    std::pair{ComplaintKind::checksum, "checksum"},
    std::pair{ComplaintKind::dma_fault, "dma fault"},
    std::pair{ComplaintKind::dma_api, "dma api"},
    std::pair{ComplaintKind::kmemleak, "kmemleak"},
    std::pair{ComplaintKind::page_pool, "page pool"},
    std::pair{ComplaintKind::device_held, "device held"},
    std::pair{ComplaintKind::leak, "leak"},
    std::pair{ComplaintKind::command_timeout, "command timeout"},
    std::pair{ComplaintKind::command_error, "command error"},
    std::pair{ComplaintKind::tx_timeout, "tx timeout"},
    std::pair{ComplaintKind::refcount, "refcount"},
};

bool is_rule(std::string_view text) { return text.starts_with("========"); }

/// Reports with prose in them: all lines up to their end belong to them.
bool is_prose(ComplaintKind kind) {
    return kind == ComplaintKind::kasan || kind == ComplaintKind::lockdep ||
           kind == ComplaintKind::slab_corruption;
}

bool ends_report(ComplaintKind kind, std::string_view text) {
    if (kind == ComplaintKind::kasan) return is_rule(text);
    if (kind == ComplaintKind::slab_corruption)
        return is_rule(text) || text.starts_with("FIX ") || text.starts_with("</TASK>");
    return text.starts_with("---[ end ") || text.starts_with("</TASK>");
}

/// Lines under a header that are part of its report.
bool in_trace(std::string_view text) {
    static const std::regex part(
        "^(Call Trace:|<TASK>|</TASK>|<IRQ>|</IRQ>|<NMI>|</NMI>|Modules linked in:|CPU: |Hardware name:|"
        "Workqueue:|RIP: |RSP: |RAX: |RDX: |RBP: |R10: |R13: |FS: |CS: |CR2: |DR0: |DR3: |PKRU: |"
        "Code: |Tainted: |task:|------------\\[ cut here|---\\[ end |\\? |#PF: |PGD |Oops: |"
        "(invalid opcode|divide error|int3): |NMI backtrace |Sending NMI |rcu: \\t|\\(detected by|\"echo 0 > "
        "|"
        "(shift exponent|index \\d|left shift|load of|signed integer|negation|division)|"
        "[\\w.]+\\+0x[0-9a-f]+/0x[0-9a-f]+)",
        std::regex::optimize);
    return std::regex_search(text.begin(), text.end(), part);
}

/// What differs between two runs of one fault: numbers, addresses, process ids.
std::string without_numbers(std::string_view text) {
    static const std::regex number("0x[0-9a-fA-F]+|\\b[0-9a-f]{8,}\\b|\\d+");
    std::string result = std::regex_replace(std::string(text), number, "#");
    return result.substr(0, 120);
}

/// What kind of such a fault it is, in the words of the checker.
std::string detail(const Complaint &complaint) {
    static const std::regex word("(?:KASAN|UBSAN): ([\\w-]+)");
    static const std::regex sentence("^[A-Z_]+: (.*)");
    std::smatch found;
    bool lock = complaint.kind == ComplaintKind::lockdep;
    if (lock || complaint.kind == ComplaintKind::kasan || complaint.kind == ComplaintKind::ubsan)
        if (std::regex_search(complaint.headline, found, lock ? sentence : word))
            return found[1].str() + ": ";
    return {};
}

std::string fingerprint(const Complaint &complaint) {
    std::vector<std::string> frames = telling_frames(complaint.frames, kTellingFrames);
    std::string what = frames.empty() ? without_numbers(complaint.headline)
                                      : detail(complaint) + fmt::format("{}", fmt::join(frames, " < "));
    return fmt::format("{}: {}", name(complaint.kind), what);
}

class Collector {
  public:
    void feed(std::string_view line) {
        std::string_view text = without_stamp(line);
        const ComplaintRule *rule = nullptr;
        if (open_ && belongs(text, rule)) {
            append(line, text);
            open_ = open_ && !ends_report(found_.back().kind, text);
            return;
        }
        if (!rule) rule = complaint_rule(text);
        open_ = rule && rule->starts_trace;
        if (rule)
            begin(*rule, line, text);
        else
            keep_cause(line, text);
    }

    std::vector<Complaint> finish() {
        for (Complaint &complaint : found_)
            complaint.fingerprint = fingerprint(complaint);
        return std::move(found_);
    }

  private:
    bool belongs(std::string_view text, const ComplaintRule *&rule) const {
        if (in_trace(text) || joins(text)) return true;
        if (!is_prose(found_.back().kind)) return false;
        rule = complaint_rule(text);
        return !rule || rule->kind != ComplaintKind::panic;
    }
    /// A report may open with its cause and go on with "WARNING: ... at file:line" (refcount_t, watchdog).
    bool joins(std::string_view text) const {
        return found_.back().frames.empty() && found_.back().lines.size() <= kLinesOfACause &&
               (text.starts_with("WARNING: CPU: ") || text.starts_with("kernel BUG at "));
    }
    void begin(const ComplaintRule &rule, std::string_view line, std::string_view text) {
        bool caused = rule.kind == ComplaintKind::warning || text.starts_with("kernel BUG at ");
        if (!caused) cause_.clear();
        found_.push_back(
            {rule.kind, std::string(cause_.empty() ? text : without_stamp(cause_.front())), cause_, {}, {}});
        append(line, text);
        cut_ = false;
        cause_.clear();
    }
    /// The words of WARN(condition, words) stand between "cut here" and the warning's own line.
    void keep_cause(std::string_view line, std::string_view text) {
        if (text.starts_with("------------[ cut here")) {
            cut_ = true;
            cause_.clear();
        } else if (cut_ && cause_.size() < kLinesOfACause) {
            cause_.emplace_back(line);
        } else {
            cut_ = false;
            cause_.clear();
        }
    }
    void append(std::string_view line, std::string_view text) {
        Complaint &last = found_.back();
        if (last.lines.size() == kLinesOfOneComplaint) {
            open_ = false;
            return;
        }
        last.lines.emplace_back(line);
        if (auto frame = frame_of(text)) last.frames.push_back(std::move(*frame));
    }

    std::vector<Complaint> found_;
    bool open_ = false;
    bool cut_ = false;
    std::vector<std::string> cause_;
};

std::string frame_line(const Frame &frame) {
    std::string place = fmt::format("{}+{:#x}/{:#x}", plain_name(frame.function), frame.offset, frame.size);
    if (!frame.module.empty()) place += " [" + frame.module + "]";
    return frame.source.empty() ? place : fmt::format("{:<60} {}", place, frame.source);
}

} // namespace

std::string_view name(ComplaintKind kind) {
    for (const auto &[each, text] : kNames)
        if (each == kind) return text;
    return "unknown";
}

std::string_view without_stamp(std::string_view line) {
    while (line.size() > 1 && line[0] == '[') {
        size_t end = line.find(']');
        bool stamp = end != std::string_view::npos && line.find_first_not_of(" .TC0123456789", 1) == end;
        if (!stamp) break;
        line.remove_prefix(end + 1);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    }
    return line;
}

std::vector<Complaint> find_complaints(std::string_view console) {
    Collector collector;
    while (!console.empty()) {
        std::string_view line = console.substr(0, console.find('\n'));
        console.remove_prefix(std::min(line.size() + 1, console.size()));
        while (!line.empty() && line.back() == '\r')
            line.remove_suffix(1);
        collector.feed(line);
    }
    return collector.finish();
}

size_t count(const std::vector<Complaint> &complaints, ComplaintKind kind) {
    return static_cast<size_t>(std::count_if(complaints.begin(), complaints.end(),
                                             [&](const Complaint &each) { return each.kind == kind; }));
}

std::string describe(const std::vector<Complaint> &complaints) {
    std::string text;
    for (const Complaint &complaint : complaints)
        text += (text.empty() ? "" : "\n") + complaint.fingerprint;
    return text;
}

std::string report(const Complaint &complaint) {
    std::string text = fmt::format("{}: {}", name(complaint.kind), complaint.headline);
    size_t shown = 0;
    for (const Frame &frame : complaint.frames)
        if (frame.reliable && shown++ < kShownFrames) text += "\n    " + frame_line(frame);
    return text + "\n    fingerprint: " + complaint.fingerprint;
}

nlohmann::json to_json(const std::vector<Complaint> &complaints) {
    nlohmann::json all = nlohmann::json::array();
    for (const Complaint &complaint : complaints) {
        nlohmann::json frames = nlohmann::json::array();
        for (const Frame &frame : complaint.frames)
            frames.push_back({{"function", frame.function},
                              {"offset", frame.offset},
                              {"module", frame.module},
                              {"source", frame.source},
                              {"reliable", frame.reliable}});
        all.push_back({{"kind", name(complaint.kind)},
                       {"fingerprint", complaint.fingerprint},
                       {"headline", complaint.headline},
                       {"frames", frames},
                       {"lines", complaint.lines}});
    }
    return all;
}

} // namespace niclab
