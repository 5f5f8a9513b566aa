// C = alpha A A' + beta C with A of N x M, one thread an element of C.
#include "../common/sample.h"

__global__ void syrk_kernel(float alpha, float beta, const float* a, float* c, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N) {
        c[i * N + j] *= beta;
        for (int k = 0; k < M; k++) c[i * N + j] += alpha * a[i * M + k] * a[j * M + k];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384});
    const int m = options.n, n = options.n;
    const float alpha = 1.25f, beta = 0.75f;
    const std::size_t elements = std::size_t(n) * n;
    const std::vector<float> a = sample::uniform_array(std::size_t(n) * m, 1);
    const std::vector<float> c = sample::uniform_array(elements, 2);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_c(c);
    const dim3 block(32, 8);
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    sample::KernelTimer timer("syrk_kernel");
    timer.start();
    syrk_kernel<<<grid, block>>>(alpha, beta, d_a.data(), d_c.data(), m, n);
    timer.stop();
    timer.print();

    const std::vector<float> result = d_c.to_host();
    outputs.add(result);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(elements, m)) {
        const std::size_t i = at / n, j = at % n;
        sample::Sum expected;
        expected.add(double(beta) * c[at]);
        for (int k = 0; k < m; k++) expected.add(double(alpha) * a[i * m + k] * a[j * m + k]);
        verifier.equals("c", at, result[at], expected);
    }
    return verifier.finish();
}
