// Loops over a block's threads that may have any block, the grid as written: see README.md.
#include <cstdint>
#define FOR_THREADS(k, n) for (int k = threadIdx.x; k < (n); k += blockDim.x)

//= covering
__global__ void copy_row(float* o, const float* a, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = a[blockIdx.x * d + k];
}
//= covering
__global__ void scale_row(float* o, const float* __restrict__ a, const float* __restrict__ by, int d) {
    const float s = by[blockIdx.x];
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = s * a[blockIdx.x * d + k];
}
//= covering
__global__ void gated(float* __restrict__ o, const float* __restrict__ a, int d) {
    const int64_t row = blockIdx.x;
    for (int64_t k = threadIdx.x; k < d; k += blockDim.x)
        o[row * d + k] = a[row * 2 * d + k] * a[row * 2 * d + d + k];
}
//= covering
__global__ void add_bias(float* x, const float* __restrict__ bias, int d) {
    float* row = x + blockIdx.x * d;
    FOR_THREADS(k, d) row[k] += bias[k];
}
//= covering
__global__ void look_up_rows(float* __restrict__ o, const int* __restrict__ which,
                             const float* __restrict__ table, int d) {
    const int from = which[blockIdx.x] & 7;
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = table[from * d + k];
}
//= covering
__global__ void row_guard(float* o, int rows, int d) {
    if (blockIdx.x >= rows) return;
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
}
//= covering
__global__ void masked_rows(int* __restrict__ o, const int* __restrict__ mask, int d) {
    if (mask[blockIdx.x] == 3) return;
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = blockIdx.x;
}
//= covering
__global__ void one_block(int* o, int n) {
    FOR_THREADS(k, n) o[k] = 3 * k;
}
//= covering
__global__ void leaves_early(int* o, int d) {
    int k = threadIdx.x;
    if (k >= d) return;
    for (; k < d; k += blockDim.x) o[blockIdx.x * d + k]++;
}
//= covering
__global__ void unsigned_columns(unsigned* o, unsigned d) {
    for (unsigned k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = k ^ blockIdx.x;
}
//= covering
__global__ void rows_by_grid_size(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = gridDim.x - blockIdx.x;
}
//= covering
__global__ void tile(float* o, const float* __restrict__ a, int w, int h) {
    const int at = blockIdx.x * w * h;
    for (int i = threadIdx.y; i < h; i += blockDim.y)
        for (int j = threadIdx.x; j < w; j += blockDim.x) o[at + i * w + j] = a[at + i * w + j] + i - j;
}
//= covering
__global__ void planes(int* o, int w, int h) {
    for (int i = threadIdx.x; i < w; i += blockDim.x) o[(blockIdx.y * h + blockIdx.z) * w + i] = i;
}
//= covering
__global__ void rows_of_threads(int* o, int d, int rows) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    FOR_THREADS(k, d) o[row * d + k] = row - k;
}
//= covering
__global__ void two_passes(int* a, int* b, int d) {
    FOR_THREADS(k, d) a[blockIdx.x * d + k] = k;
    FOR_THREADS(k, d) b[blockIdx.x * d + k] = -k;
}
//= covering
__global__ void sweeps_of_a_row(float* o, int d, int times) {
    for (int t = 0; t < times; t++)
        FOR_THREADS(k, d) o[blockIdx.x * d + k] = 0.5f * o[blockIdx.x * d + k] + t;
}
//= covering
__global__ void count_in_row(int* bins, const int* __restrict__ x, int d) {
    FOR_THREADS(k, d) atomicAdd(&bins[x[blockIdx.x * d + k] & 7], 1);
}
//= covering
__global__ void largest_of_all(int* most, const int* __restrict__ x, int d) {
    FOR_THREADS(k, d) atomicMax(most, x[blockIdx.x * d + k]);
}
//= covering
__global__ void first_thread_tells(int* __restrict__ o, int* __restrict__ said, int d) {
    if (threadIdx.x == 0) said[blockIdx.x] = d;
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
}
//= covering
__global__ void first_thread_counts(int* o, int* rows, const int* __restrict__ a, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 0 && a[blockIdx.x] > 4) {
        atomicAdd(rows, 1);
        atomicMax(rows + 1, a[blockIdx.x]);
    }
}
//= covering
__global__ void first_of_a_tile(int* o, int* corner, int w, int h) {
    for (int i = threadIdx.y; i < h; i += blockDim.y)
        for (int j = threadIdx.x; j < w; j += blockDim.x) o[(blockIdx.x * h + i) * w + j] = i - j;
    if (threadIdx.x == 0 && threadIdx.y == 0) corner[blockIdx.x] = w * h;
}
//= covering
__global__ void fixed_columns(int* o) {
    FOR_THREADS(k, 37) o[blockIdx.x * 37 + k] = k;
}
//= covering
__global__ void padded(int* o, int d) {
    FOR_THREADS(k, 64) o[blockIdx.x * 64 + k] = k < d ? k : -1;
}
//= covering; -O3 fixed
__global__ void backwards_in_row(int* o, int d) {
    for (int k = d - 1 - (int)threadIdx.x; k >= 0; k -= blockDim.x) o[blockIdx.x * d + k] = k;
}
//= covering; -O0 fixed
__global__ void fours(int4* o, int d) {
    FOR_THREADS(k, d / 4) o[blockIdx.x * (d / 4) + k] = make_int4(k, -k, d, blockIdx.x);
}
//= covering; -O0 fixed
__global__ void rows_in_128_bits(uint64_t* o, const uint64_t* __restrict__ a, uint64_t high, uint64_t low,
                                 int d) {
    FOR_THREADS(k, d) {
        unsigned __int128 sum = (unsigned __int128)high << 64 | low;
        sum += (unsigned __int128)a[blockIdx.x * d + k] << 32 | blockIdx.x;
        o[blockIdx.x * d + k] = sum >> 64;
    }
}
//= covering
__global__ void sum_of_each_row(int* sums, const int* __restrict__ a, int d) {
    int s = 0;
    FOR_THREADS(k, d) s += a[blockIdx.x * d + k];
    atomicAdd(sums + blockIdx.x, s);
}
// At places that are not known: where each thread of a block makes one turn.
//= covering
__global__ void row_from_the_end(int* o, int d) {
    int* row = o + (gridDim.x - 1 - blockIdx.x) * (d & 7);
    FOR_THREADS(k, d & 7) row[k] = k;
}
//= covering
__global__ void rows_of_a_table(int* o, const int* table, const int* at, int d) {
    const int row = at[blockIdx.x];
    FOR_THREADS(k, d & 7) o[blockIdx.x * (d & 7) + k] = table[row * d + k];
}
//= covering
__global__ void turned_row(int* o, int* b, int n) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) b[blockIdx.x * n + k] = k * 3 + blockIdx.x;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = b[blockIdx.x * n + n - 1 - k];
}
//= covering
__global__ void smoothed_row(float* o, float* b, int n, int times) {
    for (int t = 0; t < times; t++) {
        for (int k = 1 + threadIdx.x; k < n - 1; k += blockDim.x)
            b[blockIdx.x * n + k] = o[blockIdx.x * n + k - 1] + o[blockIdx.x * n + k + 1];
        __syncthreads();
        for (int k = 1 + threadIdx.x; k < n - 1; k += blockDim.x)
            o[blockIdx.x * n + k] = b[blockIdx.x * n + k] * 0.5f;
        __syncthreads();
    }
}
