// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What OpenCL's handles point to. Each begins with the table by which the loader finds the entry points.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace trimtab::opencl {

[[nodiscard]] const cl_icd_dispatch* dispatch_table();

// Of which kind a handle is; any other value there: it is no handle, or one that has been given up.
enum class Kind : std::uint32_t {
    gone,
    platform = 0x54540001,
    device,
    context,
    queue,
    memory,
    sampler,
    program,
    kernel,
    event
};

// The program's references, as clRetain and clRelease count them, hold the object together, and so does every Ref.
struct Object {
    explicit Object(Kind its_kind);
    ~Object();
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    const cl_icd_dispatch* dispatch = dispatch_table();
    Kind kind;
    std::atomic<cl_uint> references = 1;
    std::atomic<std::uint32_t> held = 1;  // by the program, as long as it has a reference, and by each Ref
};

// Is it an object of that kind? Of what a program hands over in bytes, which may be anything; other handles have been
// through the loader, which has looked at them.
[[nodiscard]] bool is_live(const void* handle, Kind kind);

template <class T>
void let_go(T* object) {
    if (object->held.fetch_sub(1) != 1) return;
    object->kind = Kind::gone;
    delete object;
}

template <class T>
class Ref {
  public:
    Ref() = default;
    Ref(T* object) : object_(object) {  // NOLINT(google-explicit-constructor): as pointers convert
        if (object_ != nullptr) object_->held.fetch_add(1);
    }
    Ref(const Ref& other) : Ref(other.object_) {}
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_ != nullptr) let_go(object_);
    }
    [[nodiscard]] T* get() const { return object_; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }
    explicit operator bool() const { return object_ != nullptr; }

  private:
    T* object_ = nullptr;
};

template <class T>
[[nodiscard]] bool is_a(const T* object, Kind kind) {
    return object != nullptr && object->kind == kind;
}

template <class T>
cl_int retain(T* object, Kind kind, cl_int error) {
    if (!is_a(object, kind) || object->references.load() == 0) return error;
    object->references.fetch_add(1);
    return CL_SUCCESS;
}

template <class T>
cl_int release(T* object, Kind kind, cl_int error) {
    if (!is_a(object, kind) || object->references.load() == 0) return error;
    if (object->references.fetch_sub(1) == 1) let_go(object);
    return CL_SUCCESS;
}

// Calls of the program's, the last registered first: of contexts and memory objects that end.
template <class T>
class EndCallbacks {
  public:
    using Function = void(CL_CALLBACK*)(T, void*);
    void add(Function function, void* data) {
        const std::lock_guard lock(mutex_);
        calls_.emplace_back(function, data);
    }
    void call(T object) {
        for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) call->first(object, call->second);
    }

  private:
    std::mutex mutex_;
    std::vector<std::pair<Function, void*>> calls_;
};

}  // namespace trimtab::opencl
