// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Preloaded by tests: each launch that the program makes through Trimtab is made REPEAT_LAUNCHES times; with REPEAT_ONLY=n
// the n-th alone, from 1.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace {

using Launch = cudaError_t (*)(const void*, dim3, dim3, void**, size_t, cudaStream_t);

cudaError_t repeat(const char* name, const void* func, dim3 grid, dim3 block, void** args,
                   size_t shared_bytes, cudaStream_t stream) {
    const auto next = reinterpret_cast<Launch>(dlsym(RTLD_NEXT, name));
    static std::atomic<int> launches = 0;
    const char *const times = std::getenv("REPEAT_LAUNCHES"), *const only = std::getenv("REPEAT_ONLY");
    const int number = ++launches;
    const bool repeats = times != nullptr && (only == nullptr || std::atoi(only) == number);
    cudaError_t status = next(func, grid, block, args, shared_bytes, stream);
    for (int i = 1; repeats && i < std::atoi(times) && status == cudaSuccess; ++i)
        status = next(func, grid, block, args, shared_bytes, stream);
    return status;
}

}  // namespace

extern "C" {
cudaError_t trimtab_launch_kernel(const void* func, dim3 grid, dim3 block, void** args, size_t shared_bytes,
                                  cudaStream_t stream) {
    return repeat("trimtab_launch_kernel", func, grid, block, args, shared_bytes, stream);
}
}
