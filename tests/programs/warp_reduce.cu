// Shuffles, votes, dynamic shared memory, launch bounds, cooperation of warps.
#include <cstdio>
#include <vector>
__device__ float warp_sum(float v) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
    return v;
}
__global__ __launch_bounds__(256) void sum(const float* x, int n, float* out, int* negative) {
    extern __shared__ float partial[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;
    unsigned mask = __ballot_sync(0xffffffffu, v < 0);
    if ((threadIdx.x & 31) == 0) atomicAdd(negative, __popc(mask));
    v = warp_sum(v);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        v = warp_sum(v);
        if (threadIdx.x == 0) atomicAdd(out, v);
    }
}
int main() {
    const int n = 5000;
    std::vector<float> x(n);
    float want = 0;
    int negative_want = 0;
    for (int i = 0; i < n; ++i) x[i] = (i % 17) - 4, want += x[i], negative_want += x[i] < 0;
    float *d, *out;
    int* negative;
    cudaMalloc(&d, n * 4);
    cudaMalloc(&out, 4);
    cudaMalloc(&negative, 4);
    cudaMemcpy(d, x.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 4);
    cudaMemset(negative, 0, 4);
    sum<<<(n + 255) / 256, 256, 8 * sizeof(float)>>>(d, n, out, negative);
    float got;
    int got_negative;
    cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(&got_negative, negative, 4, cudaMemcpyDeviceToHost);
    if (got != want || got_negative != negative_want)
        return printf("FAIL %g %g %d %d\n", got, want, got_negative, negative_want), 1;
    puts("PASS");
}
