// SPDX-License-Identifier: GPL-2.0-or-later
// Errors are values: a Result holds either a T or a negative errno, and TRY passes a failure up.
#pragma once

#include "spec/types.h"

namespace niclab::driver {

// The kernel's numbers; the glue hands them on unchanged.
constexpr int kEio = 5, kEagain = 11, kEnomem = 12, kEbusy = 16, kEnodev = 19, kEinval = 22, kEnospc = 28,
              kEtimedout = 110, kEopnotsupp = 95;

template <class T>
struct RemoveReference {
    using Type = T;
};
template <class T>
struct RemoveReference<T &> {
    using Type = T;
};
template <class T>
struct RemoveReference<T &&> {
    using Type = T;
};
template <class T>
constexpr typename RemoveReference<T>::Type &&move(T &&value) noexcept {
    return static_cast<typename RemoveReference<T>::Type &&>(value);
}
template <class T>
constexpr void swap(T &a, T &b) noexcept {
    T keep = driver::move(a);
    a = driver::move(b);
    b = driver::move(keep);
}
template <class T>
constexpr T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
    return a < b ? b : a;
}

struct Err {
    int code; // negative errno
};

// T must have an empty state (its default constructor): that is what a failed Result holds.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(driver::move(value)) {}
    Result(Err failure) : error_(failure.code) {}
    bool ok() const { return error_ == 0; }
    int error() const { return error_; }
    T take() { return driver::move(value_); }

  private:
    T value_{};
    int error_ = 0;
};
template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Err failure) : error_(failure.code) {}
    bool ok() const { return error_ == 0; }
    int error() const { return error_; }
    void take() {}

  private:
    int error_ = 0;
};

// The value of a Result, or return its error from the enclosing function. Use it only as a whole statement or
// initializer: GCC does not destroy half-evaluated neighbours of a statement expression that returns.
#define TRY(expression)                                                                                      \
    ({                                                                                                       \
        auto try_result = (expression);                                                                      \
        if (!try_result.ok()) return ::niclab::driver::Err{try_result.error()};                              \
        try_result.take();                                                                                   \
    })

} // namespace niclab::driver
