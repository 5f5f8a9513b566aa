// Nearly kernels whose blocks do their own work whatever their size is. See README.md.
#define ALL 0xffffffffu
#define TREE(OP)                                                    \
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {                  \
        if (threadIdx.x < w) {                                      \
            const int a_ = s[threadIdx.x], b_ = s[threadIdx.x + w]; \
            s[threadIdx.x] = OP;                                    \
        }                                                           \
        __syncthreads();                                            \
    }

// Left to the launch, which sees turns meet.
//= covering; -O0 fixed
__global__ void no_barrier(int* o, const int* a, int n) {
    __shared__ int s[64];
    for (int k = threadIdx.x; k < n; k += blockDim.x) s[k] = 3 * a[k];
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s[n - 1 - k];
}
//= fixed 2 "shared memory"
__global__ void float_sum(float* o, const float* a, int n) {
    __shared__ float s[1024];
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "shared memory"
__global__ void sum_with_a_head_start(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 1;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    TREE(a_ + b_)
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "shared memory"
__global__ void largest_by_differences(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int most = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) most = max(most, a[blockIdx.x * n + k]);
    s[threadIdx.x] = most;
    __syncthreads();
    TREE(a_ - b_)
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "shared memory"
__global__ void sums_then_largest(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    TREE(max(a_, b_))
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "shared memory"
__global__ void signs_differ(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int most = -1;
    for (int k = threadIdx.x; k < n; k += blockDim.x) most = max(most, a[blockIdx.x * n + k]);
    s[threadIdx.x] = most;
    __syncthreads();
    TREE(max((unsigned)a_, (unsigned)b_))
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "shared memory"
__global__ void second_place(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    TREE(a_ + b_)
    if (threadIdx.x == 0) o[blockIdx.x] = s[1];
}
//= fixed 2 "shared memory"
__global__ void half_a_tree(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 1; w >>= 1) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "shared memory"
__global__ void tree_of_256(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int w = 128; w > 0; w >>= 1) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "shared memory"
__global__ void tree_without_barriers(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1)
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
    __syncthreads();
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "shared memory"
__global__ void partial_sums(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    TREE(a_ + b_)
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s[k];
}
//= fixed 2 "shared memory"
__global__ void number_of_threads(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    TREE(a_ + b_)
    if (threadIdx.x == 0) o[blockIdx.x] = s[0] + blockDim.x;
}
//= fixed 2 "shared memory"
__global__ void sum_of_the_first_warp(int* o, const int* a, int n) {
    __shared__ int s;
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
    if (threadIdx.x == 0) s = sum;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s;
}
//= fixed 2 "within a warp"
__global__ void warp_sums_alone(int* o, const int* a, int n) {
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_xor_sync(ALL, sum, w);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed 2 "shared memory"
__global__ void slots_of_eight_warps(int* o, const int* a, int n) {
    __shared__ int s[32];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_xor_sync(ALL, sum, w);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int w = 0; w < 8; w++) sum += s[w];
        o[blockIdx.x] = sum;
    }
}
//= fixed 2 "shared memory"
__global__ void zero_among_the_largest(int* o, const int* a, int n) {
    __shared__ int s[32];
    int most = -5;
    for (int k = threadIdx.x; k < n; k += blockDim.x) most = max(most, a[blockIdx.x * n + k] - 100);
    for (int w = 16; w > 0; w /= 2) most = max(most, __shfl_xor_sync(ALL, most, w));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = most;
    __syncthreads();
    if (threadIdx.x < 32) {
        most = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        for (int w = 16; w > 0; w /= 2) most = max(most, __shfl_xor_sync(ALL, most, w));
        if (threadIdx.x == 0) o[blockIdx.x] = most;
    }
}
//= fixed 2 "shared memory"
__global__ void used_again_without_a_barrier(int* o, const int* __restrict__ a, int rows, int n) {
    __shared__ int s[1024];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int sum = 0;
        for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[row * n + k];
        s[threadIdx.x] = sum;
        __syncthreads();
        TREE(a_ + b_)
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[row * n + k] = s[0];
    }
}
//= fixed 2 "shared memory"
__global__ void how_deep_the_tree_is(int* o, const int* a, int n) {
    __shared__ int s[1024];
    int sum = 0, depth = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        depth++;
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0] + depth;
}
//= fixed 2 "shared memory"
__global__ void chosen_by_the_width(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[32];
    int v = a[blockIdx.x];
    for (int w = 16; w > 0; w /= 2) {
        v = v * 3 + 1;
        if (threadIdx.x == 0 && w == blockDim.x / 32) s[0] = v;
        if (threadIdx.x == 1) s[1] = v;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s[0];
}
//= fixed 2 "shared memory"
__global__ void histogram_read_too_soon(int* o, const int* __restrict__ a, int n) {
    __shared__ int bins[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) atomicAdd(&bins[a[blockIdx.x * n + k] & 15], 1);
    for (int k = threadIdx.x; k < 16; k += blockDim.x) o[blockIdx.x * 16 + k] = bins[k];
}
//= fixed 2 "shared memory"
__global__ void histogram_with_places(int* o, const int* __restrict__ a, int n) {
    __shared__ int bins[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        o[blockIdx.x * n + k] = atomicAdd(&bins[a[blockIdx.x * n + k] & 15], 1);
}
//= fixed 2 "shared memory"
__global__ void filled_by_the_first_threads(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[64];
    if (threadIdx.x < n) s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s[k];
}
//= fixed 2 "shared memory"
__global__ void barrier_in_the_loop(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        s[threadIdx.x] = a[k];
        __syncthreads();
        o[blockIdx.x * n + k] = s[threadIdx.x ^ 1];
        __syncthreads();
    }
}
// For launches with one thread in y, as it says.
//= covering; -O0 fixed
__global__ void shared_by_two_rows(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        sum += a[(blockIdx.x * blockDim.y + threadIdx.y) * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    TREE(a_ + b_)
    if (threadIdx.x == 0) o[blockIdx.x * blockDim.y + threadIdx.y] = s[0];
}
//= fixed 2 "shared memory"
__global__ void float_chosen_by_comparison(float* o, const float* a, int n) {
    __shared__ float s[1024];
    float most = a[0];
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        if (!(a[blockIdx.x * n + k] <= most)) most = a[blockIdx.x * n + k];
    s[threadIdx.x] = most;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (threadIdx.x < w) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + w]);
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
// Lanes that have no warp's value hold what may be the largest one.
__device__ __forceinline__ float largest_with_idle(float v, float idle) {
    __shared__ float s[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int w = 16; w > 0; w >>= 1) v = fmaxf(v, __shfl_xor_sync(ALL, v, w));
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[lane] : idle;
    for (int w = 16; w > 0; w >>= 1) v = fmaxf(v, __shfl_xor_sync(ALL, v, w));
    if (threadIdx.x == 0) s[0] = v;
    __syncthreads();
    return s[0];
}
#define LARGEST(name, start, idle)                                                                   \
    __global__ void name(float* o, const float* __restrict__ a, int n) {                             \
        float most = start;                                                                          \
        for (int k = threadIdx.x; k < n; k += blockDim.x) most = fmaxf(most, a[blockIdx.x * n + k]); \
        most = largest_with_idle(most, idle);                                                        \
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = a[k] - most;       \
    }
//= fixed 2 "shared memory"
__global__ void idle_lanes_of_zero(float* o, const float* __restrict__ a, int n);
LARGEST(idle_lanes_of_zero, -INFINITY, 0)
//= fixed 2 "shared memory"
__global__ void idle_lanes_of_the_least_number(float* o, const float* __restrict__ a, int n);
LARGEST(idle_lanes_of_the_least_number, -INFINITY, -3.4e38f)
//= fixed 2 "shared memory"
__global__ void idle_lanes_of_infinity(float* o, const float* __restrict__ a, int n);
LARGEST(idle_lanes_of_infinity, -INFINITY, INFINITY)
//= fixed 2 "shared memory"
__global__ void idle_lanes_of_no_number(float* o, const float* __restrict__ a, int n);
LARGEST(idle_lanes_of_no_number, -INFINITY, NAN)
//= fixed 2 "shared memory"
__global__ void idle_lanes_of_a_denormal_number(float* o, const float* __restrict__ a, int n);
LARGEST(idle_lanes_of_a_denormal_number, 0, 1e-44f)
//= fixed 2 "shared memory"
__global__ void idle_lanes_below_an_unknown_start(float* o, const float* __restrict__ a, int n);
LARGEST(idle_lanes_below_an_unknown_start, a[0], -INFINITY)
//= fixed 1 "outside blockIdx"
__global__ void rows_of_overlapping_blocks(int* o, int rows, int n) {
    for (int row = threadIdx.x; row < rows; row += blockDim.x)
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[row * n + k] = row;
}
//= fixed 2 "shared memory"
__global__ void table_of_any_size(int* o, const int* a, int n) {
    extern __shared__ int s[];
    for (int k = threadIdx.x; k < n; k += blockDim.x) s[k] = 3 * a[k];
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s[n - 1 - k];
}
//= fixed 2 "shared memory"
__global__ void table_or_slots(int* o, const int* a, int n) {
    __shared__ int s[1024], table[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    for (int k = threadIdx.x; k < n; k += blockDim.x) table[k] = a[k];
    __syncthreads();
    const int* from = a[0] > 3 ? s : table;
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = from[k];
}
//= fixed 2 "shared memory"
__global__ void barrier_of_some(int* o, const int* a, int n) {
    __shared__ int s[64];
    for (int k = threadIdx.x; k < n; k += blockDim.x) s[k] = 3 * a[k];
    if (threadIdx.x < 40) __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s[n - 1 - k];
}
//= fixed 2 "shared memory"
__global__ void lanes_of_a_warp_alone(int* o, const int* a, int n) {
    __shared__ int s[32];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w, 16);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int w = 0; w < blockDim.x / 32; w++) sum += s[w];
        o[blockIdx.x] = sum;
    }
}
//= fixed 2 "shared memory"
__global__ void last_slot_twice(int* o, const int* a, int n) {
    __shared__ int s[33];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_xor_sync(ALL, sum, w);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = s[blockDim.x / 32 - 1];
        for (int w = 0; w < blockDim.x / 32; w++) sum += s[w];
        o[blockIdx.x] = sum;
    }
}
// Left to the launch: rows of one block are put where those of another turn are.
//= covering
__global__ void rows_that_meet(int* o, int rows, int n) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x)
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[row + k] = 100 * row + k;
}
//= fixed 1 ""
__global__ void row_that_a_thread_ends_with(int* o, int rows, int n) {
    int row = blockIdx.x;
    for (; row < rows; row += gridDim.x)
        if (row * 5 + threadIdx.x > 40) break;
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = row;
}

extern __shared__ int dynamic[];
extern __shared__ unsigned by_another_name[];

// One place by two names.
//= fixed
__global__ void dynamic_memory_twice(int* o, const int* a, int n) {
    const int t = threadIdx.x;
    int sum = 0;
    unsigned bits = 0;
    for (int k = t; k < n; k += blockDim.x) {
        sum += a[blockIdx.x * n + k];
        bits |= a[blockIdx.x * n + k];
    }
    dynamic[t] = sum;
    by_another_name[t] = bits;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t < w) {
            dynamic[t] += dynamic[t + w];
            by_another_name[t] |= by_another_name[t + w];
        }
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = dynamic[0] + by_another_name[0];
}
// A table too, as long as the launch made it.
//= fixed
__global__ void table_in_dynamic_memory(int* o, const int* a, int n) {
    const int t = threadIdx.x;
    for (int k = t; k < n; k += blockDim.x) dynamic[k] = a[k];
    __syncthreads();
    for (int k = t; k < n; k += blockDim.x) o[blockIdx.x * n + k] = dynamic[n - 1 - k];
}
// The slots begin where the table ends.
//= fixed
__global__ void tree_behind_a_table(int* o, const int* a, int n) {
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    dynamic[n + t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t < w) dynamic[n + t] += dynamic[n + t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = dynamic[n];
}
