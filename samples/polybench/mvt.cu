// x1 = x1 + A y1, one thread a row; x2 = x2 + A' y2, one thread a column.
#include "../common/sample.h"

__global__ void mvt_kernel1(const float* a, float* x1, const float* y1, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        for (int j = 0; j < N; j++) x1[i] += a[i * N + j] * y1[j];
    }
}

__global__ void mvt_kernel2(const float* a, float* x2, const float* y2, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        for (int j = 0; j < N; j++) x2[i] += a[j * N + i] * y2[j];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {2048, 16384});
    const int n = options.n;
    const std::vector<float> a = sample::uniform_array(std::size_t(n) * n, 1);
    const std::vector<float> x1 = sample::uniform_array(n, 2), y1 = sample::uniform_array(n, 3);
    const std::vector<float> x2 = sample::uniform_array(n, 4), y2 = sample::uniform_array(n, 5);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_x1(x1), d_y1(y1), d_x2(x2), d_y2(y2);
    const dim3 block(256);
    const dim3 grid((n + block.x - 1) / block.x);
    sample::KernelTimer timer1("mvt_kernel1"), timer2("mvt_kernel2");
    timer1.start();
    mvt_kernel1<<<grid, block>>>(d_a.data(), d_x1.data(), d_y1.data(), n);
    timer1.stop();
    timer2.start();
    mvt_kernel2<<<grid, block>>>(d_a.data(), d_x2.data(), d_y2.data(), n);
    timer2.stop();
    timer1.print();
    timer2.print();

    const std::vector<float> result1 = d_x1.to_host();
    const std::vector<float> result2 = d_x2.to_host();
    outputs.add(result1);
    outputs.add(result2);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t i : sample::outputs_to_check(n, 2 * std::size_t(n))) {
        sample::Sum expected1, expected2;
        expected1.add(x1[i]);
        expected2.add(x2[i]);
        for (int j = 0; j < n; j++) {
            expected1.add(double(a[i * n + j]) * y1[j]);
            expected2.add(double(a[std::size_t(j) * n + i]) * y2[j]);
        }
        verifier.equals("x1", i, result1[i], expected1);
        verifier.equals("x2", i, result2[i], expected2);
    }
    return verifier.finish();
}
