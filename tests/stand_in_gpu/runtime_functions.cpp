// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of libcudart.so.13: what is more than a call that is handed on.
#include <cuda_runtime_api.h>

#include <cstdio>

#include "tests/stand_in_gpu/call.h"

using namespace stand_in_gpu;

namespace {

cudaError_t failed(int error) {
    set_injected_error(error);
    return static_cast<cudaError_t>(error);
}

cudaError_t launch(const char* name, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared_bytes, cudaStream_t stream) {
    if (const int error = fault_of_changed(name, block.x, block.y, block.z); error != 0) return failed(error);
    return forward<decltype(&cudaLaunchKernel)>(name, function, grid, block, arguments, shared_bytes, stream);
}

cudaError_t launch(const char* name, const cudaLaunchConfig_t* config, const void* function,
                   void** arguments) {
    if (config != nullptr) {
        const dim3 block = config->blockDim;
        if (const int error = fault_of_changed(name, block.x, block.y, block.z); error != 0)
            return failed(error);
    }
    return forward<decltype(&cudaLaunchKernelExC)>(name, config, function, arguments);
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream) {
    return launch("cudaLaunchKernel", func, gridDim, blockDim, args, sharedMem, stream);
}
cudaError_t cudaLaunchKernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                  size_t sharedMem, cudaStream_t stream) {
    return launch("cudaLaunchKernel_ptsz", func, gridDim, blockDim, args, sharedMem, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch("cudaLaunchKernelExC", config, func, args);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch("cudaLaunchKernelExC_ptsz", config, func, args);
}

cudaError_t cudaGetLastError() {
    call_begins("cudaGetLastError");
    const auto own = reinterpret_cast<decltype(&cudaGetLastError)>(emulated("cudaGetLastError"))();
    const int injected = injected_error(true);
    return injected != 0 ? static_cast<cudaError_t>(injected) : own;
}
cudaError_t cudaPeekAtLastError() {
    call_begins("cudaPeekAtLastError");
    const auto own = reinterpret_cast<decltype(&cudaPeekAtLastError)>(emulated("cudaPeekAtLastError"))();
    const int injected = injected_error(false);
    return injected != 0 ? static_cast<cudaError_t>(injected) : own;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
    const cudaError_t status =
        forward<decltype(&cudaGetDeviceProperties)>("cudaGetDeviceProperties", prop, device);
    const Control& gpu = control();
    if (status != cudaSuccess || device != 0) return status;
    if (gpu.name_of_first[0] != '\0')
        std::snprintf(prop->name, sizeof prop->name, "%s", gpu.name_of_first.data());
    if (gpu.sms_of_first != 0) prop->multiProcessorCount = gpu.sms_of_first;
    return status;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
    const cudaError_t status =
        forward<decltype(&cudaDeviceGetAttribute)>("cudaDeviceGetAttribute", value, attr, device);
    const Control& gpu = control();
    if (status == cudaSuccess && device == 0 && attr == cudaDevAttrMultiProcessorCount &&
        gpu.sms_of_first != 0)
        *value = gpu.sms_of_first;
    return status;
}

cudaError_t cudaDriverGetVersion(int* driverVersion) {
    const cudaError_t status =
        forward<decltype(&cudaDriverGetVersion)>("cudaDriverGetVersion", driverVersion);
    if (status == cudaSuccess && control().driver_version != 0) *driverVersion = control().driver_version;
    return status;
}
cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) {
    const cudaError_t status =
        forward<decltype(&cudaRuntimeGetVersion)>("cudaRuntimeGetVersion", runtimeVersion);
    if (status == cudaSuccess && control().runtime_version != 0) *runtimeVersion = control().runtime_version;
    return status;
}

cudaError_t cudaDeviceReset() {
    control().lost = 0;
    return forward<decltype(&cudaDeviceReset)>("cudaDeviceReset");
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event_recorded(event);
    return forward<cudaError_t (*)(cudaEvent_t, cudaStream_t)>("cudaEventRecord", event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    const cudaError_t status = forward<decltype(&cudaEventQuery)>("cudaEventQuery", event);
    return status == cudaSuccess && !event_is_ready(event) ? cudaErrorNotReady : status;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
    const cudaError_t status =
        forward<decltype(&cudaEventElapsedTime)>("cudaEventElapsedTime", ms, start, end);
    if (status == cudaSuccess) *ms = measured_ms(*ms);
    return status;
}

}  // extern "C"
