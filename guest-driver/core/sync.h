// SPDX-License-Identifier: GPL-2.0-or-later
// Exclusion and waiting as owned values, and the few atomic accesses that interrupt and process context
// share.
#pragma once

#include "core/memory.h"

namespace niclab::driver {

template <class T>
T load_acquire(const T &from) {
    return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}
template <class T>
T load_relaxed(const T &from) {
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}
template <class T>
void store_release(T &to, T value) {
    __atomic_store_n(&to, value, __ATOMIC_RELEASE);
}
template <class T>
void store_relaxed(T &to, T value) {
    __atomic_store_n(&to, value, __ATOMIC_RELAXED);
}
// A counter with one writer and readers anywhere: no lock prefix, no torn value.
inline void bump(u64 &counter, u64 by = 1) { store_relaxed(counter, counter + by); }

class Mutex {
  public:
    Mutex() = default;
    static Result<Mutex> make() {
        Mutex mutex;
        mutex.mutex_ = plat_mutex_new();
        if (!mutex.mutex_) return Err{-kEnomem};
        return Result<Mutex>(driver::move(mutex));
    }
    Mutex(Mutex &&other) noexcept : mutex_(other.mutex_) { other.mutex_ = nullptr; }
    Mutex &operator=(Mutex &&other) noexcept {
        swap(mutex_, other.mutex_);
        return *this;
    }
    ~Mutex() {
        if (mutex_) plat_mutex_free(mutex_);
    }
    void lock() { plat_mutex_lock(mutex_); }
    void unlock() { plat_mutex_unlock(mutex_); }

  private:
    plat_mutex *mutex_ = nullptr;
};

class Lock {
  public:
    explicit Lock(Mutex &mutex) : mutex_(mutex) { mutex_.lock(); }
    ~Lock() { mutex_.unlock(); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;

  private:
    Mutex &mutex_;
};

class Signal {
  public:
    Signal() = default;
    static Result<Signal> make() {
        Signal signal;
        signal.event_ = plat_event_new();
        if (!signal.event_) return Err{-kEnomem};
        return Result<Signal>(driver::move(signal));
    }
    Signal(Signal &&other) noexcept : event_(other.event_) { other.event_ = nullptr; }
    Signal &operator=(Signal &&other) noexcept {
        swap(event_, other.event_);
        return *this;
    }
    ~Signal() {
        if (event_) plat_event_free(event_);
    }
    void raise() { plat_event_signal(event_); }
    bool wait(unsigned ms) { return plat_event_wait(event_, ms) == 0; }

  private:
    plat_event *event_ = nullptr;
};

} // namespace niclab::driver
