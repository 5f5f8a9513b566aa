// Thread-block clusters: sized in the source and at the launch, shared memory of other blocks, barriers.
// Flags: -O3 -arch=sm_90 -std=c++17
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;

// A histogram whose bins lie in the shared memory of all blocks of a cluster.
__global__ void __cluster_dims__(2, 1, 1)
    histogram(int* bins, int bin_count, int bins_per_block, const int* __restrict__ input, size_t n) {
    extern __shared__ int own[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) own[i] = 0;
    cluster.sync();
    for (size_t i = cg::this_grid().thread_rank(); i < n; i += blockDim.x * gridDim.x) {
        const int bin = min(max(input[i], 0), bin_count - 1);
        int* theirs = cluster.map_shared_rank(own, bin / bins_per_block);
        atomicAdd(theirs + bin % bins_per_block, 1);
    }
    cluster.sync();
    int* first = bins + cluster.block_rank() * bins_per_block;
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) atomicAdd(&first[i], own[i]);
}

// Each block hands its value to the one before it in the ring; all add to the first one's.
__global__ void ring(int* out) {
    __shared__ int value;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) value = blockIdx.x * 10;
    cluster.sync();
    const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
    if (threadIdx.x == 0)
        out[blockIdx.x] = *cluster.map_shared_rank(&value, (rank + 1) % blocks) + 1000 * blocks;
    cluster.sync();
    if (threadIdx.x == 1) atomicAdd(cluster.map_shared_rank(&value, 0), 1);
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
    if (rank == 0 && threadIdx.x == 0) out[gridDim.x + blockIdx.x / blocks] = value;
}

int main() {
    const int n = 10000, bin_count = 64;
    int *input, *bins, *out;
    cudaMallocManaged(&input, n * sizeof(int));
    cudaMallocManaged(&bins, bin_count * sizeof(int));
    cudaMallocManaged(&out, 32 * sizeof(int));
    std::vector<int> expected(bin_count);
    for (int i = 0; i < n; ++i) {
        input[i] = i * 37 % bin_count;
        ++expected[input[i]];
    }
    memset(bins, 0, bin_count * sizeof(int));
    histogram<<<8, 128, bin_count / 2 * sizeof(int)>>>(bins, bin_count, bin_count / 2, input, n);
    bool ok = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < bin_count; ++i) ok &= bins[i] == expected[i];
    printf("histogram %d\n", ok);

    // Not whole clusters, and a size that is not the kernel's own.
    histogram<<<7, 128, 0>>>(bins, bin_count, 1, input, 0);
    ok &= cudaGetLastError() == cudaErrorInvalidConfiguration;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = 8;
    config.blockDim = 32;
    config.attrs = &attribute;
    config.numAttrs = 1;
    ok &= cudaLaunchKernelEx(&config, histogram, bins, bin_count, 1, (const int*)input, (size_t)0) ==
          cudaErrorInvalidClusterSize;
    cudaGetLastError();

    int largest = 0, active = 0;
    ok &= cudaOccupancyMaxPotentialClusterSize(&largest, ring, &config) == cudaSuccess && largest == 8;
    ok &= cudaOccupancyMaxActiveClusters(&active, ring, &config) == cudaSuccess && active > 0;
    ok &= cudaLaunchKernelEx(&config, ring, out) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    for (int block = 0; block < 8; ++block) ok &= out[block] == (block / 4 * 4 + (block + 1) % 4) * 10 + 4000;
    ok &= out[8] == 4 && out[9] == 44;
    attribute.val.clusterDim.x = 16;
    config.gridDim = 16;
    ok &= cudaLaunchKernelEx(&config, ring, out) == cudaErrorInvalidClusterSize;
    cudaGetLastError();
    cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    ok &= cudaLaunchKernelEx(&config, ring, out) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    ok &= out[0] == 10 + 16000 && out[16] == 16;
    printf("%s\n", ok ? "PASS" : "FAIL");
}
