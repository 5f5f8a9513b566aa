// y = a x + y with a grid-stride loop: any grid covers any number of elements.
#include "../common/sample.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {1 << 22, 1 << 29});
    const int n = options.n;
    const float a = 2.5f;
    const std::size_t bytes = n * sizeof(float);
    const std::vector<float> x = sample::uniform_array(n, 1);
    const std::vector<float> y = sample::uniform_array(n, 2);
    sample::Outputs outputs(options.dump_path);

    float* d_x = nullptr;
    float* d_y = nullptr;
    CUDA_CHECK(cudaMalloc(&d_x, bytes));
    CUDA_CHECK(cudaMalloc(&d_y, bytes));
    CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice));

    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    sample::KernelTimer timer("saxpy");
    timer.start();
    saxpy<<<32 * multiprocessors, 256>>>(n, a, d_x, d_y);
    timer.stop();
    timer.print();

    std::vector<float> result(n);
    CUDA_CHECK(cudaMemcpy(result.data(), d_y, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
    outputs.add(result);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t i : sample::outputs_to_check(n, 1)) {
        sample::Sum expected;
        expected.add(double(a) * x[i]);
        expected.add(y[i]);
        verifier.equals("y", i, result[i], expected);
    }
    return verifier.finish();
}
