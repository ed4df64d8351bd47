// SPDX-License-Identifier: GPL-2.0-or-later
// Things the card does later: any number of timers in its parts, one wake-up asked of the host.
#pragma once

#include <vector>

#include "connectx/cx_core.h"
#include "spec/types.h"

namespace niclab::connectx {

class Device;
class TimerQueue;

// One thing to do at one time. Lives inside the object that it belongs to and is stopped with it.
class Timer {
  public:
    using Action = void (*)(Device &, u32 number); // the number given to start()

    Timer(TimerQueue &queue, Action action);
    ~Timer();
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    // Runs the action once `now_ns() >= due_ns`, never before the caller has returned. A running timer gets
    // the new time; one that moves to later costs no call of the host.
    void start(u64 due_ns, u32 number);
    void stop();
    bool running() const { return place_ != kNowhere; }

  private:
    friend class TimerQueue;
    static constexpr usize kNowhere = ~usize{0};

    TimerQueue &queue_;
    Action action_;
    u32 number_ = 0;
    u64 due_ = 0;
    usize place_ = kNowhere; // in the queue's heap
};

// Running timers, the earliest first. Memory is set aside when a timer is made: start() allocates nothing.
class TimerQueue {
  public:
    TimerQueue(const cx_host_ops *ops, void *host) : ops_(ops), host_(host) {}
    ~TimerQueue() { cancel_wake_up(); }
    TimerQueue(const TimerQueue &) = delete;
    TimerQueue &operator=(const TimerQueue &) = delete;

    // The wake-up came: runs what is due, and no more actions than there were timers: one that starts its
    // timer again for a time that has passed cannot hold the card here.
    void expire(Device &device);
    // No wake-up comes any more unless a timer is started again. None may be running.
    void cancel_wake_up();

  private:
    friend class Timer;
    void insert(Timer *timer);
    void remove(Timer *timer);
    void place(Timer *timer, usize at);
    void rise(Timer *timer, usize at);
    void sink(Timer *timer, usize at);
    void ask_host();

    const cx_host_ops *ops_;
    void *host_;
    std::vector<Timer *> heap_; // binary heap by due_
    usize made_ = 0;            // timers that exist, running or not
    u64 asked_ = CX_TIMER_OFF;  // the wake-up that the host knows of
    bool expiring_ = false;     // the host is asked once, at the end
};

} // namespace niclab::connectx
