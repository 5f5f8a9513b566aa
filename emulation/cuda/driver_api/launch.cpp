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

CUresult launch_now(CUfunction f, const dim3& grid, const dim3& block, unsigned shared_bytes, CUstream stream,
                    void** arguments, void** extra, std::span<const cudaLaunchAttribute> attributes = {}) {
    return launch({.function = f,
                   .grid = grid,
                   .block = block,
                   .arguments = arguments,
                   .packed_arguments = {},
                   .dynamic_shared_bytes = shared_bytes,
                   .stream = stream,
                   .attributes = attributes},
                  extra);
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                        unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes,
                        CUstream hStream, void** kernelParams, void** extra) {
    return launch_now(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes,
                      hStream, kernelParams, extra);
}
TRIMTAB_SAME_AS(cuLaunchKernel, cuLaunchKernel_ptsz);

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                   unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                   unsigned sharedMemBytes, CUstream hStream, void** kernelParams) {
    const auto attribute = trimtab::cuda::cooperative_attribute();
    return launch_now(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes,
                      hStream, kernelParams, nullptr, {&attribute, 1});
}
TRIMTAB_SAME_AS(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz);

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // The attributes are numbered and laid out alike in both interfaces.
    static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
    const auto* attributes = reinterpret_cast<const cudaLaunchAttribute*>(config->attrs);
    return launch_now(f, dim3(config->gridDimX, config->gridDimY, config->gridDimZ),
                      dim3(config->blockDimX, config->blockDimY, config->blockDimZ), config->sharedMemBytes,
                      config->hStream, kernelParams, extra,
                      {attributes, attributes == nullptr ? 0 : config->numAttrs});
}
TRIMTAB_SAME_AS(cuLaunchKernelEx, cuLaunchKernelEx_ptsz);

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
    return forward(cudaLaunchHostFunc, hStream, fn, userData);
}
TRIMTAB_SAME_AS(cuLaunchHostFunc, cuLaunchHostFunc_ptsz);

}  // extern "C"
