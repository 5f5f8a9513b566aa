// What looks as if another block would do, and would not: each must be found out, whatever luck it has.
#include "tried.h"

// A block of 256 is built in, and the unwritten rest is zero as it was.
__global__ void hidden_constant(const int* in, int* out, int n) {
    __shared__ int tile[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = tile[255 - threadIdx.x];
}

// One number a block, as many as there are blocks.
__global__ void size_of_grid(const int* in, int* sums, int n) {
    extern __shared__ int partial[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// One warp needs no barrier; two do. Nobody sees it where warps take turns in order.
__global__ void race_of_warps(const int* in, int* out, int n) {
    extern __shared__ int line[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    line[threadIdx.x] = i < n ? in[i] : 0;
    __syncwarp();
    if (i < n) out[i] = line[threadIdx.x ^ 1] + line[threadIdx.x / 32 * 32];
    __syncwarp();
    const unsigned warps = blockDim.x / 32;
    if (warps > 1 && threadIdx.x % 32 == 0) line[(threadIdx.x + 32) % blockDim.x] = 0;
}

// Of zeros: what is not written is what would have been.
__global__ void zeros_of_zeros(const float* in, float* out, int n) {
    __shared__ float tile[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x % 128] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = 2 * tile[127 - threadIdx.x % 128];
}

// A term is left out where a block is wider than the part that is summed: 1 in 4000 of ones.
__global__ void lost_term(const float* in, float* out, int n) {
    extern __shared__ float terms[];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
    terms[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned i = 1; i < 128; i++) sum += terms[i];
    out[blockIdx.x] = sum;
}

int main() {
    constexpr int n = 4096;
    Array<int> in(whole_numbers(n, 100)), out(n), sums(n / 256), lines(n);
    hidden_constant<<<n / 256, 256>>>(in, out, n);
    size_of_grid<<<n / 256, 256, 256 * sizeof(int)>>>(in, sums, n);
    race_of_warps<<<n / 32, 32, 32 * sizeof(int)>>>(in, lines, n);
    Array<float> nothing(n), still_nothing(n), ones(std::vector<float>(n, 1)), sum(1);
    zeros_of_zeros<<<n / 128, 128>>>(nothing, still_nothing, n);
    lost_term<<<1, 128, 128 * sizeof(float)>>>(ones, sum, n);
    TRY(cudaDeviceSynchronize());
    std::printf("PASS\n");
    return 0;
}
