// Kernels that work by warps, and whose results depend on which warps make a block, or on how many: see
// README.md.
#define G (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL 0xffffffffu

//= fixed 1 "outside blockIdx"
__global__ void number_in_the_block(int* o, int rows) {
    const int row = G / 32;
    if (row < rows) o[G] = threadIdx.x / 32;
}
//= fixed 1 ""
__global__ void warps_of_the_block(int* o, int rows) {
    const int row = G / 32;
    if (row < rows) o[G] = __shfl_sync(ALL, blockDim.x / 32, 0);
}
//= fixed 1 ""
__global__ void first_warp_of_the_block(int* o, int rows) {
    const int row = G / 32;
    if (row < rows && threadIdx.x < 32) o[row] = __shfl_sync(ALL, row, 3);
}
//= fixed 2 "shared memory"
__global__ void place_for_each_warp(int* o, const int* a, int n) {
    __shared__ int s[32];
    int v = a[G];
    for (int w = 16; w > 0; w /= 2) v += __shfl_down_sync(ALL, v, w);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < blockDim.x / 32) o[blockIdx.x] = s[threadIdx.x];
}
//= fixed 2 "waits for the other threads of its block"
__global__ void warps_that_wait(int* o, int rows) {
    const int row = G / 32;
    if (row < rows) o[G] = __shfl_sync(ALL, row, 3);
    __syncthreads();
    if (row < rows) o[G] += o[G ^ 32];
}
//= fixed 2 "exchanges values within a warp"
__global__ void who_is_active(int* o, int rows) {
    const int row = G / 32;
    if (row < rows) o[G] = __activemask();
}
//= fixed 2 "which lane, warp or multiprocessor"
__global__ void warp_of_the_machine(int* o, int rows) {
    unsigned warp;
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    if (G / 32 < rows) o[G] = __shfl_sync(ALL, warp, 0);
}
//= fixed 2 "order of threads"
__global__ void tickets_of_warps(int* o, int* tickets, int rows) {
    const int row = G / 32;
    if (row >= rows) return;
    int t = 0;
    if (threadIdx.x % 32 == 0) t = atomicAdd(tickets, 1);
    o[G] = __shfl_sync(ALL, t, 0);
}
//= fixed 1 ""
__global__ void pairs_of_warps(int* o, int rows) {
    const int pair = blockIdx.x * (blockDim.x / 64) + threadIdx.x / 64;
    if (pair < rows) o[pair * 64 + threadIdx.x % 64] = __shfl_sync(ALL, pair, 0);
}
//= fixed 1 ""
__global__ void half_of_the_block(int* o, int rows) {
    if (G / 32 < rows) o[G] = __shfl_sync(ALL, threadIdx.x & 48, 0);
}
//= fixed 1 ""
__global__ void eight_warps_built_in(int* o, int rows) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row < rows) o[row * 32 + threadIdx.x % 32] = __shfl_sync(ALL, blockDim.x, 0) - row;
}
//= fixed 1 ""
__global__ void warps_share_a_row(int* o, const int* a, int d) {
    for (int k = threadIdx.x / 32; k < d; k += blockDim.x / 32) {
        int v = a[(blockIdx.x * d + k) * 32 + threadIdx.x % 32];
        for (int w = 16; w > 0; w /= 2) v += __shfl_down_sync(ALL, v, w);
        if (threadIdx.x % 32 == 0) o[blockIdx.x * d + k] = v;
    }
}
//= fixed 1 ""
__global__ void clamped_lane(int* o, int rows) {
    const int lane = threadIdx.x < 31 ? threadIdx.x : 31, row = G / 32;
    if (row < rows) o[row * 32 + lane] = __shfl_sync(ALL, row, 1);
}
//= fixed 2 "until memory that it writes"
__global__ void waits_for_the_warp_before(int* o, int* done, int rows) {
    const int row = G / 32;
    if (row >= rows) return;
    if (row > 0)
        while (__shfl_sync(ALL, __ldcg(done + row - 1), 0) == 0) {
        }
    o[G] = row;
    done[row] = 1;
}
//= dividing 3 "no test of the index in x"
__global__ void every_other_warp(int* o, int rows) {
    const int row = G / 32;
    if (row % 2 == 0 && rows > 3) o[G] = __shfl_sync(ALL, row, 3);
}
//= dividing 3 "no test of the index in x"
__global__ void few_lanes(int* o, int n) {
    if (threadIdx.x % 32 >= n) return;
    o[G] = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
}
//= dividing 3 "no test of the index in x"
__global__ void works_before_it_tests(int* o, int rows) {
    const int row = G / 32;
    const int v = __shfl_sync(ALL, row, 0);
    if (v < rows) o[G] = v;
}
//= fixed 1 ""
__global__ void blocks_of_warps(int* o, int rows) {
    const int row = G / 32;
    if (row < rows) o[G] = __shfl_sync(ALL, blockIdx.x, 0);
}
//= fixed 1 ""
__global__ void total_of_blocks(int* o, int rows) {
    const int row = G / 32;
    if (row < rows) o[G] = __shfl_sync(ALL, gridDim.x, 0);
}
//= fixed 1 ""
__global__ void short_warp_number(int* o, int rows) {
    const int row = blockIdx.x * (blockDim.x / 32) + (unsigned char)(threadIdx.x / 16);
    if (row < rows) o[row] = __shfl_sync(ALL, row, 0);
}
//= fixed 1 ""
__global__ void rounded_block(int* o, int rows) {
    const int row = blockIdx.x * (blockDim.x / 48) + threadIdx.x / 48;
    if (row < rows) o[row] = __shfl_sync(ALL, row, 0);
}
