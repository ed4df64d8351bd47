// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/call_trace.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <regex>

#include <cxxabi.h>

namespace niclab {
namespace {

/// Functions that print a report, check memory or put a task to sleep: they say nothing about who did wrong.
bool only_reports(const std::string &name) {
    static const std::regex reporters(
        "^(_*dump_stack(_lvl)?|show_(stack|trace|regs).*|print_.*report.*|print_address_description.*|"
        "kasan_.*|_*asan_.*|check_(memory_region|region_inline)|_*ubsan_.*|ubsan_.*|_*warn(_printk)?|report_"
        "bug|"
        "handle_bug|exc_.*|asm_.*|_*die.*|do_error_trap|do_trap|no_context|bad_area.*|page_fault_oops|"
        "do_user_addr_fault|do_kern_addr_fault|fixup_exception|panic|refcount_warn_saturate|"
        "_*list_(add|del)_(valid|entry_valid).*|_*might_(resched|sleep|fault).*|_*schedule.*|schedule_.*|"
        "_*wait_for_common|wait_for_completion.*|io_schedule.*|check_noncircular|validate_chain|"
        "_*lock_acquire|lock_acquire|_*lock_release|lock_release|mark_lock.*|mark_usage|print_usage_bug.*|"
        "print_.*bug.*|lockdep_.*|register_lock_class|debug_check_no_obj_freed|debug_(print_)?object.*|"
        "check_(unmap|sync|for_stack)|add_dma_entry|err_printk|object_err|slab_(pad_check|err|bug)|"
        "check_(bytes_and_report|object)|free_(debug|to_partial_list).*|nmi_.*|_*nmi_.*|watchdog_.*|"
        "rcu_dump_.*|rcu_check_gp_.*|rcu_sched_clock_irq|update_process_times|tick_.*|_*hrtimer_.*|"
        "hrtimer_.*|_*sysvec_.*|sysvec_.*|ret_from_fork.*|kthread|entry_SYSCALL.*|do_syscall_64|x64_sys_call|"
        "syscall_.*|_*irq_exit_rcu|_*stack_depot.*|stack_trace_save|srso_.*|_*x86_return_thunk)$",
        std::regex::optimize);
    return std::regex_match(name, reporters);
}

std::string demangled(const std::string &name) {
    int failed = 0;
    std::unique_ptr<char, void (*)(void *)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed),
                                                 std::free);
    return failed == 0 && text ? text.get() : name;
}

/// "ns::f<int>(long, g(*)(int)) const" without the list of parameters and what is behind it.
std::string without_parameters(const std::string &name) {
    int depth = 0;
    for (size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') ++depth;
        if (name[i] == '>') --depth;
        if (name[i] == '(' && depth == 0 && name.compare(i, 21, "(anonymous namespace)") != 0)
            return name.substr(0, i);
    }
    return name;
}

} // namespace

std::optional<Frame> frame_of(std::string_view line) {
    static const std::regex form("(^|^RIP: 0010:|^WARNING: .* at \\S+ |^BUG: KASAN: .* in )(\\? "
                                 ")?([A-Za-z_][\\w.$]*)\\+0x([0-9a-f]+)/0x([0-9a-f]+)"
                                 "(?: \\[([\\w-]+)[^\\]]*\\])?",
                                 std::regex::optimize);
    std::match_results<std::string_view::const_iterator> found;
    if (!std::regex_search(line.begin(), line.end(), found, form)) return std::nullopt;
    Frame frame;
    frame.is_place = found[1].length() != 0;
    frame.reliable = found[2].length() == 0;
    frame.function = found[3].str();
    frame.offset = std::strtoull(found[4].str().c_str(), nullptr, 16);
    frame.size = std::strtoull(found[5].str().c_str(), nullptr, 16);
    frame.module = found[6].str();
    return frame;
}

std::string plain_name(const std::string &function) {
    // The compiler's own suffixes and the loader's number change from build to build.
    std::string name = function.substr(0, function.find('.', 1));
    return without_parameters(demangled(name));
}

std::vector<std::string> telling_frames(const std::vector<Frame> &frames, size_t most) {
    std::vector<std::string> told, reporters;
    for (const Frame &frame : frames) {
        if (!frame.reliable) continue;
        std::string name = plain_name(frame.function);
        auto &list = only_reports(name) ? reporters : told;
        if (list.size() < most && std::find(list.begin(), list.end(), name) == list.end())
            list.push_back(name);
    }
    if (told.empty() && !reporters.empty()) told.push_back(reporters.front());
    return told;
}

} // namespace niclab
