// Loops that look like loops over a block's threads, and whose results depend on the block: see README.md.
// `covering` where the arguments of the launch decide.
#include <cstdint>
#define FOR_THREADS(k, n) for (int k = threadIdx.x; k < (n); k += blockDim.x)

//= fixed 1 "outside the loop, once a thread"
__global__ void sum_of_a_thread(float* o, const float* __restrict__ a, int d) {
    float s = 0;
    FOR_THREADS(k, d) s += a[blockIdx.x * d + k];
    o[blockIdx.x * 64 + threadIdx.x] = s;
}
//= fixed 2 "shared memory"
__global__ void sum_of_a_row(float* o, const float* __restrict__ a, int d) {
    __shared__ float parts[1024];
    float s = 0;
    FOR_THREADS(k, d) s += a[blockIdx.x * d + k];
    parts[threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < blockDim.x; t++) s += parts[t];
        o[blockIdx.x] = s;
    }
}
//= fixed 2 "exchanges values within a warp"
__global__ void warp_sum_of_a_row(float* o, const float* __restrict__ a, int d) {
    float s = 0;
    FOR_THREADS(k, d) s += a[blockIdx.x * d + k];
    for (int w = 16; w > 0; w /= 2) s += __shfl_down_sync(~0u, s, w);
    if (threadIdx.x == 0) o[blockIdx.x] = s;
}
//= covering
__global__ void two_phases(int* a, int* b, int d) {
    FOR_THREADS(k, d) a[blockIdx.x * d + k] = k;
    __syncthreads();
    FOR_THREADS(k, d) b[blockIdx.x * d + k] = a[blockIdx.x * d + d - 1 - k];
}
//= fixed 1 ""
__global__ void float_sum_of_a_row(float* o, const float* __restrict__ a, int d) {
    float s = 0;
    FOR_THREADS(k, d) s += a[blockIdx.x * d + k];
    atomicAdd(o + blockIdx.x, s);
}
//= fixed 1 "values that depend on more than the loop's index"
__global__ void running_in_row(int* o, const int* __restrict__ a, int d) {
    int s = 0;
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = s += a[k];
}
//= fixed 1 ""
__global__ void who_did_it(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = threadIdx.x;
}
//= fixed 1 ""
__global__ void how_many_there_were(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = blockDim.x;
}
//= fixed 1 ""
__global__ void which_turn(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k / blockDim.x;
}
//= fixed 1 ""
__global__ void row_by_block_size(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * blockDim.x + k] = k;
}
//= fixed 1 ""
__global__ void mixed_index(int* o, int d) {
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = g;
}
//= fixed 1 ""
__global__ void only_even_threads(int* o, int d) {
    if (threadIdx.x % 2 == 0) FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
}
//= fixed 1 ""
__global__ void up_to_the_block(int* o, int d) {
    for (int k = threadIdx.x; k < blockDim.x; k += blockDim.x) o[blockIdx.x * d + k] = k;
}
//= fixed 1 ""
__global__ void once_a_thread(int* o, int d) {
    o[blockIdx.x * d + threadIdx.x] = 1;
    FOR_THREADS(k, d) o[blockIdx.x * d + k] += k;
}
//= fixed 1 ""
__global__ void stops_early(int* o, const int* __restrict__ a, int d) {
    FOR_THREADS(k, d) {
        if (a[k] == 7) break;
        o[blockIdx.x * d + k] = k;
    }
}
//= fixed 1 ""
__global__ void bound_in_memory(int* o, const int* __restrict__ ends, int d) {
    FOR_THREADS(k, ends[blockIdx.x]) o[blockIdx.x * d + k] = k;
}
//= fixed 1 ""
__global__ void bound_of_the_row(int* o, int d) {
    FOR_THREADS(k, blockIdx.x) o[blockIdx.x * d + k] = k;
}
//= fixed 1 ""
__global__ void strides_by_a_constant(int* o, int d) {
    for (int k = threadIdx.x; k < d; k += 32) atomicOr(o + blockIdx.x * d + k, blockDim.x);
}
//= fixed 1 ""
__global__ void strides_by_the_grid(int* o, int d) {
    for (int k = threadIdx.x; k < d; k += gridDim.x) atomicOr(o + k, 1);
}
//= fixed 1 ""
__global__ void strides_by_another_dimension(int* o, int d) {
    for (int k = threadIdx.x; k < d; k += blockDim.y) atomicOr(o + blockIdx.x * d + k, threadIdx.y);
}
//= fixed 1 ""
__global__ void does_it_first(int* o, int d) {
    int k = threadIdx.x;
    do {
        o[blockIdx.x * d + k] = k;
        k += blockDim.x;
    } while (k < d);
}
//= fixed 1 ""
__global__ void counts_threads_of_blocks(int* o, int* count, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    atomicAdd(count, 1);
}
//= fixed 2 "reads a clock"
__global__ void takes_its_time(long long* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = clock64();
}
//= fixed 2 "volatile"
__global__ void volatile_row(volatile int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
}
//= fixed 2 "depends on the order of threads"
__global__ void takes_a_ticket(int* o, int* tickets, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = atomicAdd(tickets, 1);
}
//= covering alone
__global__ void scattered_in_row(int* o, const int* __restrict__ to, int d) {
    FOR_THREADS(k, d) o[to[k]] = blockIdx.x;
}
//= covering
__global__ void rows_by_turns(int* o, int rows, int d) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) FOR_THREADS(k, d) o[row * d + k] += k;
}
//= covering
__global__ void reads_back(int* o, const int* a, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = a[a[k]];
}
//= fixed 1 ""
__global__ void short_columns(int* o, int d) {
    for (unsigned char k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = k;
}
//= fixed 1 ""
__global__ void last_index_of_all(int* o, int* last, int d) {
    int k = threadIdx.x;
    for (; k < d; k += blockDim.x) o[blockIdx.x * d + k] = 1;
    atomicMax(last, k);
}
//= fixed 1 ""
__global__ void stack_of_a_thread(int* o, const int* __restrict__ a, int d, int s) {
    int kept[4] = {0, 0, 0, 0};
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = kept[(k + s) & 3];
        kept[k & 3] = a[k];
    }
}
//= fixed 1 ""
__global__ void second_thread_tells(int* o, int* said, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 1) said[blockIdx.x] = d;
}
//= fixed 1 ""
__global__ void first_of_each_warp_tells(int* o, int* said, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x % 32 == 0) atomicAdd(said + blockIdx.x, 1);
}
//= fixed 1 ""
__global__ void last_thread_tells(int* o, int* said, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == blockDim.x - 1) said[blockIdx.x] = d;
}
//= fixed 1 ""
__global__ void first_thread_or_all(int* o, int* said, int d, int all) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (all > 30 || threadIdx.x == 0) atomicAdd(said + blockIdx.x, 1);
}
//= fixed 1 ""
__global__ void all_but_the_first(int* o, int* said, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x != 0) atomicAdd(said + blockIdx.x, 1);
}
//= fixed 1 ""
__global__ void first_thread_sums(float* o, const float* __restrict__ a, int d) {
    float s = 0;
    FOR_THREADS(k, d) s += a[blockIdx.x * d + k];
    if (threadIdx.x == 0) o[blockIdx.x] = s;
}
//= fixed 1 ""
__global__ void first_thread_tells_how_many(int* o, int* said, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 0) said[blockIdx.x] = blockDim.x;
}
//= fixed 1 ""
__global__ void first_column_of_a_tile(int* o, int* count, int w, int h) {
    for (int i = threadIdx.y; i < h; i += blockDim.y)
        for (int j = threadIdx.x; j < w; j += blockDim.x) o[(blockIdx.x * h + i) * w + j] = i - j;
    if (threadIdx.x == 0) atomicAdd(count, 1);
}
//= covering alone
__global__ void first_thread_works_on_the_row(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 0) o[blockIdx.x * d + 3] += o[blockIdx.x * d + 4];
}
//= covering alone
__global__ void next_in_row(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * (d + 1) + k + 1] = o[blockIdx.x * (d + 1) + k];
}
//= covering alone
__global__ void may_overlap(int* o, const int* a, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = a[k];
}
//= fixed 1 "" alone; -O0 covering
__global__ void one_place_of_a_row(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x] = k;
}
//= fixed 1 ""
__global__ void bound_beyond_the_row(int* o, int d, int m) {
    const int t = threadIdx.x;
    if (t < m)
        for (int k = t; k < d; k += blockDim.x) o[blockIdx.x * d + k] = t < 5;
}
//= covering
__global__ void another_bound_before(int* o, int d, int m) {
    const int t = threadIdx.x;
    if (t < m)
        for (int k = t; k < d; k += blockDim.x) o[blockIdx.x * d + k] = 1;
}
//= fixed 1 ""
__global__ void flat_in_two_dimensions(int* o, int d) {
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k = t; k < d; k += blockDim.x * blockDim.y) o[blockIdx.x * d + k] = t;
}
//= fixed 1 "at addresses that are not known beforehand"
__global__ void scaled_by_what_turns_write(int* o, const int* at, int d) {
    const int scale = o[blockIdx.x];
    FOR_THREADS(k, d) o[at[k]] = k * scale;
}
//= fixed 1 "blockDim.x outside"
__global__ void block_in_128_bits(uint64_t* o, uint64_t high, uint64_t low, int d) {
    unsigned __int128 sum = (unsigned __int128)high << 64 | low;
    sum += blockDim.x + ((unsigned __int128)high << 64);
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = sum >> 64;
}
//= fixed 1 "threadIdx.x outside"
__global__ void thread_in_128_bits(uint64_t* o, uint64_t high, uint64_t low, int d) {
    unsigned __int128 rest = (unsigned __int128)high << 64 | low;
    rest -= (unsigned __int128)high << 65 | threadIdx.x;
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = rest >> 64;
}
//= fixed 1 ""
__global__ void goes_on_from_where_another_loop_ended(int* o, int n) {
    int k = threadIdx.x, ended = k;
    for (; ended < n; ended += blockDim.x);
    for (; k < n; k = ended + blockDim.x) o[blockIdx.x * n + k] = k;
}
//= fixed 1 ""
__global__ void all_turns_of_the_row_but_the_last(int* o, int* p, int d) {
    int k = threadIdx.x;
    if (k >= d) return;
    for (;;) {
        o[blockIdx.x * d + k] = 1;
        const int next = k + blockDim.x;
        if (next >= d) break;
        p[blockIdx.x * d + k] = 2;
        k = next;
    }
}
//= fixed 1 ""; -O1 covering; -O3 covering; nvcc covering
__global__ void threads_that_begin_early_go_on(int* o, int d, int m) {
    for (int k = threadIdx.x; k < d && (int)threadIdx.x <= m; k += blockDim.x) o[blockIdx.x * d + k] = k;
}
// Of phases that a barrier does not part: the launch sees turns meet.
//= covering
__global__ void turned_row_in_one_phase(int* o, int* b, int n) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) b[blockIdx.x * n + k] = k * 3;
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = b[blockIdx.x * n + n - 1 - k];
}
//= fixed 2 "bar.sync"
__global__ void barrier_of_some_threads(int* o, int* b, int n) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) b[blockIdx.x * n + k] = k * 3;
    if (threadIdx.x < n / 2) __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = b[blockIdx.x * n + n - 1 - k];
}
//= fixed 2 "bar.sync"
__global__ void barrier_in_turns(int* o, int* b, int n) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        b[blockIdx.x * n + k] = k * 3;
        __syncthreads();
        o[blockIdx.x * n + k] = b[blockIdx.x * n + n - 1 - k];
    }
}
//= covering; -O0 fixed
__global__ void barrier_of_warps(int* o, int* b, int n) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) b[blockIdx.x * n + k] = k * 3;
    __syncwarp();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = b[blockIdx.x * n + n - 1 - k];
}
