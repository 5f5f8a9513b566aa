// Like sums of floating-point numbers in which only grouping differs, and not so. See README.md.
#define ALL 0xffffffffu

__device__ __forceinline__ float over_block(float v) {
    __shared__ float s[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int w = 16; w > 0; w /= 2) v += __shfl_down_sync(ALL, v, w);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0.0f;
    if (warp == 0)
        for (int w = 16; w > 0; w /= 2) v += __shfl_down_sync(ALL, v, w);
    if (threadIdx.x == 0) s[0] = v;
    __syncthreads();
    v = s[0];
    __syncthreads();
    return v;
}
#define SUM_OF_ROW                                                                  \
    float sum = 0;                                                                  \
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k]; \
    sum = over_block(sum)

//= fixed
__global__ void decides_who_works(float* o, const float* a, int n) {
    SUM_OF_ROW;
    if (sum > 100.0f)
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = a[blockIdx.x * n + k];
}
//= fixed
__global__ void is_a_place(float* o, const float* a, int n) {
    SUM_OF_ROW;
    const int at = (int)sum & 15;
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[(blockIdx.x + at) * n + k] = a[blockIdx.x * n + k];
}
//= fixed
__global__ void decides_a_loop(float* o, const float* a, int n) {
    SUM_OF_ROW;
    for (float rest = sum; rest > 1.0f; rest *= 0.5f) {
        for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] += 1;
        __syncthreads();
    }
}
//= fixed
__global__ void how_many_are_above(float* o, const float* a, int n) {
    __shared__ int s[1024];
    SUM_OF_ROW;
    int above = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) above += a[blockIdx.x * n + k] > sum / n;
    s[threadIdx.x] = above;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed
__global__ void one_too_many_a_thread(float* o, const float* a, int n) {
    float sum = 1;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    sum = over_block(sum);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed
__global__ void decays(float* o, const float* a, int n) {
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum = 0.5f * sum + a[blockIdx.x * n + k];
    sum = over_block(sum);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed
__global__ void alternates(float* o, const float* a, int n) {
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum = a[blockIdx.x * n + k] - sum;
    sum = over_block(sum);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed
__global__ void multiplies(float* o, const float* a, int n) {
    float sum = 1;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum *= a[blockIdx.x * n + k];
    sum = over_block(sum);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed
__global__ void rounds_down(float* o, const float* a, int n) {
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum = __fadd_rd(sum, a[blockIdx.x * n + k]);
    sum = over_block(sum);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed
__global__ void saturates(float* o, const float* a, int n) {
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum = __saturatef(sum + a[blockIdx.x * n + k]);
    sum = over_block(sum);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed
__global__ void carries_what_is_lost(float* o, const float* a, int n) {
    float sum = 0, lost = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        const float y = __fsub_rn(a[blockIdx.x * n + k], lost), t = __fadd_rn(sum, y);
        lost = __fsub_rn(__fsub_rn(t, sum), y);
        sum = t;
    }
    sum = over_block(sum);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed
__global__ void one_slot_too_few(float* o, const float* a, int n) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 1; w >>= 1) {
        if (t < w) s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = s[0];
}
//= fixed
__global__ void overlaps(float* o, const float* a, int n) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t <= w) s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = s[0];
}
//= fixed
__global__ void twice_by_lanes(float* o, const float* a, int n) {
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    for (int w = 32; w > 0; w /= 2) sum += __shfl_xor_sync(ALL, sum, w);
    sum = over_block(sum);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}
//= fixed
__global__ void unlike_halves(float* o, const float* a, int n) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t < w) s[t] = w == 2 ? fmaxf(s[t], s[t + w]) : s[t] + s[t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = s[0];
}
// The place is taken by the second exchange, and is read behind it.
//= fixed
__global__ void reads_what_was_overwritten(float* o, const float* a, int n, int twice) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k];
    s[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t < w) s[t] += s[t + w];
        __syncthreads();
    }
    if (twice) {
        float most = 0;
        for (int k = t; k < n; k += blockDim.x) most = fmaxf(most, a[k]);
        s[t] = most;
        __syncthreads();
    }
    o[blockIdx.x * n] = s[0];
}
// Once for every thread, though nothing is left to add up.
//= fixed
__global__ void adds_a_threads_own(float* o, const float* a, int n) {
    float sum = threadIdx.x;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[k];
    atomicAdd(o, sum);
}
//= dividing
__global__ void two_places(float* o, const float* a, int n) {
    float sum = 0;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += gridDim.x * blockDim.x) sum += a[i];
    atomicAdd(o + (first & 1), sum);
}
//= fixed 2 "shared memory"
__global__ void float_bins_with_a_start(float* o, const float* __restrict__ x, int n) {
    __shared__ float s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = 1e-30f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[(int)x[i] & 15], x[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[k], s[k]);
}
//= fixed 2 "shared memory"
__global__ void float_bins_as_integers(int* o, const float* __restrict__ x, int n) {
    __shared__ float s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[(int)x[i] & 15], x[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[k], __float_as_int(s[k]));
}
//= fixed 2 "shared memory"
__global__ void mean_of_blocks(float* o, const float* __restrict__ x, int n) {
    __shared__ float s[1024];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] = (s[threadIdx.x] + s[threadIdx.x + h]) * 0.5f;
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
