// Coalesced groups, ballots, matches and reductions of a warp; results in an order that the hardware is free
// to choose.
#include <cooperative_groups.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>
namespace cg = cooperative_groups;
__device__ int claim(int* counter) {
    auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
    return active.shfl(first, 0) + active.thread_rank();
}
__global__ void filter(const int* in, int n, int* out, int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 50) out[claim(count)] = in[i];
}
__global__ void compact(const int* in, int n, int* out, int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, base = 0;
    bool keep = i < n && in[i] > 50;
    unsigned kept = __ballot_sync(~0u, keep);
    if (lane == 0) base = atomicAdd(count, __popc(kept));
    base = __shfl_sync(~0u, base, 0);
    if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
}
__global__ void votes(int* out) {
    int lane = threadIdx.x;
    out[lane] = __all_sync(~0u, lane < 40) + 2 * __any_sync(~0u, lane == 3) +
                4 * __popc(__match_any_sync(~0u, lane % 5));
    out[lane] += 1000 * __shfl_xor_sync(~0u, lane, 5, 8);
}
int main() {
    const int n = 1003;
    int *in, *out, *count, kept = 0, lanes[32];
    std::vector<int> host(n), want;
    for (int i = 0; i < n; i++) host[i] = (i * 7919) % 101;
    std::copy_if(host.begin(), host.end(), std::back_inserter(want), [](int v) { return v > 50; });
    std::sort(want.begin(), want.end());
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMalloc(&count, 4);
    cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice);
    bool good = true;
    for (auto kernel : {filter, compact}) {
        cudaMemset(count, 0, 4);
        kernel<<<(n + 95) / 96, 96>>>(in, n, out, count);
        cudaMemcpy(&kept, count, 4, cudaMemcpyDeviceToHost);
        std::vector<int> got(kept);
        cudaMemcpy(got.data(), out, kept * 4, cudaMemcpyDeviceToHost);
        std::sort(got.begin(), got.end());
        good = good && got == want;
    }
    votes<<<1, 32>>>(out);
    cudaMemcpy(lanes, out, sizeof lanes, cudaMemcpyDeviceToHost);
    for (int lane = 0; lane < 32; lane++) {
        int same = lane % 5 < 2 ? 7 : 6;
        good = good && lanes[lane] == 3 + 4 * same + 1000 * (lane ^ 5);
    }
    puts(good ? "PASS" : "FAIL");
}
