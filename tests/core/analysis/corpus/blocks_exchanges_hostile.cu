// What a block's threads agreed on in one exchange, and another one, or a store, has ended. See README.md.
#include <cstdint>
#define FOR_THREADS(k, n) for (int k = threadIdx.x; k < (n); k += blockDim.x)

__device__ int of_warp(int v) {
    for (int w = 16; w > 0; w /= 2) v += __shfl_xor_sync(~0u, v, w);
    return v;
}
// The sum of all threads.
__device__ int of_block(int v, int* s) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    v = of_warp(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
    if (warp == 0) {
        v = of_warp(v);
        if (lane == 0) s[0] = v;
    }
    __syncthreads();
    v = s[0];
    __syncthreads();
    return v;
}
// The sum of the first warp's threads, told to all.
__device__ int of_first_warp(int v, int* s) {
    v = of_warp(v);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0];
    __syncthreads();
    return v;
}
#define PART(p, e) \
    int p = 0;     \
    FOR_THREADS(k, d) p += (e)

//= fixed 2 "shared memory"
__global__ void of_all_then_of_a_warp(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, k);
    const int all = of_block(p, s);
    PART(q, a[blockIdx.x * d + k]);
    const int first = of_first_warp(q, s);
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ first;
}
//= fixed 2 "shared memory"
__global__ void of_all_twice_then_of_a_warp(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, k);
    const int all = of_block(p, s);
    PART(r, 2 * k);
    const int again = of_block(r, s);
    PART(q, a[blockIdx.x * d + k]);
    const int first = of_first_warp(q, s);
    if (threadIdx.x == 0) o[blockIdx.x] = (all ^ again) + first;
}
//= fixed 2 "shared memory"
__global__ void of_a_warp_then_of_all(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(q, a[blockIdx.x * d + k]);
    const int first = of_first_warp(q, s);
    PART(p, k);
    const int all = of_block(p, s);
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ first;
}
//= fixed 2 "shared memory"
__global__ void one_thread_stores_there_again(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, a[blockIdx.x * d + k]);
    const int all = of_block(p, s);
    if (threadIdx.x == 5) s[0] = p;
    __syncthreads();
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ s[0];
}
//= fixed 2 "shared memory"
__global__ void first_thread_stores_its_own(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, a[blockIdx.x * d + k]);
    const int all = of_block(p, s);
    if (threadIdx.x == 0) s[0] = p;
    __syncthreads();
    const int there = s[0];
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ there;
}
//= fixed 2 "shared memory"
__global__ void stores_its_own_to_another_place(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[33];
    PART(p, a[blockIdx.x * d + k]);
    const int all = of_block(p, s);
    if (threadIdx.x == 0) s[32] = p;
    __syncthreads();
    const int there = s[32];
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ there;
}
//= fixed 2 "shared memory"
__global__ void the_last_thread_stores_there(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, a[blockIdx.x * d + k]);
    const int all = of_block(p, s);
    if (threadIdx.x == blockDim.x - 1) s[0] = 7;
    __syncthreads();
    s[threadIdx.x / 32] = p;
    __syncthreads();
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ s[0];
}
//= fixed 2 "shared memory"
__global__ void adds_to_what_was_agreed(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, a[blockIdx.x * d + k]);
    const int all = of_block(p, s);
    atomicAdd(&s[0], 1);
    __syncthreads();
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ s[0];
}
//= fixed 2 "shared memory"
__global__ void row_before(int* o, const int* __restrict__ a, int rows, int d) {
    __shared__ int s[32];
    int before = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        PART(p, a[row * d + k]);
        const int all = of_block(p, s);
        PART(q, k);
        const int first = of_first_warp(q, s);
        if (threadIdx.x == 0) o[row] = all + first + before;
        before = all;
    }
}
//= fixed 2 "shared memory"
__global__ void of_the_first_warp_alone(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, a[blockIdx.x * d + k]);
    const int first = of_first_warp(p, s);
    if (threadIdx.x == 0) o[blockIdx.x] = first;
}
//= fixed 2 "shared memory"
__global__ void slot_of_the_second_warp(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, a[blockIdx.x * d + k]);
    const int all = of_block(p, s);
    const int second = s[1];
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ second;
}
//= fixed 2 "shared memory"
__global__ void largest_then_of_a_warp(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    int most = 0;
    FOR_THREADS(k, d) most = max(most, a[blockIdx.x * d + k]);
    for (int w = 16; w > 0; w /= 2) most = max(most, __shfl_xor_sync(~0u, most, w));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = most;
    __syncthreads();
    most = 0;
    for (int w = 0; w < blockDim.x / 32; w++) most = max(most, s[w]);
    __syncthreads();
    PART(q, a[blockIdx.x * d + k]);
    const int first = of_first_warp(q, s);
    if (threadIdx.x == 0) o[blockIdx.x] = most ^ first;
}
//= covering; -O0 fixed
__global__ void of_all_twice(int* o, const int* __restrict__ a, int d) {
    __shared__ int s[32];
    PART(p, k);
    const int all = of_block(p, s);
    PART(q, a[blockIdx.x * d + k]);
    const int sum = of_block(q, s);
    if (threadIdx.x == 0) o[blockIdx.x] = all ^ sum;
}
