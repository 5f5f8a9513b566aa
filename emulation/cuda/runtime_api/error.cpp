// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors and versions.
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include "emulation/cuda/errors.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

// A kernel's fault, once a call has met it, stays until cudaDeviceReset; any other error is told once.
cudaError_t current_error() {
    State& state = State::instance();
    if (!state.devices.empty()) {
        const std::lock_guard lock(state.mutex);
        const Device& device = state.current();
        if (device.fault != cudaSuccess && device.fault_told) return device.fault;
    }
    return this_thread().last_error;
}

}  // namespace

extern "C" {

cudaError_t cudaGetLastError() {
    const cudaError_t error = current_error();
    this_thread().last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() {
    return current_error();
}

const char* cudaGetErrorName(cudaError_t error) {
    return error_name(error);
}
const char* cudaGetErrorString(cudaError_t error) {
    return error_text(error);
}

// The version of the interface that this library offers.
cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) {
    if (runtimeVersion == nullptr) return finish(cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* driverVersion) {
    if (driverVersion == nullptr) return finish(cudaErrorInvalidValue);
    *driverVersion = emulated_driver_version;
    return cudaSuccess;
}

cudaError_t cudaProfilerStart() {
    return cudaSuccess;
}
cudaError_t cudaProfilerStop() {
    return cudaSuccess;
}

// The driver API that lies beside this one.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** funcPtr, unsigned cudaVersion,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* driverStatus) {
    if (symbol == nullptr || funcPtr == nullptr) return finish(cudaErrorInvalidValue);
    // Both interfaces number the flags and the answers alike. A name that does not exist is no error here.
    auto found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    static_cast<void>(cuGetProcAddress(symbol, funcPtr, static_cast<int>(cudaVersion), flags, &found));
    if (driverStatus != nullptr) *driverStatus = static_cast<cudaDriverEntryPointQueryResult>(found);
    return finish(cudaSuccess);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** funcPtr, unsigned cudaVersion,
                                                  unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* driverStatus) {
    if (flags == cudaEnableDefault) flags = cudaEnablePerThreadDefaultStream;
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* driverStatus) {
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** funcPtr, unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* driverStatus) {
    return cudaGetDriverEntryPointByVersion_ptsz(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

}  // extern "C"
