// Tables in shared memory that are one block's own, or made for one size of block: they are no table for others.
// Flags: -O2
// Verify: --blocks all
#include <cstdio>

#define CHECK(call)                                                 \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
        std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
        return 1;                                                   \
    }
#define FILL(table, value)                                                   \
    for (int k = threadIdx.x; k < 64; k += blockDim.x) (table)[k] = (value); \
    __syncthreads()

// Multiples of the block's number: a compiler adds instead of multiplying.
__global__ void multiples_of_block(int* out, const int* __restrict__ at, int n) {
    __shared__ int table[64];
    FILL(table, k * blockIdx.x);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[at[i] & 63];
}
__global__ void multiples_of_size(int* out, const int* __restrict__ at, int n) {
    __shared__ int table[64];
    FILL(table, k * blockDim.x);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[at[i] & 63];
}
// Rows of another table, one a block.
__global__ void row_of_block(int* out, const int* __restrict__ at, const int* __restrict__ from, int n) {
    __shared__ int table[64];
    FILL(table, from[64 * blockIdx.x + k]);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[at[i] & 63];
}
// What all blocks have alike is a table for any.
__global__ void squares(int* out, const int* __restrict__ at, int n) {
    __shared__ int table[64];
    FILL(table, k * k);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[at[i] & 63];
}

constexpr int n = 20000, threads = 1024, blocks = (n + threads - 1) / threads;
int places[n], rows[blocks * 64], found[n];

int main() {
    int *out = nullptr, *at = nullptr, *from = nullptr;
    for (int i = 0; i < n; i++) places[i] = i * 7;
    for (int i = 0; i < blocks * 64; i++) rows[i] = i * i;
    CHECK(cudaMalloc(&out, sizeof found));
    CHECK(cudaMalloc(&at, sizeof places));
    CHECK(cudaMalloc(&from, sizeof rows));
    CHECK(cudaMemcpy(at, places, sizeof places, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(from, rows, sizeof rows, cudaMemcpyHostToDevice));
    bool right = true;
    for (int kernel = 0; kernel < 4; kernel++) {
        CHECK(cudaMemset(out, 0, sizeof found));
        if (kernel == 0) multiples_of_block<<<blocks, threads>>>(out, at, n);
        if (kernel == 1) multiples_of_size<<<blocks, threads>>>(out, at, n);
        if (kernel == 2) row_of_block<<<blocks, threads>>>(out, at, from, n);
        if (kernel == 3) squares<<<blocks, threads>>>(out, at, n);
        CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int i = 0; i < n; i++) {
            const int k = places[i] & 63, block = i / threads;
            const int expected[4] = {k * block, k * threads, rows[64 * block + k], k * k};
            wrong += found[i] != expected[kernel];
        }
        std::printf("kernel %d: %d wrong\n", kernel, wrong);
        right = right && wrong == 0;
    }
    std::puts(right ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
