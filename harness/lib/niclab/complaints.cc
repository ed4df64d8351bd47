// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/complaints.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace niclab {
namespace {

struct Rule {
    ComplaintKind kind;
    bool starts_trace;   ///< the lines below, up to the end of the trace, belong to it
    const char *pattern; ///< ECMAScript, searched in the line behind its time stamp
};

// The first row that matches decides. Patterns are as narrow as the kernel's own texts allow: boot lines such
// as "spectre: WARNING-free" or "x86/cpu: ... debug" must not count.
const Rule kRules[] = {
    {ComplaintKind::panic, true, "^Kernel panic - not syncing"},
    {ComplaintKind::refcount, true, "^refcount_t: "},
    {ComplaintKind::oops, true,
     "^(Oops:|general protection fault|kernel BUG at |Unable to handle kernel|double fault:)"},
    {ComplaintKind::oops, true, "^BUG: (unable to handle|kernel NULL pointer)"},
    {ComplaintKind::lockup, true, "BUG: soft lockup|NMI watchdog: .*hard LOCKUP|^watchdog: BUG:"},
    {ComplaintKind::rcu_stall, true, "rcu: INFO: .*(detected stall|self-detected)|rcu: .*kthread starved"},
    {ComplaintKind::bug, true,
     "^BUG: |^BUG |^INFO: possible (circular|recursive|irq) lock|^UBSAN: |^KASAN: "},
    {ComplaintKind::warning, true, "^WARNING: "},
    {ComplaintKind::hung_task, true, "^INFO: task .* blocked for more than"},
    {ComplaintKind::out_of_memory, true, "^Out of memory: |invoked oom-killer|page allocation failure"},
    {ComplaintKind::checksum, true, "hw csum failure"},
    {ComplaintKind::dma_fault, false,
     "DMAR: \\[(DMA|INTR)[^\\]]*\\] Request device|AMD-Vi: Event logged|IO_PAGE_FAULT"},
    {ComplaintKind::dma_api, true, "DMA-API: .*(device driver|leaked|exceed|freed|sync)"},
    {ComplaintKind::leak, true,
     "page_pool_release_retry\\(\\) stalled|kmemleak: \\d+ new suspected|[Ll]eaked |memory leak|leaks a "
     "command resource|"
     "still has [1-9]\\d* objects|Objects remaining in|refcnt.*unregister_netdevice|unregister_netdevice: "
     "waiting for"},
    {ComplaintKind::command_timeout, false,
     "mlx5.*(timeout\\. Will cause a leak|No done completion|wait_func.*timed? ?out|Command completion "
     "arrived after "
     "timeout|failed reclaiming pages|device's health compromised|Fatal error|TX timeout "
     "detected)|niclab.*command.*"
     "(timed out|timeout)"},
    {ComplaintKind::command_error, false, "mlx5.*\\) failed, status |niclab.*command.* failed"},
    {ComplaintKind::tx_timeout, true, "NETDEV WATCHDOG: .*timed out|transmit queue \\d+ timed out"},
    {ComplaintKind::call_trace, true, "^Call Trace:"},
};

const std::regex &compiled(const Rule &rule) {
    static const std::vector<std::regex> all = [] {
        std::vector<std::regex> result;
        for (const Rule &each : kRules)
            result.emplace_back(each.pattern, std::regex::ECMAScript | std::regex::optimize);
        return result;
    }();
    return all[static_cast<size_t>(&rule - kRules)];
}

/// "[   12.345678] text" and "[   12.345678][  T123] text" without what stands before the text.
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

const Rule *match(std::string_view text) {
    for (const Rule &rule : kRules)
        if (std::regex_search(text.begin(), text.end(), compiled(rule))) return &rule;
    return nullptr;
}

bool ends_trace(std::string_view text) {
    return text.rfind("---[ end ", 0) == 0 || text.rfind("</TASK>", 0) == 0;
}

/// Lines under a header that are part of its report.
bool in_trace(std::string_view text) {
    static const std::regex part(
        "^(Call Trace:|<TASK>|</TASK>|<IRQ>|</IRQ>|<NMI>|</NMI>|Modules linked in:|CPU: |Hardware name:|"
        "Workqueue:|RIP: |RSP: |RAX: |RDX: |RBP: |R10: |R13: |FS: |CS: |CR2: |DR0: |DR3: |PKRU: |"
        "Code: |Tainted: |task:|------------\\[ cut here|---\\[ end |\\? |#PF: |PGD |Oops: |"
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

/// The function a trace points at, when it names one; else the text of the header.
std::string fingerprint(ComplaintKind kind, const std::vector<std::string> &lines) {
    static const std::regex place("(?:RIP: 0010:|WARNING: .* at \\S+ )([\\w.]+)\\+0x");
    for (const std::string &line : lines) {
        std::smatch found;
        if (std::regex_search(line, found, place)) return std::string(name(kind)) + ": " + found[1].str();
    }
    return std::string(name(kind)) + ": " + without_numbers(without_stamp(lines.front()));
}

constexpr size_t kLinesOfOneComplaint = 60;

class Collector {
  public:
    void feed(std::string_view line) {
        std::string_view text = without_stamp(line);
        if (open_ && (in_trace(text) || joins(text))) {
            append(line);
            open_ = !ends_trace(text);
            return;
        }
        const Rule *rule = match(text);
        open_ = rule && rule->starts_trace;
        if (rule) found_.push_back({rule->kind, {}, {std::string(line)}});
    }

    std::vector<Complaint> finish() {
        for (Complaint &complaint : found_)
            complaint.fingerprint = fingerprint(complaint.kind, complaint.lines);
        return std::move(found_);
    }

  private:
    /// A report may open with its cause and go on with "WARNING: ... at file:line" (refcount_t, watchdog).
    bool joins(std::string_view text) const {
        return found_.back().lines.size() == 1 && text.rfind("WARNING: ", 0) == 0;
    }
    void append(std::string_view line) {
        if (found_.back().lines.size() < kLinesOfOneComplaint) found_.back().lines.emplace_back(line);
    }

    std::vector<Complaint> found_;
    bool open_ = false;
};

} // namespace

std::string_view name(ComplaintKind kind) {
    switch (kind) {
    case ComplaintKind::panic:
        return "panic";
    case ComplaintKind::oops:
        return "oops";
    case ComplaintKind::bug:
        return "bug";
    case ComplaintKind::warning:
        return "warning";
    case ComplaintKind::call_trace:
        return "call trace";
    case ComplaintKind::hung_task:
        return "hung task";
    case ComplaintKind::lockup:
        return "lockup";
    case ComplaintKind::rcu_stall:
        return "rcu stall";
    case ComplaintKind::out_of_memory:
        return "out of memory";
    case ComplaintKind::checksum:
        return "checksum";
    case ComplaintKind::dma_fault:
        return "dma fault";
    case ComplaintKind::dma_api:
        return "dma api";
    case ComplaintKind::leak:
        return "leak";
    case ComplaintKind::command_timeout:
        return "command timeout";
    case ComplaintKind::command_error:
        return "command error";
    case ComplaintKind::tx_timeout:
        return "tx timeout";
    case ComplaintKind::refcount:
        return "refcount";
    }
    return "unknown";
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

} // namespace niclab
