// Kernels each of whose warps does its own work: any block of whole warps is the same. See README.md.
#define G (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL 0xffffffffu

//= covering
__global__ void row_of_a_warp(float* o, const float* a, int rows, int d) {
    const int row = G / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    for (int k = lane; k < d; k += 32) o[row * d + k] = 2 * a[row * d + k];
}
//= covering
__global__ void row_by_warps_of_blocks(float* o, const float* a, int rows, int d) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row < rows)
        for (int k = lane; k < d; k += 32) o[row * d + k] = a[row * d + k] + lane;
}
//= covering
__global__ void sum_of_a_row(int* o, const int* a, int rows, int d) {
    const unsigned row = G >> 5, lane = G & 31;
    if (row >= rows) return;
    int s = 0;
    for (int k = lane; k < d; k += 32) s += a[row * d + k];
    for (int w = 16; w > 0; w /= 2) s += __shfl_down_sync(ALL, s, w);
    if (lane == 0) o[row] = s;
}
//= covering
__global__ void float_sum_of_a_row(float* o, const float* a, int rows, int d) {
    const int g = blockIdx.x * blockDim.x + threadIdx.x, row = g / 32, lane = g % 32;
    if (row >= rows) return;
    float s = 0;
    for (int k = lane; k < d; k += 32) s += a[row * d + k];
    for (int w = 16; w > 0; w /= 2) s += __shfl_xor_sync(ALL, s, w);
    if (lane == 0) o[row] = s;
}
//= covering
__global__ void largest_of_a_row(int* o, const int* __restrict__ a, int rows, int d) {
    const int row = G / warpSize, lane = threadIdx.x % warpSize;
    if (row >= rows) return;
    int most = -1;
    for (int k = lane; k < d; k += warpSize) most = max(most, a[row * d + k]);
    for (int w = 16; w > 0; w /= 2) most = max(most, __shfl_xor_sync(ALL, most, w));
    o[row * 32 + lane] = most;
}
//= covering
__global__ void counts_by_votes(int* o, const int* a, int rows, int d) {
    const int row = G / 32, lane = G % 32;
    if (row >= rows) return;
    int count = 0;
    for (int k = 0; k < d; k += 32)
        count += __popc(__ballot_sync(ALL, k + lane < d && a[row * d + k + lane] > 4));
    if (lane == 0) o[row] = count;
}
//= covering
__global__ void packs_a_row(int* o, const int* a, int rows, int d) {
    const int row = G / 32;
    if (row >= rows) return;
    unsigned lane, below;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    int first = 0;
    for (int k = 0; k < d; k += 32) {
        const bool keeps = k + lane < d && a[row * d + k + lane] % 3 == 0;
        const unsigned kept = __ballot_sync(ALL, keeps);
        if (keeps) o[row * d + first + __popc(kept & below)] = a[row * d + k + lane];
        first += __popc(kept);
    }
}
//= covering
__global__ void turns_a_row_round(int* o, int rows) {
    const int row = G / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    o[row * 32 + lane] = row - 7 * lane;
    __syncwarp();
    const int other = o[row * 32 + 31 - lane];
    __syncwarp();
    o[row * 32 + lane] = other;
}
//= covering
__global__ void sums_of_a_plane(int* o, const int* a, int rows, int planes) {
    const int row = G / 32, lane = threadIdx.x % 32, plane = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || plane >= planes) return;
    int s = a[(plane * rows + row) * 32 + lane];
    for (int w = 16; w > 0; w /= 2) s += __shfl_down_sync(ALL, s, w);
    if (lane == 0) o[plane * rows + row] = s;
}
//= dividing 3 "no test of the index in x"
__global__ void maximum_of_each_warp(int* o, const int* a, int n) {
    const int i = G;
    int v = i < n ? a[i] : 0;
    for (int w = 16; w > 0; w /= 2) v = max(v, __shfl_down_sync(ALL, v, w));
    if (i % 32 == 0) o[i / 32] = v;
}
//= dividing 3 "must stay:"
__global__ void rows_in_turn(int* o, const int* __restrict__ a, int rows, int d) {
    const int lane = threadIdx.x % 32;
    for (int row = G / 32; row < rows; row += gridDim.x * blockDim.x / 32) {
        int s = 0;
        for (int k = lane; k < d; k += 32) s += a[row * d + k];
        for (int w = 16; w > 0; w /= 2) s += __shfl_down_sync(ALL, s, w);
        if (lane == 0) o[row] = s;
    }
}
//= covering
__global__ void row_of_eight_threads(int* o, const int* a, int rows, int d) {
    const int row = blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8, at = threadIdx.x % 8;
    if (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32 >= rows / 4) return;
    int s = 0;
    for (int k = at; k < d; k += 8) s += a[row * d + k];
    for (int w = 4; w > 0; w /= 2) s += __shfl_down_sync(ALL, s, w, 8);
    if (at == 0) o[row] = s;
}
//= covering
__global__ void histogram_by_matches(int* bins, const int* a, int warps) {
    const int i = G;
    if (i / 32 >= warps) return;
    const unsigned same = __match_any_sync(ALL, a[i]);
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    if ((same & below) == 0) atomicAdd(&bins[a[i] & 15], __popc(same));
}
//= covering
__global__ void broadcast_of_a_row(float* o, const float* __restrict__ scale, int rows) {
    const int row = G / 32, lane = G % 32;
    if (row >= rows) return;
    float s = lane == 0 ? scale[row] : 0;
    s = __shfl_sync(ALL, s, 0);
    o[row * 32 + lane] = s * lane;
}
//= covering
__global__ void scan_of_a_row(int* o, const int* a, int rows) {
    const unsigned long long g = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long row = g / 32;
    const int lane = g % 32;
    if (row >= rows) return;
    int v = a[row * 32 + lane];
    for (int w = 1; w < 32; w *= 2) {
        const int before = __shfl_up_sync(ALL, v, w);
        if (lane >= w) v += before;
    }
    o[row * 32 + lane] = v;
}
//= covering
__global__ void any_in_a_row(int* o, const int* a, int rows, int d) {
    const int row = G / 32;
    if (row >= rows) return;
    for (int k = threadIdx.x % 32; __any_sync(ALL, k < d); k += 32)
        if (__all_sync(ALL, k >= d || a[row * d + k] < 14)) atomicAdd(o + row, 1);
}
// As cooperative groups number the warps of a block.
//= covering; -O0 fixed
__global__ void warps_by_their_rank(float* o, const float* a, int rows, int n) {
    const unsigned rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
                   warps = (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
    const int row = blockIdx.x * (warps & 0xffff) + (rank / 32 & 0xffff);
    if (row >= rows) return;
    for (int k = rank % 32; k < n; k += 32) o[row * n + k] = 2 * a[row * n + k];
}
