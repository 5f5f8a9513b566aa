// What a launch costs the thread that makes it: the mean over many launches of a small kernel, in ns. On a GPU it is bounded
// below by how fast the driver takes launches in.
//
//   launch_overhead [LAUNCHES]     prints the mean in ns
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void scale(const float* in, float* out, float factor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}

int main(int argc, char** argv) {
    const int launches = argc > 1 ? std::atoi(argv[1]) : 20000;
    constexpr int n = 4096, block = 64;
    float *in = nullptr, *out = nullptr;
    if (launches < 1 || cudaMalloc(&in, n * sizeof(float)) != cudaSuccess ||
        cudaMalloc(&out, n * sizeof(float)) != cudaSuccess)
        return 1;
    using Clock = std::chrono::steady_clock;
    double ns = 0;
    // In batches that the queue takes without making the thread wait.
    constexpr int batch = 200;
    int made = 0;
    for (int warm_up = 0; warm_up < batch; ++warm_up) scale<<<n / block, block>>>(in, out, 2.0f, n);
    while (made < launches) {
        if (cudaDeviceSynchronize() != cudaSuccess) return 1;
        const auto begin = Clock::now();
        for (int i = 0; i < batch; ++i) scale<<<n / block, block>>>(in, out, 2.0f, n);
        ns += std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
        made += batch;
    }
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    std::printf("%.1f\n", ns / made);
    return 0;
}
