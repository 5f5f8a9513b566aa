// Kernels with floating-point atomics, or with sums that other blocks group otherwise: what may differ by rounding, and
// what may not.
#include <cstdio>

#include "trimtab/annotate.h"

#define CHECK(call)                                                 \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
        std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
        return 1;                                                   \
    }

constexpr int count = 1000, threads = 64, rows = 8, columns = 600;

// Its sums differ in their last bits from order to order, and that is all.
__global__ void sound_sums(int* out, float* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 1000000 + i;
        atomicAdd(&sums[i % 8], 1.0f / (i + 1));
    }
}
// Rule 1, in an array of integers: read as floats these are near each other.
__global__ void integers_beside_sums(int* out, float* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 100000000 + threadIdx.x;
        atomicAdd(&sums[i % 8], 1.0f / (i + 1));
    }
}
// The same of floats that no atomic adds to.
__global__ void floats_beside_sums(float* out, float* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 1e7f + threadIdx.x;
        atomicAdd(&sums[i % 8], 1.0f / (i + 1));
    }
}
// Rule 3: the tail adds a term too many for some sums, each a few parts in ten thousand of what is there.
__global__ void tail_in_sums(int* out, float* sums, int n) {
    int g = blockIdx.x * blockDim.x + threadIdx.x, i = g < n ? g : n - 1;
    out[i] = i;
    atomicAdd(&sums[8 + g % 8], 1.0f + 1.0f / (i + 1));
    atomicAdd(&sums[16], 1.0f);
}
// Rule 6: a race as it is written, beside the atomics.
__global__ void neighbour_beside_sums(float* out, float* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) {
        out[i] = 1000000.0f + out[i - 1] * 1e-6f;
        atomicAdd(&sums[i % 8], 1.0f / (i + 1));
    }
}
__device__ float of_block(float v, float* s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    v = s[0];
    __syncthreads();
    return v;
}
// Blocks as units: each row's mean, and how many there are.
__global__ TRIMTAB_TUNE(reassociate) void sound_means(float* means, int* counts, const float* __restrict__ a,
                                                      int d) {
    __shared__ float s[1024];
    float part = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) part += a[blockIdx.x * d + k];
    const float sum = of_block(part, s);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = sum / d;
        counts[blockIdx.x] = 1000000 + d;
    }
}
// The same, but a count depends on the block.
__global__ TRIMTAB_TUNE(reassociate) void block_in_counts(float* means, int* counts,
                                                          const float* __restrict__ a, int d) {
    __shared__ float s[1024];
    float part = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) part += a[blockIdx.x * d + k];
    const float sum = of_block(part, s);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = sum / d;
        counts[blockIdx.x] = 1000000 + blockDim.x / 32;
    }
}

int main() {
    int* out = nullptr;
    float *sums = nullptr, *floats = nullptr, *a = nullptr;
    static float from[rows * columns];
    for (int i = 0; i < rows * columns; i++) from[i] = 1.0f + 1.0f / (1 + i % 97);
    CHECK(cudaMalloc(&out, (count + 24) * sizeof(int)));
    CHECK(cudaMalloc(&floats, (count + 24) * sizeof(float)));
    CHECK(cudaMalloc(&sums, 32 * sizeof(float)));
    CHECK(cudaMalloc(&a, sizeof from));
    CHECK(cudaMemcpy(a, from, sizeof from, cudaMemcpyHostToDevice));
    const int blocks = (count + threads - 1) / threads;
    for (void (*kernel)(int*, float*, int) : {sound_sums, integers_beside_sums, tail_in_sums}) {
        CHECK(cudaMemset(sums, 0, 32 * sizeof(float)));
        kernel<<<blocks, threads>>>(out, sums, count);
        CHECK(cudaDeviceSynchronize());
    }
    for (void (*kernel)(float*, float*, int) : {floats_beside_sums, neighbour_beside_sums}) {
        CHECK(cudaMemset(floats, 0, count * sizeof(float)));
        CHECK(cudaMemset(sums, 0, 32 * sizeof(float)));
        kernel<<<blocks, threads>>>(floats, sums, count);
        CHECK(cudaDeviceSynchronize());
    }
    for (void (*kernel)(float*, int*, const float*, int) : {sound_means, block_in_counts}) {
        kernel<<<rows, threads>>>(floats, out, a, columns);
        CHECK(cudaDeviceSynchronize());
    }
    std::printf("PASS\n");
}
