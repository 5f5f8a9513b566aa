// A kernel for each form of launch, all of one kind: a pass over n numbers in blocks of 32 threads, which is
// never the best.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

constexpr int form_count = 1 << 16, form_block = 32, form_grid = form_count / form_block;

#define FORM_KERNEL(name)                                      \
    __global__ void name(const float* in, float* out, int n) { \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;   \
        if (i < n) out[i] = 3.0f * in[i] + 1.0f;               \
    }

#define FORM_CHECK(call)                                                                         \
    do {                                                                                         \
        if (const cudaError_t status = (call); status != cudaSuccess) {                          \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

// Arrays of the current device; launches `launch(in, out)` and checks what it left.
template <typename Launch>
void check_form(const char* form, const Launch& launch) {
    float *in = nullptr, *out = nullptr;
    FORM_CHECK(cudaMalloc(&in, form_count * sizeof(float)));
    FORM_CHECK(cudaMalloc(&out, form_count * sizeof(float)));
    auto* numbers = static_cast<float*>(std::malloc(form_count * sizeof(float)));
    for (int i = 0; i < form_count; ++i) numbers[i] = static_cast<float>(i % 1000);
    FORM_CHECK(cudaMemcpy(in, numbers, form_count * sizeof(float), cudaMemcpyHostToDevice));
    launch(in, out);
    FORM_CHECK(cudaGetLastError());
    FORM_CHECK(cudaDeviceSynchronize());
    FORM_CHECK(cudaMemcpy(numbers, out, form_count * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < form_count; ++i) {
        if (numbers[i] == 3.0f * static_cast<float>(i % 1000) + 1.0f) continue;
        std::fprintf(stderr, "%s: element %d is %g\n", form, i, static_cast<double>(numbers[i]));
        std::exit(1);
    }
    std::free(numbers);
    FORM_CHECK(cudaFree(in));
    FORM_CHECK(cudaFree(out));
}
