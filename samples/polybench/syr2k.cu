// C = alpha (A B' + B A') + beta C with A and B of N x M, one thread an element of C.
#include "../common/sample.h"

constexpr float alpha = 1.25f;
constexpr float beta = 0.75f;

__global__ void syr2k_kernel(const float* a, const float* b, float* c, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N) {
        c[i * N + j] *= beta;
        for (int k = 0; k < M; k++)
            c[i * N + j] += alpha * a[i * M + k] * b[j * M + k] + alpha * b[i * M + k] * a[j * M + k];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384});
    const int m = options.n, n = options.n;
    const std::size_t elements = std::size_t(n) * n;
    const std::vector<float> a = sample::uniform_array(std::size_t(n) * m, 1);
    const std::vector<float> b = sample::uniform_array(std::size_t(n) * m, 2);
    const std::vector<float> c = sample::uniform_array(elements, 3);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_b(b), d_c(c);
    const dim3 block(32, 8);
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    sample::KernelTimer timer("syr2k_kernel");
    timer.start();
    syr2k_kernel<<<grid, block>>>(d_a.data(), d_b.data(), d_c.data(), m, n);
    timer.stop();
    timer.print();

    const std::vector<float> result = d_c.to_host();
    outputs.add(result);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(elements, 2 * std::size_t(m))) {
        const std::size_t i = at / n, j = at % n;
        sample::Sum expected;
        expected.add(double(beta) * c[at]);
        for (int k = 0; k < m; k++) {
            expected.add(double(alpha) * a[i * m + k] * b[j * m + k]);
            expected.add(double(alpha) * b[i * m + k] * a[j * m + k]);
        }
        verifier.equals("c", at, result[at], expected);
    }
    return verifier.finish();
}
