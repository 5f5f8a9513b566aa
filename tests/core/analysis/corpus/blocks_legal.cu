// Kernels each of whose blocks does its own work, with tables in shared memory, barriers, and values that its
// threads tell each other. See README.md.
#define ALL 0xffffffffu

//= covering; -O0 fixed
__global__ void table_of_a_block(int* o, const int* a, int n) {
    __shared__ int s[64];
    for (int k = threadIdx.x; k < n; k += blockDim.x) s[k] = 3 * a[k];
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s[n - 1 - k];
}
//= covering; -O0 fixed
__global__ void lookup(int* o, const int* __restrict__ a, const int* __restrict__ table, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = table[k];
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = s[a[blockIdx.x * n + k] & 15];
}
//= covering; -O0 fixed
__global__ void turned_rows(float* o, const float* a, int rows, int n) {
    __shared__ float s[64];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int k = threadIdx.x; k < n; k += blockDim.x) s[k] = a[row * n + k];
        __syncthreads();
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[row * n + k] = s[n - 1 - k];
        __syncthreads();
    }
}
//= covering
__global__ void rows_in_turn(float* o, const float* a, float f, int rows, int n) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x)
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[row * n + k] = f * a[row * n + k];
}
//= covering; -O0 fixed
__global__ void histogram_of_a_row(int* o, const int* __restrict__ a, int n) {
    __shared__ int bins[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) atomicAdd(&bins[a[blockIdx.x * n + k] & 15], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) o[blockIdx.x * 16 + k] = bins[k];
}
//= covering; -O0 fixed
__global__ void one_writes_all_read(int* o, const int* __restrict__ a, int n) {
    __shared__ int first;
    if (threadIdx.x == 0) first = a[blockIdx.x] + 1;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = first + k;
}
//= covering; -O0 fixed
__global__ void sum_by_a_tree(int* o, const int* a, int n) {
    __shared__ int s[1024];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t < w) s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = s[0];
}
//= covering; -O0 fixed
__global__ void sum_by_a_small_tree(int* o, const int* a, int n) {
    __shared__ int s[128];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t < w) s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = s[0];
}
//= covering; -O0 fixed
__global__ void sum_by_strides(unsigned* o, const unsigned* a, int n) {
    __shared__ unsigned s[1024];
    unsigned sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned w = 1; w < blockDim.x; w *= 2) {
        const unsigned at = 2 * w * threadIdx.x;
        if (at + w < blockDim.x) s[at] += s[at + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
__device__ __forceinline__ float largest_of_warp(float v) {
    for (int w = 16; w > 0; w >>= 1) v = fmaxf(v, __shfl_xor_sync(ALL, v, w));
    return v;
}
__device__ __forceinline__ float largest_of_block(float v) {
    __shared__ float s[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = largest_of_warp(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[lane] : -1e30f;
    if (warp == 0) v = largest_of_warp(v);
    if (threadIdx.x == 0) s[0] = v;
    __syncthreads();
    return s[0];
}
//= covering; -O0 fixed
__global__ void scaled_by_the_largest(float* o, const float* __restrict__ a, int n) {
    float most = -1e30f;
    for (int k = threadIdx.x; k < n; k += blockDim.x) most = fmaxf(most, a[blockIdx.x * n + k]);
    most = largest_of_block(most);
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = a[blockIdx.x * n + k] / most;
}
//= covering; -O0 fixed
__global__ void rows_scaled_by_the_largest(float* o, const float* __restrict__ a, int rows, int n) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float most = -1e30f;
        for (int k = threadIdx.x; k < n; k += blockDim.x) most = fmaxf(most, a[row * n + k]);
        most = largest_of_block(most);
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[row * n + k] = a[row * n + k] / most;
        __syncthreads();
    }
}
// Lanes that have no warp's value hold what changes no largest or smallest one.
template <typename T>
__device__ __forceinline__ T extreme_of_block(T v, T idle, T (*choose)(T, T)) {
    __shared__ T s[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int w = 16; w > 0; w >>= 1) v = choose(v, __shfl_xor_sync(ALL, v, w));
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[lane] : idle;
    for (int w = 16; w > 0; w >>= 1) v = choose(v, __shfl_xor_sync(ALL, v, w));
    if (threadIdx.x == 0) s[0] = v;
    __syncthreads();
    return s[0];
}
//= covering; -O0 fixed
__global__ void less_the_largest(float* o, const float* __restrict__ a, int n) {
    float most = -INFINITY;
    for (int k = threadIdx.x; k < n; k += blockDim.x) most = fmaxf(most, a[blockIdx.x * n + k]);
    most = extreme_of_block<float>(most, -INFINITY, [](float x, float y) { return fmaxf(x, y); });
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = a[blockIdx.x * n + k] - most;
}
//= covering; -O0 fixed
__global__ void rows_less_the_smallest(float* o, const float* __restrict__ a, int rows, int n) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float least = INFINITY;
        for (int k = threadIdx.x; k < n; k += blockDim.x) least = fminf(least, a[row * n + k]);
        least = extreme_of_block<float>(least, INFINITY, [](float x, float y) { return fminf(x, y); });
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[row * n + k] = a[row * n + k] - least;
        __syncthreads();
    }
}
//= covering; -O0 fixed
__global__ void scaled_by_the_largest_magnitude(float* o, const float* __restrict__ a, int n) {
    float most = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) most = fmaxf(most, fabsf(a[blockIdx.x * n + k]));
    most = extreme_of_block<float>(most, 0, [](float x, float y) { return fmaxf(x, y); });
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = a[blockIdx.x * n + k] / most;
}
//= covering; -O0 fixed
__global__ void sum_by_slots_of_warps(int* o, const int* a, int n) {
    __shared__ int s[32];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
        if (threadIdx.x == 0) o[blockIdx.x] = sum;
    }
}
//= covering; -O0 fixed
__global__ void slots_added_by_one(int* o, const int* a, int n) {
    __shared__ int s[32];
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_xor_sync(ALL, sum, w);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int w = 0; w < blockDim.x / 32; w++) sum += s[w];
        o[blockIdx.x] = sum;
    }
}
//= covering; -O0 fixed
__global__ void smallest_and_largest(int* o, const int* a, int n) {
    __shared__ int low[1024], high[1024];
    const int t = threadIdx.x;
    int least = 0x7fffffff, most = -0x7fffffff - 1;
    for (int k = t; k < n; k += blockDim.x) {
        const int v = a[blockIdx.x * n + k];
        least = min(least, v);
        most = max(most, v);
    }
    low[t] = least;
    high[t] = most;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (t < w) {
            low[t] = min(low[t], low[t + w]);
            high[t] = max(high[t], high[t + w]);
        }
        __syncthreads();
    }
    if (t == 0) {
        o[2 * blockIdx.x] = low[0];
        o[2 * blockIdx.x + 1] = high[0];
    }
}
//= covering; -O0 fixed
__global__ void sum_by_shared_atomic(int* o, const int* a, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    atomicAdd(&s, sum);
    __syncthreads();
    if (threadIdx.x == 0) o[blockIdx.x] = s;
}
//= covering; -O0 fixed
__global__ void bits_of_a_row(unsigned* o, const unsigned* a, int n) {
    __shared__ unsigned s[1024];
    unsigned bits = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) bits |= 1u << (a[blockIdx.x * n + k] & 31);
    s[threadIdx.x] = bits;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (threadIdx.x < w) s[threadIdx.x] |= s[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= covering; -O0 fixed
__global__ void counts_added_for_all(int* count, const int* a, int n) {
    __shared__ int s[1024];
    int found = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) found += a[blockIdx.x * n + k] > 7;
    s[threadIdx.x] = found;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(count, s[0]);
}
//= covering; -O0 fixed
__global__ void largest_then_how_often(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    const int t = threadIdx.x;
    int most = -1;
    for (int k = t; k < n; k += blockDim.x) most = max(most, a[blockIdx.x * n + k]);
    s[t] = most;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (t < w) s[t] = max(s[t], s[t + w]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    int count = 0;
    for (int k = t; k < n; k += blockDim.x) count += a[blockIdx.x * n + k] == most;
    s[t] = count;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (t < w) s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = s[0];
}

extern __shared__ int dynamic[];

//= covering; -O0 fixed
__global__ void tree_in_dynamic_memory(int* o, const int* a, int n) {
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    dynamic[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t < w) dynamic[t] += dynamic[t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = dynamic[0];
}
// As many slots of warps behind as many others.
//= covering; -O0 fixed
__global__ void two_parts_of_dynamic_memory(int* o, const int* a, int n) {
    const int t = threadIdx.x, warps = blockDim.x / 32;
    int* const largest = dynamic;
    int* const sums = dynamic + warps;
    int most = a[blockIdx.x * n];
    for (int k = t; k < n; k += blockDim.x) most = max(most, a[blockIdx.x * n + k]);
    for (int w = 16; w > 0; w /= 2) most = max(most, __shfl_down_sync(ALL, most, w));
    if (t % 32 == 0) largest[t / 32] = most;
    __syncthreads();
    most = largest[0];
    for (int i = 1; i < warps; i++) most = max(most, largest[i]);
    int sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += most - a[blockIdx.x * n + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
    if (t % 32 == 0) sums[t / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < warps; i++) sum += sums[i];
    for (int k = t; k < n; k += blockDim.x) o[blockIdx.x * n + k] = sum;
}
