// Sum of N numbers, halved in shared memory. The annotation says what no proof can: which blocks it works
// with, and which grid and shared memory go with one.
#include <trimtab/annotate.h>

#include <numeric>

#include "../common/sample.h"

constexpr int threads = 256;

extern __shared__ int partial[];

__global__ void TRIMTAB_TUNE(block(ispow2(bx), bx >= 64), grid(ceil(n / (2 * bx))), dynamic_shared(4 * bx))
    annotated_sum(const int* in, int* total, int n) {
    const unsigned i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    // Whatever the block: one number a block, and whole numbers add in any order.
    if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {1 << 20, 1 << 27});
    const int n = options.n;
    std::vector<int> in(n);
    for (int i = 0; i < n; i++) in[i] = static_cast<int>(sample::mix(i) % 9);
    sample::Outputs outputs(options.dump_path);

    int* d_in = nullptr;
    int* d_total = nullptr;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_total, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_total, 0, sizeof(int)));
    sample::KernelTimer timer("annotated_sum");
    timer.start();
    annotated_sum<<<(n + 2 * threads - 1) / (2 * threads), threads, threads * sizeof(int)>>>(d_in, d_total,
                                                                                             n);
    timer.stop();
    timer.print();

    std::vector<float> total(1);
    int sum = 0;
    CUDA_CHECK(cudaMemcpy(&sum, d_total, sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_total));
    total[0] = static_cast<float>(sum);
    outputs.add(total);
    outputs.print();

    sample::Verifier verifier;
    verifier.within("total", 0, sum, std::accumulate(in.begin(), in.end(), 0), 0);
    return verifier.finish();
}
