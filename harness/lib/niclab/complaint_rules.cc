// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/complaint_rules.h"

#include <array>
#include <regex>

namespace niclab {
namespace {

struct Row {
    ComplaintRule rule;
    const char *hint;    ///< letters every such line has: looked for first, since patterns are slow
    const char *pattern; ///< ECMAScript, searched in the line behind its time stamp
};

using enum ComplaintKind;

// The first row that matches decides. Patterns are as narrow as the kernel's own texts allow: boot lines such
// as "spectre: WARNING-free" or "x86/cpu: ... debug" must not count.
const Row kRows[] = {
    {{panic, true}, "panic", "^Kernel panic - not syncing"},
    {{refcount, true}, "refcount_t", "^refcount_t: "},
    {{list_corruption, true}, "list_", "^list_(add|del) corruption"},
    {{kasan, true}, "KASAN", "^BUG: KASAN: |^KASAN: "},
    {{ubsan, true}, "UBSAN", "^UBSAN: "},
    {{oops, true}, "kernel BUG at ", "^kernel BUG at "},
    {{oops, true},
     ": ",
     "^(Oops: |general protection fault|Unable to handle kernel|(traps: PANIC: )?double "
     "fault[,:]|kernel tried to execute |(invalid opcode|divide error|int3|stack segment|alignment check): "
     "[0-9a-f]{4} \\[#)"},
    {{oops, true}, "BUG: ", "^BUG: (unable to handle|kernel NULL pointer|.*stack guard page was hit)"},
    {{lockup, true}, "watchdog: ", "BUG: soft lockup|hard LOCKUP|^watchdog: BUG:"},
    {{lockup, true}, "BUG: workqueue lockup", "^BUG: "},
    {{rcu_stall, true},
     "rcu",
     "rcu: INFO: .*(detected( expedited)? stall|self-detected)|rcu: .*kthread starved"},
    {{lockdep, true},
     "",
     "^(WARNING|INFO|\\[ BUG): (possible (circular|recursive|irq) |possible irq lock|inconsistent lock state|"
     "bad (unlock|contention)|Nested lock|lock held when returning|held lock freed|suspicious RCU|"
     "(HARD|SOFT)IRQ-|Invalid wait context|trying to register non-static key)|^BUG: MAX_LOCK|"
     "^DEBUG_LOCKS_WARN_ON|^\\[ BUG: Invalid wait context|^\\[ BUG: bad unlock"},
    {{slab_corruption, true},
     "",
     "^BUG [\\w-]+ \\([^)]*\\): |^cache_from_obj: Wrong slab cache|^(Slab|Object) padding overwritten"},
    {{debug_object, true}, "ODEBUG", "^ODEBUG: (?!selftest|Out of memory)"},
    {{bug, true}, "BUG", "^BUG: |^BUG "},
    {{warning, true}, "WARNING", "^WARNING: "},
    {{hung_task, true}, "blocked", "^INFO: task .* blocked for more than"},
    {{out_of_memory, true}, "", "^Out of memory: |invoked oom-killer|page allocation failure"},
    {{checksum, true}, "csum", "hw csum failure"},
    {{dma_fault, false},
     "",
     "DMAR: \\[(DMA|INTR)[^\\]]*\\] Request device|AMD-Vi: Event logged|IO_PAGE_FAULT"},
    {{dma_api, true},
     "DMA-API",
     "DMA-API: .*(device driver|leaked|exceed|freed|sync|overlapping|mapping error)"},
    {{page_pool, true}, "page_pool", "page_pool_release_retry\\(\\) stalled|page_pool.*(leak|inflight)"},
    {{kmemleak, false}, "kmemleak", "kmemleak: \\d+ new suspected|^unreferenced object 0x"},
    {{device_held, true},
     "",
     "unregister_netdevice: waiting for|^(unregister_netdevice: .*)?ref_tracker: .*(leaked|has )"},
    {{leak, true},
     "",
     "[Ll]eaked |memory leak|leaks a command resource|still has [1-9]\\d* objects|Objects remaining in|"
     "refcnt.*unregister_netdevice"},
    {{command_timeout, false},
     "",
     "mlx5.*(timeout\\. Will cause a leak|No done completion|wait_func.*timed? ?out|Command completion "
     "arrived after timeout|failed reclaiming pages|device's health compromised|Fatal error|TX timeout "
     "detected)|niclab.*command.*(timed out|timeout)"},
    {{command_error, false}, "failed", "mlx5.*\\) failed, status |niclab.*command.* failed"},
    {{tx_timeout, true}, "timed out", "NETDEV WATCHDOG: .*timed out|transmit queue \\d+ timed out"},
    {{call_trace, true}, "Call Trace", "^Call Trace:"},
};

bool matches(const Row &row, std::string_view text) {
    static const auto compiled = [] {
        std::array<std::regex, std::size(kRows)> all;
        for (size_t i = 0; i < all.size(); ++i)
            all[i].assign(kRows[i].pattern, std::regex::ECMAScript | std::regex::optimize);
        return all;
    }();
    return text.find(row.hint) != std::string_view::npos &&
           std::regex_search(text.begin(), text.end(), compiled[static_cast<size_t>(&row - kRows)]);
}

} // namespace

const ComplaintRule *complaint_rule(std::string_view text) {
    for (const Row &row : kRows)
        if (matches(row, text)) return &row.rule;
    return nullptr;
}

} // namespace niclab
