// SPDX-License-Identifier: GPL-2.0-or-later
// Errors are values: a Result holds what was asked for, or one sentence saying why not.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace niclab {

struct Error {
    std::string what;
};

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return held_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T &operator*() & { return std::get<0>(held_); }
    const T &operator*() const & { return std::get<0>(held_); }
    T *operator->() { return &std::get<0>(held_); }
    const T *operator->() const { return &std::get<0>(held_); }
    T take() { return std::move(std::get<0>(held_)); }

    /// The sentence that says why there is no value; empty when there is one.
    std::string why() const { return ok() ? std::string() : std::get<1>(held_).what; }
    Error error() const { return Error{why()}; }

  private:
    std::variant<T, Error> held_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_; }
    explicit operator bool() const { return ok(); }
    void take() {}
    std::string why() const { return error_ ? error_->what : std::string(); }
    Error error() const { return Error{why()}; }

  private:
    std::optional<Error> error_;
};

using Status = Result<void>;

} // namespace niclab

// Evaluates to the value of a Result, or returns its error from the enclosing function.
#define NICLAB_TRY(expression)                                                                               \
    ({                                                                                                       \
        auto niclab_try_result = (expression);                                                               \
        if (!niclab_try_result.ok()) return niclab_try_result.error();                                       \
        niclab_try_result.take();                                                                            \
    })
