// Preloaded by tests: each launch that the program makes through Trimtab is made REPEAT_LAUNCHES times.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>

namespace {

using Launch = cudaError_t (*)(const void*, dim3, dim3, void**, size_t, cudaStream_t);

cudaError_t repeat(const char* name, const void* func, dim3 grid, dim3 block, void** args,
                   size_t shared_bytes, cudaStream_t stream) {
    const auto next = reinterpret_cast<Launch>(dlsym(RTLD_NEXT, name));
    const char* times = std::getenv("REPEAT_LAUNCHES");
    cudaError_t status = next(func, grid, block, args, shared_bytes, stream);
    for (int i = 1; times != nullptr && i < std::atoi(times) && status == cudaSuccess; ++i)
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
