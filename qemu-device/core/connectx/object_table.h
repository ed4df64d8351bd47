// SPDX-License-Identifier: GPL-2.0-or-later
// Numbered objects of one kind (queues, keys, tables): bounded, numbers handed out in rising order and reused
// last.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "spec/types.h"

namespace niclab::connectx {

// Numbers run from `first` to `first + limit - 1`. find() is one bounds check and one load: it stands on the
// datapath.
template <class T>
class ObjectTable {
  public:
    ObjectTable(u32 first, u32 limit) : first_(first), limit_(limit) {}

    // The new object's number in `number`; nullptr when the table is full.
    T *add(std::unique_ptr<T> object, u32 &number) {
        if (live_ == limit_) return nullptr;
        u32 slot = next_free();
        if (slot >= slots_.size()) slots_.resize(slot + 1);
        slots_[slot] = std::move(object);
        ++live_;
        next_ = slot + 1;
        number = first_ + slot;
        return slots_[slot].get();
    }
    T *find(u32 number) const {
        u32 slot = number - first_;
        return slot < slots_.size() ? slots_[slot].get() : nullptr;
    }
    bool remove(u32 number) {
        if (!find(number)) return false;
        slots_[number - first_].reset();
        --live_;
        return true;
    }
    void clear() {
        slots_.clear();
        live_ = 0;
        next_ = 0;
    }
    u32 live() const { return live_; }
    // Calls f(number, object) for each live object in rising order.
    template <class F>
    void for_each(F f) const {
        for (u32 slot = 0; slot < slots_.size(); ++slot)
            if (slots_[slot]) f(first_ + slot, *slots_[slot]);
    }

  private:
    u32 next_free() const {
        for (u32 i = 0; i < limit_; ++i) {
            u32 slot = (next_ + i) % limit_;
            if (slot >= slots_.size() || !slots_[slot]) return slot;
        }
        return limit_;
    }

    u32 first_, limit_, live_ = 0, next_ = 0;
    std::vector<std::unique_ptr<T>> slots_;
};

} // namespace niclab::connectx
