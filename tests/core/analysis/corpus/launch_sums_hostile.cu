// Nearly kernels whose blocks or warps bring sums of the launch together. See README.md.
#define ALL 0xffffffffu
#define TURNS for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
#define TREE(OP)                                                    \
    for (int h = blockDim.x / 2; h > 0; h /= 2) {                   \
        if (threadIdx.x < h) {                                      \
            const int a_ = s[threadIdx.x], b_ = s[threadIdx.x + h]; \
            s[threadIdx.x] = OP;                                    \
        }                                                           \
        __syncthreads();                                            \
    }
#define SUM_AND_SLOT        \
    __shared__ int s[1024]; \
    int sum = 0;            \
    TURNS sum += a[i];      \
    s[threadIdx.x] = sum;   \
    __syncthreads();

//= fixed 2 "does not hold each thread's value exactly once"; -O0 fixed
__global__ void tree_that_stops_early(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    for (int h = blockDim.x / 2; h > 1; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= dividing 3 "loops of warps keep the number of threads"
__global__ void every_lane_adds(int* o, const int* __restrict__ a, int n) {
    int sum = 0;
    TURNS sum += a[i];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_xor_sync(ALL, sum, w);
    atomicAdd(o, sum);
}
//= dividing 3 "gridDim.x"
__global__ void half_a_warp_adds(int* o, const int* __restrict__ a, int n) {
    int sum = 0;
    TURNS sum += a[i];
    for (int w = 8; w > 0; w /= 2) sum += __shfl_down_sync(ALL, sum, w);
    if ((threadIdx.x & 31) == 0) atomicAdd(o, sum);
}
//= fixed 2 "shared memory"
__global__ void two_threads_add(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x < 2) atomicAdd(o, s[0]);
}
//= fixed 2 "shared memory"
__global__ void one_more_a_block(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) atomicAdd(o, s[0] + 1);
}
//= fixed 2 "shared memory"
__global__ void blocks_are_counted(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) {
        atomicAdd(o, s[0]);
        atomicAdd(o + 1, 1);
    }
}
//= fixed 2 "shared memory"
__global__ void sum_of_a_block(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= fixed 2 "to an address that does not follow from the arguments"; -O0 fixed
__global__ void place_of_a_block(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) atomicAdd(o + blockIdx.x % 4, s[0]);
}
//= fixed 2 "shared memory"
__global__ void first_block_only(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(o, s[0]);
}
//= fixed 2 "under a condition while its threads form a sum"; -O0 fixed
__global__ void kept_as_well(int* o, int* p, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) {
        atomicAdd(o, s[0]);
        *p = s[0];
    }
}
//= fixed 2 "under a condition while its threads form a sum"; -O0 fixed
__global__ void stored_by_the_one_that_adds(int* o, int* p, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) {
        atomicAdd(o, s[0]);
        p[blockIdx.x] = 1;
    }
}
//= fixed 2 "shared memory"
__global__ void largest_is_added(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(max(a_, b_))
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= fixed 2 "shared memory"
__global__ void sum_as_the_largest(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) atomicMax(o, s[0]);
}
//= fixed 2 "shared memory"
__global__ void tree_without_barriers(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    for (int h = blockDim.x / 2; h > 0; h /= 2)
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= fixed 2 "shared memory"
__global__ void order_is_kept(int* o, int* p, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) p[blockIdx.x] = atomicAdd(o, s[0]);
}
//= fixed 2 "shared memory"
__global__ void idle_threads_are_gone(int* o, const int* __restrict__ a, int n) {
    if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;
    SUM_AND_SLOT
    TREE(a_ + b_)
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= fixed 2 "shared memory"
__global__ void sum_of_places(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    TREE(a_ + b_)
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= fixed 2 "shared memory"
__global__ void sizes_are_added(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    int sum = 0;
    TURNS sum += a[i];
    s[threadIdx.x] = sum + blockDim.x;
    __syncthreads();
    TREE(a_ + b_)
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
// Each thread begins with one: their number counts.
//= fixed 2 "shared memory"
__global__ void head_start(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    int sum = 1;
    TURNS sum += a[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    TREE(a_ + b_)
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= fixed 2 "to an address that does not follow from the arguments"; -O0 fixed
__global__ void row_by_row(int* o, const int* __restrict__ a, int rows, int n) {
    __shared__ int s[1024];
    for (int r = 0; r < rows; r++) {
        int sum = 0;
        TURNS sum += a[r * n + i];
        s[threadIdx.x] = sum;
        __syncthreads();
        TREE(a_ + b_)
        if (threadIdx.x == 0) atomicAdd(o + r, s[0]);
        __syncthreads();
    }
}
//= fixed 2 "TRIMTAB_REASSOCIATE=1 allows that"; -O0 fixed
__global__ void float_sum_of_a_launch(float* o, const float* __restrict__ a, int n) {
    __shared__ float s[1024];
    float sum = 0;
    TURNS sum += a[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(o, s[0]);
}
//= fixed 2 "uses a sum of its threads for something other than an atomic addition"; -O0 fixed
__global__ void sum_that_is_read(int* o, const int* __restrict__ a, int n) {
    SUM_AND_SLOT
    TREE(a_ + b_)
    const int all = s[0];
    if (threadIdx.x == 0) atomicAdd(o, all);
    TURNS o[2 + i] = a[i] - all;
}
//= fixed 2 "shared memory"
__global__ void signs_differ(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[1024];
    unsigned most = 0;
    TURNS most = max(most, (unsigned)a[i]);
    s[threadIdx.x] = most;
    __syncthreads();
    TREE((int)max((unsigned)a_, (unsigned)b_))
    if (threadIdx.x == 0) atomicMax(o, s[0]);
}
