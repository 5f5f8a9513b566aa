// Sum of N numbers: each block reduces its share in shared memory, a second launch reduces the blocks' sums.
#include <utility>

#include "../common/sample.h"

constexpr int threads = 256;

__global__ void block_sum(const float* in, float* sums, int n) {
    __shared__ float partial[threads];
    int i = blockIdx.x * (2 * threads) + threadIdx.x;
    partial[threadIdx.x] = (i < n ? in[i] : 0.0f) + (i + threads < n ? in[i + threads] : 0.0f);
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (static_cast<int>(threadIdx.x) < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {1 << 20, 1 << 29});
    const int n = options.n;
    const std::vector<float> in = sample::uniform_array(n, 1);
    sample::Outputs outputs(options.dump_path);

    // Two buffers in turn: the sums of one launch are the input of the next, until one number is left.
    const auto blocks_for = [](int count) { return (count + 2 * threads - 1) / (2 * threads); };
    float* d_in = nullptr;
    float* d_sums = nullptr;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_sums, blocks_for(n) * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    sample::KernelTimer timer("block_sum");
    int count = n;
    do {
        timer.start();
        block_sum<<<blocks_for(count), threads>>>(d_in, d_sums, count);
        timer.stop();
        count = blocks_for(count);
        std::swap(d_in, d_sums);
    } while (count > 1);
    timer.print();

    std::vector<float> total(1);
    CUDA_CHECK(cudaMemcpy(total.data(), d_in, sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_sums));
    outputs.add(total);
    outputs.print();

    double expected = 0.0;
    for (float value : in) expected += value;
    sample::Verifier verifier;
    // A sum by halves has a few dozen roundings on the way from an element to the total, however long it is.
    verifier.within("total", 0, total[0], expected, 2e-6 * expected);
    return verifier.finish();
}
