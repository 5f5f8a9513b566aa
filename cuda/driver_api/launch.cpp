// Launches through the driver API.
#include <cstring>
#include <map>

#include "cuda/driver_api/call.h"
#include "cuda/kernel_launch.h"
#include "cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;
using trimtab::cuda::KernelCall;

namespace {

// The arguments as one buffer, where they come so: `extra` is a list of names and values.
std::expected<std::span<const std::byte>, CUresult> packed_arguments(void** extra) {
    const void* start = nullptr;
    std::size_t bytes = 0;
    for (void** entry = extra; *entry != CU_LAUNCH_PARAM_END; entry += 2) {
        if (*entry == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            start = entry[1];
        } else if (*entry == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            bytes = *static_cast<const std::size_t*>(entry[1]);
        } else {
            return std::unexpected(CUDA_ERROR_INVALID_VALUE);
        }
    }
    if (start == nullptr && bytes > 0) return std::unexpected(CUDA_ERROR_INVALID_VALUE);
    return std::span{static_cast<const std::byte*>(start), bytes};
}

CUresult launch(KernelCall call, void** extra) {
    return context_call([&](State&) {
        if (extra != nullptr && call.arguments == nullptr) {
            const auto packed = packed_arguments(extra);
            if (!packed) return packed.error();
            call.packed_arguments = *packed;
        } else if (extra != nullptr) {
            return CUDA_ERROR_INVALID_VALUE;  // one form or the other
        }
        return to_result(trimtab::cuda::call([&](State& state) { return launch_kernel(state, call); }));
    });
}

CUresult launch_now(CUfunction f, const dim3& grid, const dim3& block, unsigned shared_bytes, CUstream stream,
                    void** arguments, void** extra, bool cooperative) {
    return launch({.function = f,
                   .grid = grid,
                   .block = block,
                   .arguments = arguments,
                   .packed_arguments = {},
                   .dynamic_shared_bytes = shared_bytes,
                   .stream = stream,
                   .cooperative = cooperative},
                  extra);
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                        unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes,
                        CUstream hStream, void** kernelParams, void** extra) {
    return launch_now(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes,
                      hStream, kernelParams, extra, false);
}
TRIMTAB_SAME_AS(cuLaunchKernel, cuLaunchKernel_ptsz);

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                   unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                   unsigned sharedMemBytes, CUstream hStream, void** kernelParams) {
    return launch_now(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes,
                      hStream, kernelParams, nullptr, true);
}
TRIMTAB_SAME_AS(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz);

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const dim3 grid(config->gridDimX, config->gridDimY, config->gridDimZ);
    const dim3 block(config->blockDimX, config->blockDimY, config->blockDimZ);
    if (extra != nullptr && config->numAttrs == 0)
        return launch_now(f, grid, block, config->sharedMemBytes, config->hStream, kernelParams, extra,
                          false);
    return context_call([&](State&) {
        // The attributes are numbered and laid out alike in both interfaces.
        static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
        const cudaLaunchConfig_t same{.gridDim = grid,
                                      .blockDim = block,
                                      .dynamicSmemBytes = config->sharedMemBytes,
                                      .stream = config->hStream,
                                      .attrs = reinterpret_cast<cudaLaunchAttribute*>(config->attrs),
                                      .numAttrs = config->numAttrs};
        return cudaLaunchKernelExC(&same, static_cast<const void*>(f), kernelParams);
    });
}
TRIMTAB_SAME_AS(cuLaunchKernelEx, cuLaunchKernelEx_ptsz);

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
    return forward(cudaLaunchHostFunc, hStream, fn, userData);
}
TRIMTAB_SAME_AS(cuLaunchHostFunc, cuLaunchHostFunc_ptsz);

}  // extern "C"
