// Sums over a launch that blocks or warps bring together before they add them to global memory. See README.md.
#define ALL 0xffffffffu
#define TURNS for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)

//= covering; -O0 fixed
__global__ void by_a_tree(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    TURNS sum += a[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= covering; -O0 dividing
__global__ void by_warps(int* o, const int* __restrict__ a, int n) {
    int sum = 0;
    TURNS sum += a[i];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
    if ((threadIdx.x & 31) == 0) atomicAdd(o, sum);
}
//= covering; -O0 fixed
__global__ void by_slots_of_warps(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[32];
    int sum = 0;
    TURNS sum += a[i];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
        if (threadIdx.x == 0) atomicAdd(o, sum);
    }
}
//= covering; -O0 fixed
__global__ void largest_by_a_tree(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[512];
    int most = -2147483647 - 1;
    TURNS most = max(most, a[i]);
    s[threadIdx.x] = most;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] = max(s[threadIdx.x], s[threadIdx.x + h]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicMax(o, s[0]);
}
//= covering; -O0 dividing
__global__ void bits_by_all_lanes(unsigned* o, const unsigned* __restrict__ a, int n) {
    unsigned bits = 0;
    TURNS bits |= 1u << (a[i] & 31);
    for (int w = 16; w > 0; w /= 2) bits |= __shfl_xor_sync(ALL, bits, w);
    atomicOr(o, bits);
}
//= covering; -O0 dividing
__global__ void two_sums(int* o, const int* __restrict__ a, int n) {
    int sum = 0, squares = 0;
    TURNS {
        sum += a[i];
        squares += a[i] * a[i];
    }
    for (int w = 16; w > 0; w /= 2) {
        sum += __shfl_down_sync(ALL, sum, w);
        squares += __shfl_down_sync(ALL, squares, w);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&o[0], sum);
        atomicAdd(&o[1], squares);
    }
}
//= covering; -O0 fixed
__global__ void by_a_tree_of_any_size(int* o, const int* __restrict__ a, int n) {
    extern __shared__ int pool[];
    int sum = 0;
    TURNS sum += a[i];
    pool[threadIdx.x] = sum;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) pool[threadIdx.x] += pool[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(o, pool[0]);
}
//= covering; -O0 dividing
__global__ void beside_its_turns(int* o, int* p, const int* __restrict__ a, int n) {
    int sum = 0;
    TURNS {
        p[i] = a[i] * 3;
        sum += a[i];
    }
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
    if ((threadIdx.x & 31) == 0) atomicAdd(o, sum);
}
//= covering; -O0 fixed
__global__ void wide_sum(unsigned long long* o, const unsigned* __restrict__ a, int n) {
    __shared__ unsigned long long s[256];
    unsigned long long sum = 0;
    TURNS sum += a[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= dividing; -O0 fixed
__global__ void of_one_element(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
