// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/real_time_clock.h"

#include <algorithm>

namespace niclab::connectx {
namespace {

__extension__ using Wide = unsigned __int128;
} // namespace

bool RealTimeClock::offers(u32 format) const {
    return format <= static_cast<u32>(used_ ? TimeFormat::real_time : TimeFormat::standard);
}

u64 RealTimeClock::at(u64 timer_ns) const {
    return real_ + static_cast<u64>(Wide{timer_ns - since_} * speed() / kEven);
}

u64 RealTimeClock::reached(u64 real_ns) const {
    if (real_ns <= real_) return since_;
    return since_ + static_cast<u64>((Wide{real_ns - real_} * kEven + speed() - 1) / speed());
}

void RealTimeClock::set(u64 timer_ns, u64 real_ns) {
    since_ = timer_ns;
    real_ = real_ns;
}

void RealTimeClock::move(u64 timer_ns, s32 by_ns) {
    u64 now = at(timer_ns), back = static_cast<u64>(-s64{by_ns});
    set(timer_ns, by_ns < 0 ? now - std::min(now, back) : now + static_cast<u64>(by_ns));
}

void RealTimeClock::run(u64 timer_ns, Rate faster) {
    set(timer_ns, at(timer_ns));
    rate_ = faster;
}

} // namespace niclab::connectx
