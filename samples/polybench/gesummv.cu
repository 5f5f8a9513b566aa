// y = alpha A x + beta B x, one thread a row.
#include "../common/sample.h"

constexpr float alpha = 1.25f;
constexpr float beta = 0.75f;

__global__ void gesummv_kernel(const float* a, const float* b, const float* x, float* y, float* tmp, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        for (int j = 0; j < N; j++) {
            tmp[i] += a[i * N + j] * x[j];
            y[i] += b[i * N + j] * x[j];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {2048, 16384});
    const int n = options.n;
    const std::vector<float> a = sample::uniform_array(std::size_t(n) * n, 1);
    const std::vector<float> b = sample::uniform_array(std::size_t(n) * n, 2);
    const std::vector<float> x = sample::uniform_array(n, 3);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_b(b), d_x(x), d_y(n), d_tmp(n);
    const dim3 block(256);
    const dim3 grid((n + block.x - 1) / block.x);
    sample::KernelTimer timer("gesummv_kernel");
    timer.start();
    gesummv_kernel<<<grid, block>>>(d_a.data(), d_b.data(), d_x.data(), d_y.data(), d_tmp.data(), n);
    timer.stop();
    timer.print();

    const std::vector<float> y = d_y.to_host();
    const std::vector<float> tmp = d_tmp.to_host();
    outputs.add(y);
    outputs.add(tmp);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t i : sample::outputs_to_check(n, 2 * std::size_t(n))) {
        sample::Sum expected_tmp, expected_y;
        for (int j = 0; j < n; j++) {
            expected_tmp.add(double(a[i * n + j]) * x[j]);
            expected_y.add(double(alpha) * a[i * n + j] * x[j]);
            expected_y.add(double(beta) * b[i * n + j] * x[j]);
        }
        verifier.equals("tmp", i, tmp[i], expected_tmp);
        verifier.equals("y", i, y[i], expected_y);
    }
    return verifier.finish();
}
