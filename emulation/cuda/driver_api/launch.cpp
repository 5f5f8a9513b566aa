// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches through the driver API.
#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/kernel_launch.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;
using trimtab::cuda::KernelCall;

namespace {

CUresult launch(KernelCall call, void** extra) {
    return context_call([&](State&) {
        if (extra != nullptr && call.arguments == nullptr) {
            const auto packed = trimtab::cuda::packed_arguments(extra);
            if (!packed) return to_result(packed.error());
            call.packed_arguments = *packed;
        } else if (extra != nullptr) {
            return CUDA_ERROR_INVALID_VALUE;  // one form or the other
        }
        return to_result(trimtab::cuda::call([&](State& state) { return launch_kernel(state, call); }));
    });
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                        unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes,
                        CUstream hStream, void** kernelParams, void** extra) {
    return launch({.function = f,
                   .grid = {gridDimX, gridDimY, gridDimZ},
                   .block = {blockDimX, blockDimY, blockDimZ},
                   .arguments = kernelParams,
                   .dynamic_shared_bytes = sharedMemBytes,
                   .stream = hStream},
                  extra);
}
TRIMTAB_SAME_AS(cuLaunchKernel, cuLaunchKernel_ptsz);

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                   unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                   unsigned sharedMemBytes, CUstream hStream, void** kernelParams) {
    const auto attribute = trimtab::cuda::cooperative_attribute();
    return launch({.function = f,
                   .grid = {gridDimX, gridDimY, gridDimZ},
                   .block = {blockDimX, blockDimY, blockDimZ},
                   .arguments = kernelParams,
                   .dynamic_shared_bytes = sharedMemBytes,
                   .stream = hStream,
                   .attributes = {&attribute, 1}},
                  nullptr);
}
TRIMTAB_SAME_AS(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz);

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // The attributes are numbered and laid out alike in both interfaces.
    static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
    const auto* attributes = reinterpret_cast<const cudaLaunchAttribute*>(config->attrs);
    return launch({.function = f,
                   .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                   .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                   .arguments = kernelParams,
                   .dynamic_shared_bytes = config->sharedMemBytes,
                   .stream = config->hStream,
                   .attributes = {attributes, attributes == nullptr ? 0 : config->numAttrs}},
                  extra);
}
TRIMTAB_SAME_AS(cuLaunchKernelEx, cuLaunchKernelEx_ptsz);

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
    return forward(cudaLaunchHostFunc, hStream, fn, userData);
}
TRIMTAB_SAME_AS(cuLaunchHostFunc, cuLaunchHostFunc_ptsz);

}  // extern "C"
