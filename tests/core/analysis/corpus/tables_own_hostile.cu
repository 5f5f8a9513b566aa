// Tables that are each block's own, or each size of block's: no other block's may stand for them. See README.md.
#include <cstdint>
#define FOR_THREADS(k, n) for (int k = threadIdx.x; k < (n); k += blockDim.x)
#define GX (blockIdx.x * blockDim.x + threadIdx.x)

//= fixed 2 "shared memory"
__global__ void multiples_of_the_block(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = k * blockIdx.x;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void multiples_of_its_size(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = k * blockDim.x;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void multiples_of_the_grid(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = k * gridDim.x;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void beside_the_block(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = k + 3 * blockIdx.x;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void scaled_by_two_of_them(int* o, const int* __restrict__ a, int n, int m) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = (k * m + 1) * blockIdx.x;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void halves_of_multiples(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = (k * int(blockIdx.x)) >> 1;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void carried_by_hand(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[64];
    int v = threadIdx.x * blockIdx.x;
    FOR_THREADS(k, 64) {
        t[k] = v;
        v += blockDim.x * blockIdx.x;
    }
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void place_of_the_block(int* o, const int* __restrict__ a, const int* __restrict__ from, int n) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = from[k * blockIdx.x];
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void row_of_the_block(int* o, const int* __restrict__ a, const int* __restrict__ from, int n) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = from[64 * blockIdx.x + k];
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void wide_multiples(int64_t* o, const int* __restrict__ a, int n) {
    __shared__ int64_t t[64];
    FOR_THREADS(k, 64) t[k] = int64_t(k) * blockIdx.x;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void of_odd_blocks(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = blockIdx.x & 1 ? k : -k;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void floats_of_the_block(float* o, const int* __restrict__ a, int n) {
    __shared__ float t[64];
    const float of_block = 0.5f * blockIdx.x;
    FOR_THREADS(k, 64) t[k] = k * of_block;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
//= fixed 2 "shared memory"
__global__ void by_the_first_threads(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[16];
    if (threadIdx.x < 16) t[threadIdx.x] = threadIdx.x * blockIdx.x;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 15];
}
//= covering; -O0 fixed
__global__ void multiples_of_an_argument(int* o, const int* __restrict__ a, int n, int m) {
    __shared__ int t[64];
    FOR_THREADS(k, 64) t[k] = k * m;
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[a[i] & 63];
}
// The first three threads of a block end at once, and all that would have been theirs later is filled by nobody.
//= fixed 2 "shared memory"
__global__ void from_the_third_on(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[64];
    for (int k = threadIdx.x; static_cast<unsigned>(k - 3) < 61u; k += blockDim.x) t[k] = a[k];
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[3 + i % 5];
}
//= fixed 2 "shared memory"
__global__ void in_a_window(int* o, const int* __restrict__ a, int n, unsigned m) {
    __shared__ int t[64];
    for (int k = threadIdx.x; k - 3 < m; k += blockDim.x) t[k] = a[k];
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = t[3 + i % 5];
}
