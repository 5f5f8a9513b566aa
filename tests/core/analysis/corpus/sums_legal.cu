// Sums of floating-point numbers, where the user allows that they are grouped otherwise. What the test adds up is
// exact in any order, so that every block must leave the same bytes. See README.md.
#define ALL 0xffffffffu

__device__ __forceinline__ float over_warp(float v) {
    for (int w = 16; w > 0; w /= 2) v += __shfl_down_sync(ALL, v, w);
    return v;
}
__device__ __forceinline__ float over_block(float v) {
    __shared__ float s[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = over_warp(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0.0f;
    if (warp == 0) v = over_warp(v);
    if (threadIdx.x == 0) s[0] = v;
    __syncthreads();
    v = s[0];
    __syncthreads();
    return v;
}

//= covering; -O0 fixed
__global__ void by_a_tree(float* o, const float* a, int n) {
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
    if (t == 0) o[blockIdx.x] = s[0];
}
//= covering; -O0 fixed
__global__ void of_doubles(double* o, const double* a, int n) {
    __shared__ double s[1024];
    const int t = threadIdx.x;
    double sum = 0;
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
__global__ void mean_and_square(float* mean, float* square, const float* a, int n) {
    __shared__ float s1[1024], s2[1024];
    float sum = 0, squares = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        const float v = a[blockIdx.x * n + k];
        sum += v;
        squares += v * v;
    }
    s1[threadIdx.x] = sum;
    s2[threadIdx.x] = squares;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (threadIdx.x < w) {
            s1[threadIdx.x] += s1[threadIdx.x + w];
            s2[threadIdx.x] += s2[threadIdx.x + w];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = s1[0] / n;
        square[blockIdx.x] = s2[0] / n;
    }
}
//= covering; -O0 fixed
__global__ void normalised(float* o, const float* a, const float* weight, int n) {
    float squares = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        squares += a[blockIdx.x * n + k] * a[blockIdx.x * n + k];
    const float scale = rsqrtf(over_block(squares) / n + 1e-5f);
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        o[blockIdx.x * n + k] = weight[k] * (scale * a[blockIdx.x * n + k]);
}
//= covering; -O0 fixed
__global__ void product_of_row(float* y, const float* a, const float* x, int n) {
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[blockIdx.x * n + k] * x[k];
    sum = over_block(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
// A place that the first exchange leaves is read before the second one begins. The sum of exponentials is not
// exact, and is not run.
//= covering alone; -O0 fixed
__global__ void softmax(float* o, const float* a, int n) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    const float* x = a + blockIdx.x * n;
    float most = -INFINITY;
    for (int k = t; k < n; k += blockDim.x) most = fmaxf(most, x[k]);
    s[t] = most;
    __syncthreads();
    for (int w = blockDim.x / 2; w >= 1; w /= 2) {
        __syncthreads();
        if (t < w) s[t] = fmaxf(s[t], s[t + w]);
    }
    __syncthreads();
    const float offset = s[0];
    for (int k = t; k < n; k += blockDim.x) o[blockIdx.x * n + k] = expf(x[k] - offset);
    __syncthreads();
    x = o + blockIdx.x * n;
    float sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += x[k];
    s[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w >= 1; w /= 2) {
        __syncthreads();
        if (t < w) s[t] += s[t + w];
    }
    __syncthreads();
    const float total = s[0];
    for (int k = t; k < n; k += blockDim.x) o[blockIdx.x * n + k] = x[k] / total;
}
// Twice the same place, of sums that are exact.
//= covering; -O0 fixed
__global__ void largest_then_sum(float* o, const float* a, int n) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    float most = -INFINITY;
    for (int k = t; k < n; k += blockDim.x) most = fmaxf(most, a[blockIdx.x * n + k]);
    s[t] = most;
    __syncthreads();
    for (int w = blockDim.x / 2; w >= 1; w /= 2) {
        if (t < w) s[t] = fmaxf(s[t], s[t + w]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    float sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += most - a[blockIdx.x * n + k];
    s[t] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w >= 1; w /= 2) {
        if (t < w) s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = s[0];
}
//= covering
__global__ void to_one_place(float* o, const float* a, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i];
    atomicAdd(o, sum);
}
//= covering; -O0 fixed
__global__ void float_bins(float* o, const float* __restrict__ x, int n) {
    __shared__ float s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[(int)x[i] & 15], x[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[k], s[k]);
}
//= covering; -O0 fixed
__global__ void float_sum_of_a_launch(float* o, const float* __restrict__ x, int n) {
    __shared__ float s[1024];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= covering; -O0 fixed
__global__ void dot_of_a_launch(float* o, const float* __restrict__ x, const float* __restrict__ y, int n) {
    __shared__ float s[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * y[i];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(0xffffffffu, sum, w);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(0xffffffffu, sum, w);
        if (threadIdx.x == 0) atomicAdd(o, sum);
    }
}
