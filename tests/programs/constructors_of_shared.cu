// __shared__ variables of classes with constructors, which nvcc takes and runs none for: barriers, pipelines.
// Flags: -O3 -std=c++17 -arch=sm_80
#include <cooperative_groups.h>
#include <thrust/complex.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
struct Sum {
    float total;
    int count;
    __host__ __device__ Sum() : total(0), count(0) {}
    __device__ void add(float x) {
        total += x;
        count++;
    }
};
template <typename T, int N>
__global__ void classes(T* out) {
    __shared__ Sum sums[N], single;
    __shared__ thrust::complex<T> z[2][N];
    sums[threadIdx.x] = Sum();
    sums[threadIdx.x].add(threadIdx.x);
    z[1][threadIdx.x] = thrust::complex<T>(threadIdx.x, 1);
    if (threadIdx.x == 0) (single = Sum()).add(3);
    __syncthreads();
    out[threadIdx.x] = sums[N - 1 - threadIdx.x].total + single.total + z[1][(threadIdx.x + 1) % N].imag() +
                       sizeof(z) / sizeof(T) / N;
}
__global__ void barriers(const float* in, float* out) {
    __shared__ block_barrier barrier;
    __shared__ alignas(16) float tile[256];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in + blockIdx.x * 256, cuda::aligned_size_t<16>(sizeof(tile)), barrier);
    barrier.arrive_and_wait();
    out[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x ^ 1];
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
}
__global__ void pipeline(const float* in, float* out, int batches) {
    constexpr int stages = 2;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ alignas(16) float buffer[stages][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int batch = 0, fetched = 0; batch < batches; batch++) {
        for (; fetched < batches && fetched < batch + stages; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetched % stages], in + fetched * 64, 256, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[batch * 64 + threadIdx.x] = buffer[batch % stages][threadIdx.x] + 1;
        block.sync();
        pipe.consumer_release();
    }
}
int main() {
    float *in, *out;
    cudaMallocManaged(&in, 4096);
    cudaMallocManaged(&out, 4096);
    for (int i = 0; i < 1024; i++) in[i] = i;
    classes<float, 64><<<1, 64>>>(out);
    cudaDeviceSynchronize();
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && out[i] == 63 - i + 3 + 1 + 4;
    barriers<<<4, 256>>>(in, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 1024; i++) good = good && out[i] == (i ^ 1);
    pipeline<<<1, 64>>>(in, out, 16);
    cudaDeviceSynchronize();
    for (int i = 0; i < 1024; i++) good = good && out[i] == i + 1;
    puts(good && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
