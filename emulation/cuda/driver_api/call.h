// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame that every call of the driver API runs in. The driver and the runtime share all of the emulator's
// state; the driver adds contexts, and keeps no last error.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <new>

#include "emulation/cuda/state.h"

namespace trimtab::cuda::driver {

using cuda::Device;
using cuda::State;
using cuda::this_thread;

// The driver's code for what the runtime answers: the same number, but where the driver has no such error.
[[nodiscard]] CUresult to_result(cudaError_t status);

// Runs `body` where no context is needed, once cuInit has been called.
template <typename Body>
CUresult initialised_call(const Body& body) noexcept {
    try {
        State& state = State::instance();
        if (!state.initialised) return CUDA_ERROR_NOT_INITIALIZED;
        return body(state);
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (...) {
        return CUDA_ERROR_UNKNOWN;
    }
}

// Runs `body` in the thread's current context. It answers with CUresult, or with cudaError_t where it makes
// calls of the runtime's; those leave no trace in the runtime's last error.
template <typename Body>
CUresult context_call(const Body& body) noexcept {
    return initialised_call([&](State& state) {
        ThreadState& thread = this_thread();
        if (thread.contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        if (thread.contexts.back()->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        const cudaError_t last_error = thread.last_error;
        CUresult result = CUDA_SUCCESS;
        if constexpr (std::is_same_v<decltype(body(state)), CUresult>) {
            result = body(state);
        } else {
            result = to_result(body(state));
        }
        thread.last_error = last_error;
        return result;
    });
}

// A call that the runtime has under the same arguments.
template <typename Function, typename... Arguments>
CUresult forward(Function function, Arguments... arguments) noexcept {
    return context_call([&](State&) { return function(arguments...); });
}

using cuda::device_at;

// A device pointer is the host's address of the same byte.
[[nodiscard]] inline void* host(CUdeviceptr pointer) {
    return reinterpret_cast<void*>(pointer);
}

}  // namespace trimtab::cuda::driver
