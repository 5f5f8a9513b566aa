// CUDA_CHECK(call): ends the program with one line, naming the place, if a CUDA call fails.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace sample {

[[noreturn]] inline void cuda_failed(cudaError_t status, const char* call, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(status));
    std::exit(1);
}

}  // namespace sample

#define CUDA_CHECK(call)                                                       \
    do {                                                                       \
        const cudaError_t cuda_check_status = (call);                          \
        if (cuda_check_status != cudaSuccess)                                  \
            sample::cuda_failed(cuda_check_status, #call, __FILE__, __LINE__); \
    } while (0)
