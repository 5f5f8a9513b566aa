// Two exchanges through one array in shared memory: what all threads agreed on in the first is gone after the second.
// Flags: -O2
// Verify: --blocks all
#include <cstdio>

#define CHECK(call)                                                 \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
        std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
        return 1;                                                   \
    }

__device__ int of_warp(int v) {
    for (int w = 16; w > 0; w /= 2) v += __shfl_xor_sync(~0u, v, w);
    return v;
}
__device__ int of_block(int v, int* slots) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    v = of_warp(v);
    if (lane == 0) slots[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? slots[lane] : 0;
    if (warp == 0) {
        v = of_warp(v);
        if (lane == 0) slots[0] = v;
    }
    __syncthreads();
    v = slots[0];
    __syncthreads();
    return v;
}
// Of the first warp's threads alone, told to all.
__device__ int of_first_warp(int v, int* slots) {
    v = of_warp(v);
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
    __syncthreads();
    v = slots[0];
    __syncthreads();
    return v;
}
__global__ void all_then_first(int* out, const int* __restrict__ a, int d) {
    __shared__ int slots[32];
    int p = 0, q = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) p += k;
    const int all = of_block(p, slots);
    for (int k = threadIdx.x; k < d; k += blockDim.x) q += a[blockIdx.x * d + k];
    const int first = of_first_warp(q, slots);
    if (threadIdx.x == 0) out[blockIdx.x] = all ^ first;
}
// A store ends it as well.
__global__ void all_then_own(int* out, const int* __restrict__ a, int d) {
    __shared__ int slots[32];
    int p = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) p += a[blockIdx.x * d + k];
    const int all = of_block(p, slots);
    if (threadIdx.x == 5) slots[0] = p;
    __syncthreads();
    const int there = slots[0];
    if (threadIdx.x == 0) out[blockIdx.x] = all ^ there;
}
__global__ void all_twice(int* out, const int* __restrict__ a, int d) {
    __shared__ int slots[32];
    int p = 0, q = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) p += k;
    const int all = of_block(p, slots);
    for (int k = threadIdx.x; k < d; k += blockDim.x) q += a[blockIdx.x * d + k];
    const int again = of_block(q, slots);
    if (threadIdx.x == 0) out[blockIdx.x] = all ^ again;
}

constexpr int rows = 3, d = 500, threads = 64;

int main() {
    int from[rows * d], found[rows], *out = nullptr, *a = nullptr;
    for (int i = 0; i < rows * d; i++) from[i] = i;
    CHECK(cudaMalloc(&out, sizeof found));
    CHECK(cudaMalloc(&a, sizeof from));
    CHECK(cudaMemcpy(a, from, sizeof from, cudaMemcpyHostToDevice));
    bool right = true;
    int number = 0;
    for (void (*kernel)(int*, const int*, int) : {all_then_first, all_then_own, all_twice}) {
        kernel<<<rows, threads>>>(out, a, d);
        CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
        std::printf("kernel %d:", number);
        for (int row = 0; row < rows; row++) {
            int indices = 0, all = 0, of_warp = 0, of_thread = 0;
            for (int k = 0; k < d; k++) {
                const int v = from[row * d + k];
                indices += k;
                all += v;
                if (k % threads < 32) of_warp += v;
                if (k % threads == 5) of_thread += v;
            }
            const int expected[3] = {indices ^ of_warp, all ^ of_thread, indices ^ all};
            std::printf(" %d", found[row]);
            right = right && found[row] == expected[number];
        }
        std::printf("\n");
        number++;
    }
    std::puts(right ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
