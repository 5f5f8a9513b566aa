// Cooperative launch with grid.sync(), tiles that reduce, and a barrier over all blocks made of volatile
// flags.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <vector>
namespace cg = cooperative_groups;
__device__ volatile int arrived[64], released[64];
__device__ void all_blocks(int goal) {
    __syncthreads();
    if (threadIdx.x == 0) __threadfence(), arrived[blockIdx.x] = goal;
    if (blockIdx.x == 1) {
        if (threadIdx.x < gridDim.x)
            while (arrived[threadIdx.x] != goal) {
            }
        __syncthreads();
        if (threadIdx.x < gridDim.x) released[threadIdx.x] = goal;
    }
    if (threadIdx.x == 0)
        while (released[blockIdx.x] != goal) {
        }
    __syncthreads();
}
__global__ void by_flags(int* a, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        if (i < n) a[(r + 1) * n + i] = a[r * n + (i + 77) % n] + r;
        all_blocks(r + 1);
    }
}
__global__ void by_grid(int* a, int n, int rounds, int* total) {
    cg::grid_group grid = cg::this_grid();
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    for (int r = 0; r < rounds; r++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            a[(r + 1) * n + i] = a[r * n + (i + 77) % n] + r;
        grid.sync();
    }
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += a[rounds * n + i];
    sum = cg::reduce(tile, sum, cg::plus<int>());
    if (tile.thread_rank() == 0) atomicAdd(total, sum);
}
int main() {
    int n = 700, rounds = 5, *a, *total, sum = 0, sum_there = 0;
    std::vector<int> host(n * (rounds + 1)), there(host.size());
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&a, host.size() * 4);
    cudaMalloc(&total, 4);
    cudaMemcpy(a, host.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemset(total, 0, 4);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++) host[(r + 1) * n + i] = host[r * n + (i + 77) % n] + r;
    for (int i = 0; i < n; i++) sum += host[rounds * n + i];
    by_flags<<<(n + 63) / 64, 64>>>(a, n, rounds);
    cudaMemcpy(there.data(), a, host.size() * 4, cudaMemcpyDeviceToHost);
    bool good = host == there;
    cudaMemset(a + n, 0, n * rounds * 4);
    void* arguments[] = {&a, &n, &rounds, &total};
    if (cudaLaunchCooperativeKernel((void*)by_grid, dim3(5), dim3(64), arguments) != cudaSuccess)
        good = false;
    cudaMemcpy(there.data(), a, host.size() * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(&sum_there, total, 4, cudaMemcpyDeviceToHost);
    good = good && host == there && sum == sum_there;
    puts(good && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
