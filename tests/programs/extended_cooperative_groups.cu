// Cooperative groups: scans, partitions by label, coalesced increments.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
using namespace cooperative_groups;
namespace cg = cooperative_groups;
__device__ int atomicAggInc(int* p) {
    auto g = cg::coalesced_threads();
    int w;
    if (g.thread_rank() == 0) w = atomicAdd(p, g.size());
    return g.thread_rank() + g.shfl(w, 0);
}
__global__ void filter(int* d, int* n, const int* s, int c) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < c && s[i] > 0) d[atomicAggInc(n)] = s[i];
}
template <unsigned B>
__global__ void red(float* g, float* o, int n) {
    thread_block cta = this_thread_block();
    extern __shared__ float sd[];
    float m = 0;
    for (int i = cta.group_index().x * B + threadIdx.x; i < n; i += gridDim.x * B) m += g[i];
    sd[threadIdx.x] = m;
    cg::sync(cta);
    thread_block_tile<32> t = tiled_partition<32>(cta);
    for (int d = t.size() / 2; d > 0; d >>= 1) m += t.shfl_xor(m, d);
    if (t.thread_rank() == 0) atomicAdd(o, m);
    auto inc = cg::inclusive_scan(t, 1);
    if (threadIdx.x == 31 && inc != 32) *o = -1;
    auto lp = cg::labeled_partition(t, threadIdx.x % 3);
    if (lp.size() < 10) *o = -1;
    auto bp = cg::binary_partition(t, threadIdx.x & 1);
    if (bp.size() != 16) *o = -1;
    cg::invoke_one(t, [&] {});
}
int main() {
    int n = 1024;
    int *s, *d, *c;
    cudaMallocManaged(&s, n * 4);
    cudaMallocManaged(&d, n * 4);
    cudaMallocManaged(&c, 4);
    for (int i = 0; i < n; i++) s[i] = i % 3 - 1;
    *c = 0;
    filter<<<4, 256>>>(d, c, s, n);
    float *g, *o;
    cudaMallocManaged(&g, n * 4);
    cudaMallocManaged(&o, 4);
    *o = 0;
    for (int i = 0; i < n; i++) g[i] = 1;
    red<256><<<2, 256, 1024>>>(g, o, n);
    cudaDeviceSynchronize();
    printf("%d %g\n", *c, *o);
    puts(*c == 341 && *o == 1024 ? "PASS" : "FAIL");
}
