// The launch entry points of libtrimtab.so: CUDA's own names, and those that the LLVM pass routes to.
#include <cuda_runtime_api.h>

#include "runtime/launches/launch_attributes.h"
#include "runtime/process.h"

namespace trimtab::runtime {
namespace {

trimtab_dim3 from_cuda(const dim3& size) {
    return {.x = size.x, .y = size.y, .z = size.z};
}
dim3 to_cuda(const trimtab_dim3& size) {
    return {size.x, size.y, size.z};
}

// Null: a kernel that Trimtab knows nothing of.
RegisteredKernel* kernel_of(Process& process, const Loaded& loaded, const void* function) {
    RegisteredKernel* kernel = process.registrations().find(function);
    if (kernel != nullptr || loaded.backend.kind() != BackendKind::foreign) return kernel;
    const BackendCalls& calls = loaded.backend.calls();
    const char* name = nullptr;
    if (calls.func_get_name(&name, function) == cudaSuccess && name != nullptr)
        return process.registrations().adopt(function, name);
    static_cast<void>(calls.get_last_error());
    return nullptr;
}

// `Function` is const void*, or cudaKernel_t for the calls that nvcc's stubs make.
template <typename Function, typename Call>
cudaError_t launch_plain(Call BackendCalls::* member, Function function, const dim3& grid, const dim3& block,
                         void** arguments, std::size_t shared_bytes, cudaStream_t stream) {
    Process& process = Process::instance();
    Loaded& loaded = process.loaded();
    const Call call = loaded.backend.calls().*member;
    const LaunchShape shape{.grid = from_cuda(grid),
                            .block = from_cuda(block),
                            .dynamic_shared_bytes = shared_bytes,
                            .arguments = arguments,
                            .function = function};
    return loaded.launcher.launch(
        kernel_of(process, loaded, function), shape, nullptr,
        [&](const trimtab_dim3& new_grid, const trimtab_dim3& new_block, std::uint64_t new_shared_bytes) {
            return call(function, to_cuda(new_grid), to_cuda(new_block), arguments, new_shared_bytes, stream);
        });
}

cudaError_t launch_exc(LaunchKernelExC BackendCalls::* member, const cudaLaunchConfig_t* config,
                       const void* function, void** arguments) {
    Process& process = Process::instance();
    Loaded& loaded = process.loaded();
    const LaunchKernelExC call = loaded.backend.calls().*member;
    if (config == nullptr) return call(config, function, arguments);
    const char* keep = nullptr;
    for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i) {
        if (!leaves_shape_free(config->attrs[i]))
            keep = "it is launched with cluster or cooperative attributes";
    }
    const LaunchShape shape{.grid = from_cuda(config->gridDim),
                            .block = from_cuda(config->blockDim),
                            .dynamic_shared_bytes = config->dynamicSmemBytes,
                            .arguments = arguments,
                            .function = function};
    return loaded.launcher.launch(
        kernel_of(process, loaded, function), shape, keep,
        [&](const trimtab_dim3& new_grid, const trimtab_dim3& new_block, std::uint64_t new_shared_bytes) {
            cudaLaunchConfig_t changed = *config;
            changed.gridDim = to_cuda(new_grid);
            changed.blockDim = to_cuda(new_block);
            changed.dynamicSmemBytes = new_shared_bytes;
            return call(&changed, function, arguments);
        });
}

}  // namespace
}  // namespace trimtab::runtime

using trimtab::runtime::BackendCalls;
using trimtab::runtime::launch_exc;
using trimtab::runtime::launch_plain;

extern "C" {

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel, func, gridDim, blockDim, args, sharedMem, stream);
}
cudaError_t cudaLaunchKernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                  size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel_ptsz, func, gridDim, blockDim, args, sharedMem, stream);
}
cudaError_t trimtab_launch_kernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                  size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel, func, gridDim, blockDim, args, sharedMem, stream);
}
cudaError_t trimtab_launch_kernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                       size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel_ptsz, func, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args,
                               size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel_handle, kernel, gridDim, blockDim, args, sharedMem,
                        stream);
}
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args,
                                    size_t sharedMem, cudaStream_t stream) {
    return launch_plain(&BackendCalls::launch_kernel_handle_ptsz, kernel, gridDim, blockDim, args, sharedMem,
                        stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch_exc(&BackendCalls::launch_kernel_exc, config, func, args);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch_exc(&BackendCalls::launch_kernel_exc_ptsz, config, func, args);
}
cudaError_t trimtab_launch_kernel_exc(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch_exc(&BackendCalls::launch_kernel_exc, config, func, args);
}
cudaError_t trimtab_launch_kernel_exc_ptsz(const cudaLaunchConfig_t* config, const void* func, void** args) {
    return launch_exc(&BackendCalls::launch_kernel_exc_ptsz, config, func, args);
}

}  // extern "C"
