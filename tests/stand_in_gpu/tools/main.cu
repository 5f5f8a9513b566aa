// A program of another compiler's, as far as Trimtab is concerned: two launches, what they compute, and what it was started with.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void scale(float* out, const float* in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}

int main() {
    constexpr int n = 1 << 16;
    float *in = nullptr, *out = nullptr;
    if (cudaMallocManaged(&in, n * sizeof(float)) != cudaSuccess ||
        cudaMallocManaged(&out, n * sizeof(float)) != cudaSuccess) {
        std::printf("no memory: %s\n", cudaGetErrorName(cudaGetLastError()));
        return 1;
    }
    for (int i = 0; i < n; ++i) in[i] = i;
    for (int i = 0; i < 2; ++i) scale<<<n / 32, 32>>>(out, in, n);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    std::printf("%g %s\n", out[n - 1], std::getenv("LD_PRELOAD") != nullptr ? std::getenv("LD_PRELOAD") : "");
    return 0;
}
