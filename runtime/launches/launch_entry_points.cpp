// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch entry points of libtrimtab.so: CUDA's own names, and those that the LLVM pass routes to.
#include <cuda_runtime_api.h>

#include "runtime/launches/capture.h"
#include "runtime/launches/cuda_sizes.h"
#include "runtime/launches/launch_attributes.h"
#include "runtime/launches/unknown_kernel.h"
#include "runtime/process.h"

namespace trimtab::runtime {
namespace {

// As the program gives it; `Function` is const void*, or cudaKernel_t for the calls that nvcc's stubs make.
template <typename Function>
struct PlainLaunch {
    Function function;
    const dim3 &grid, &block;
    void** arguments = nullptr;
    std::size_t shared_bytes = 0;
    cudaStream_t stream = nullptr;
};

// `default_stream`: which one the stream 0 is.
template <typename Function, typename Call>
cudaError_t launch_plain(Call BackendCalls::* member, cudaStream_t default_stream,
                         const PlainLaunch<Function>& given) {
    auto [function, grid, block, arguments, shared_bytes, stream] = given;
    Process& process = Process::instance();
    Loaded& loaded = process.loaded();
    const Call call = loaded.backend.calls().*member;
    const choosing::LaunchShape shape{
        .written = {.grid = from_cuda(grid), .block = from_cuda(block), .dynamic_shared_bytes = shared_bytes},
        .arguments = arguments,
        .function = function,
        .stream = stream != nullptr ? stream : default_stream};
    const cudaError_t status = loaded.launcher.launch(
        process.kernel_of(function), shape, nullptr,
        [&](const trimtab_dim3& new_grid, const trimtab_dim3& new_block, std::uint64_t new_shared_bytes,
            const RegisteredKernel* body) {
            if (body != nullptr) {
                const BackendCalls& calls = loaded.backend.calls();
                const LaunchKernel plain =
                    default_stream == cudaStreamPerThread ? calls.launch_kernel_ptsz : calls.launch_kernel;
                return plain(body->host_function, to_cuda(new_grid), to_cuda(new_block), arguments,
                             new_shared_bytes, stream);
            }
            return call(function, to_cuda(new_grid), to_cuda(new_block), arguments, new_shared_bytes, stream);
        },
        [&] { return is_captured(loaded.backend.calls(), stream != nullptr ? stream : default_stream); });
    return told_if_unknown(status, process, function);
}

cudaError_t launch_exc(LaunchKernelExC BackendCalls::* member, cudaStream_t default_stream,
                       const cudaLaunchConfig_t* config, const void* function, void** arguments) {
    Process& process = Process::instance();
    Loaded& loaded = process.loaded();
    const LaunchKernelExC call = loaded.backend.calls().*member;
    if (config == nullptr) return call(config, function, arguments);
    const char* keep = nullptr;
    for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i) {
        if (!leaves_shape_free(config->attrs[i]))
            keep = "it is launched with cluster or cooperative attributes";
    }
    const choosing::LaunchShape shape{.written = {.grid = from_cuda(config->gridDim),
                                                  .block = from_cuda(config->blockDim),
                                                  .dynamic_shared_bytes = config->dynamicSmemBytes},
                                      .arguments = arguments,
                                      .function = function,
                                      .stream = config->stream != nullptr ? config->stream : default_stream};
    const cudaError_t status = loaded.launcher.launch(
        process.kernel_of(function), shape, keep,
        [&](const trimtab_dim3& new_grid, const trimtab_dim3& new_block, std::uint64_t new_shared_bytes,
            const RegisteredKernel* body) {
            cudaLaunchConfig_t changed = *config;
            changed.gridDim = to_cuda(new_grid);
            changed.blockDim = to_cuda(new_block);
            changed.dynamicSmemBytes = new_shared_bytes;
            return call(&changed, body != nullptr ? body->host_function : function, arguments);
        },
        [&] {
            return is_captured(loaded.backend.calls(),
                               config->stream != nullptr ? config->stream : default_stream);
        });
    return told_if_unknown(status, process, function);
}

}  // namespace
}  // namespace trimtab::runtime

using trimtab::runtime::BackendCalls;
using trimtab::runtime::launch_exc;
using trimtab::runtime::launch_plain;
using trimtab::runtime::PlainLaunch;

extern "C" {

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel, cudaStreamLegacy,
                        PlainLaunch{func, gridDim, blockDim, args, sharedMem, stream});
}
cudaError_t cudaLaunchKernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                  size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel_ptsz, cudaStreamPerThread,
                        PlainLaunch{func, gridDim, blockDim, args, sharedMem, stream});
}
cudaError_t trimtab_launch_kernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                  size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel, cudaStreamLegacy,
                        PlainLaunch{func, gridDim, blockDim, args, sharedMem, stream});
}
cudaError_t trimtab_launch_kernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                       size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel_ptsz, cudaStreamPerThread,
                        PlainLaunch{func, gridDim, blockDim, args, sharedMem, stream});
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args,
                               size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel_handle, cudaStreamLegacy,
                        PlainLaunch{kernel, gridDim, blockDim, args, sharedMem, stream});
}
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args,
                                    size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel_handle_ptsz, cudaStreamPerThread,
                        PlainLaunch{kernel, gridDim, blockDim, args, sharedMem, stream});
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch_exc(&BackendCalls::launch_kernel_exc, cudaStreamLegacy, config, func, args);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch_exc(&BackendCalls::launch_kernel_exc_ptsz, cudaStreamPerThread, config, func, args);
}
cudaError_t trimtab_launch_kernel_exc(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch_exc(&BackendCalls::launch_kernel_exc, cudaStreamLegacy, config, func, args);
}
cudaError_t trimtab_launch_kernel_exc_ptsz(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch_exc(&BackendCalls::launch_kernel_exc_ptsz, cudaStreamPerThread, config, func, args);
}

}  // extern "C"
