// SPDX-License-Identifier: GPL-2.0-or-later
// Ownership of ordinary memory. There is no global operator new in the core: each allocation may fail and
// says so.
#pragma once

#include "core/platform.h"
#include "core/result.h"

namespace niclab::driver {
struct Place {
    void *at;
};
} // namespace niclab::driver
inline void *operator new(decltype(sizeof(0)), niclab::driver::Place place) noexcept { return place.at; }
inline void operator delete(void *, niclab::driver::Place) noexcept {}

namespace niclab::driver {

inline void copy_bytes(void *to, const void *from, usize bytes) { __builtin_memcpy(to, from, bytes); }
inline void clear_bytes(void *at, usize bytes) {
    if (bytes) __builtin_memset(at, 0, bytes); // memset of nothing may still not take a null pointer
}

struct ConstBytes {
    const u8 *data;
    usize size;
};
struct Bytes {
    u8 *data;
    usize size;
    operator ConstBytes() const { return {data, size}; }
};

// The only owner of one T on the heap.
template <class T>
class Owned {
  public:
    Owned() = default;
    // A default-constructed T, to be filled step by step.
    static Result<Owned> make() {
        void *memory = plat_alloc(sizeof(T));
        if (!memory) return Err{-kEnomem};
        return Owned(new (Place{memory}) T());
    }
    Owned(Owned &&other) noexcept : object_(other.object_) { other.object_ = nullptr; }
    Owned &operator=(Owned &&other) noexcept {
        swap_with(other);
        return *this;
    }
    ~Owned() { reset(); }
    void reset() {
        // The analyzer believes that a return inside TRY destroys the variable which TRY was to initialize.
        T *object = object_; // NOLINT(clang-analyzer-core.uninitialized.Assign)
        object_ = nullptr;
        if (!object) return;
        object->~T();
        plat_free(object);
    }
    T *get() const { return object_; }
    T *operator->() const { return object_; }
    T &operator*() const { return *object_; }
    explicit operator bool() const { return object_; }

  private:
    explicit Owned(T *object) : object_(object) {}
    void swap_with(Owned &other) {
        T *keep = object_;
        object_ = other.object_;
        other.object_ = keep;
    }

    T *object_ = nullptr;
};

// A row of `size` default-constructed elements.
template <class T>
class Array {
  public:
    Array() = default;
    static Result<Array> make(usize size) {
        Array array;
        if (size == 0) return Result<Array>(driver::move(array));
        array.elements_ = static_cast<T *>(plat_alloc(size * sizeof(T)));
        if (!array.elements_) return Err{-kEnomem};
        for (; array.size_ < size; ++array.size_)
            new (Place{array.elements_ + array.size_}) T();
        return Result<Array>(driver::move(array));
    }
    Array(Array &&other) noexcept : elements_(other.elements_), size_(other.size_) {
        other.elements_ = nullptr;
        other.size_ = 0;
    }
    Array &operator=(Array &&other) noexcept {
        swap(elements_, other.elements_);
        swap(size_, other.size_);
        return *this;
    }
    ~Array() {
        while (size_ > 0)
            elements_[--size_].~T();
        plat_free(elements_);
    }
    usize size() const { return size_; }
    T *data() const { return elements_; }
    T &operator[](usize i) const { return elements_[i]; }
    T *begin() const { return elements_; }
    T *end() const { return elements_ + size_; }

  private:
    T *elements_ = nullptr;
    usize size_ = 0;
};

} // namespace niclab::driver
