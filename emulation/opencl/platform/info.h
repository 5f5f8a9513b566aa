// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Answers to clGet...Info, and the frame of entry points.
#pragma once

#include <cstring>
#include <expected>
#include <new>
#include <span>
#include <string_view>

#include "emulation/opencl/platform/objects.h"

namespace trimtab::opencl {

// Where an answer goes.
class Answer {
  public:
    Answer(std::size_t size, void* value, std::size_t* size_back)
        : size_(size), value_(value), back_(size_back) {}

    [[nodiscard]] cl_int bytes(const void* data, std::size_t count) const {
        if (value_ != nullptr && size_ < count) return CL_INVALID_VALUE;
        if (value_ != nullptr && count > 0) std::memcpy(value_, data, count);
        if (back_ != nullptr) *back_ = count;
        return CL_SUCCESS;
    }
    [[nodiscard]] cl_int text(std::string_view text) const {
        const std::size_t count = text.size() + 1;
        if (value_ != nullptr && size_ < count) return CL_INVALID_VALUE;
        if (value_ != nullptr) {
            std::memcpy(value_, text.data(), text.size());
            static_cast<char*>(value_)[text.size()] = '\0';
        }
        if (back_ != nullptr) *back_ = count;
        return CL_SUCCESS;
    }
    template <class T>
    [[nodiscard]] cl_int value(const T& value) const {
        static_assert(std::is_trivially_copyable_v<T>);
        return bytes(static_cast<const void*>(&value), sizeof(T));
    }
    template <class T>
    [[nodiscard]] cl_int list(std::span<const T> values) const {
        return bytes(static_cast<const void*>(values.data()), values.size_bytes());
    }
    template <class T>
    [[nodiscard]] cl_int list(const std::vector<T>& values) const {
        return list(std::span<const T>(values));
    }
    [[nodiscard]] cl_int nothing() const { return bytes(nullptr, 0); }

    // For what writes pieces of its own: programs' binaries.
    [[nodiscard]] void* place() const { return value_; }
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    std::size_t size_;
    void* value_;
    std::size_t* back_;
};

// No exception leaves an entry point.
template <class Body>
cl_int guarded(const Body& body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return CL_OUT_OF_HOST_MEMORY;
    } catch (...) {
        return CL_OUT_OF_RESOURCES;
    }
}

// The same of those that make something: `body` gives a pointer or an error.
template <class T>
using Made = std::expected<T, cl_int>;
template <class T, class Body>
T made(cl_int* error, const Body& body) noexcept {
    cl_int status = CL_SUCCESS;
    T out = nullptr;
    try {
        Made<T> result = body();
        if (result)
            out = *result;
        else
            status = result.error();
    } catch (const std::bad_alloc&) {
        status = CL_OUT_OF_HOST_MEMORY;
    } catch (...) {
        status = CL_OUT_OF_RESOURCES;
    }
    if (error != nullptr) *error = status;
    return out;
}

}  // namespace trimtab::opencl
