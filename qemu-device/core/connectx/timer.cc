// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/timer.h"

#include <algorithm>

#include "connectx/device.h"

namespace niclab::connectx {

Timer::Timer(TimerQueue &queue, Action action) : queue_(queue), action_(action) {
    queue_.heap_.reserve(++queue_.made_);
}

Timer::~Timer() {
    stop();
    --queue_.made_;
}

void Timer::start(u64 due_ns, u32 number) {
    stop();
    number_ = number;
    due_ = std::min<u64>(due_ns, CX_TIMER_OFF - 1);
    queue_.insert(this);
    queue_.ask_host();
}

// A wake-up that is no longer needed is left to come: it finds nothing to do and costs less than calling it
// off each time.
void Timer::stop() {
    if (running()) queue_.remove(this);
}

void TimerQueue::place(Timer *timer, usize at) {
    heap_[at] = timer;
    timer->place_ = at;
}

void TimerQueue::rise(Timer *timer, usize at) {
    for (; at > 0 && timer->due_ < heap_[(at - 1) / 2]->due_; at = (at - 1) / 2)
        place(heap_[(at - 1) / 2], at);
    place(timer, at);
}

void TimerQueue::sink(Timer *timer, usize at) {
    for (usize child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
        if (child + 1 < heap_.size() && heap_[child + 1]->due_ < heap_[child]->due_) ++child;
        if (timer->due_ <= heap_[child]->due_) break;
        place(heap_[child], at);
        at = child;
    }
    place(timer, at);
}

void TimerQueue::insert(Timer *timer) {
    heap_.push_back(timer);
    rise(timer, heap_.size() - 1);
}

void TimerQueue::remove(Timer *timer) {
    usize at = timer->place_;
    Timer *last = heap_.back();
    heap_.pop_back();
    timer->place_ = Timer::kNowhere;
    if (last == timer) return;
    sink(last, at);
    rise(last, last->place_);
}

void TimerQueue::ask_host() {
    if (expiring_ || heap_.empty() || heap_.front()->due_ >= asked_) return;
    asked_ = heap_.front()->due_;
    ops_->set_timer(host_, asked_);
}

void TimerQueue::cancel_wake_up() {
    if (asked_ == CX_TIMER_OFF) return;
    asked_ = CX_TIMER_OFF;
    ops_->set_timer(host_, CX_TIMER_OFF);
}

void TimerQueue::expire(Device &device) {
    asked_ = CX_TIMER_OFF;
    expiring_ = true;
    u64 now = device.now_ns();
    for (usize left = heap_.size(); left > 0 && !heap_.empty() && heap_.front()->due_ <= now; --left) {
        Timer *timer = heap_.front();
        remove(timer);
        timer->action_(device, timer->number_);
    }
    expiring_ = false;
    ask_host();
}

} // namespace niclab::connectx
