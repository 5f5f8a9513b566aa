// C = alpha A B + beta C, one thread an element of C.
#include "../common/sample.h"

constexpr float alpha = 1.25f;
constexpr float beta = 0.75f;

__global__ void gemm_kernel(const float* a, const float* b, float* c, int NI, int NJ, int NK) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NI && j < NJ) {
        c[i * NJ + j] *= beta;
        for (int k = 0; k < NK; k++) c[i * NJ + j] += alpha * a[i * NK + k] * b[k * NJ + j];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384});
    const int ni = options.n, nj = options.n, nk = options.n;
    const std::size_t elements = std::size_t(ni) * nj;
    const std::vector<float> a = sample::uniform_array(elements, 1);
    const std::vector<float> b = sample::uniform_array(elements, 2);
    const std::vector<float> c = sample::uniform_array(elements, 3);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_b(b), d_c(c);
    const dim3 block(32, 8);
    const dim3 grid((nj + block.x - 1) / block.x, (ni + block.y - 1) / block.y);
    sample::KernelTimer timer("gemm_kernel");
    timer.start();
    gemm_kernel<<<grid, block>>>(d_a.data(), d_b.data(), d_c.data(), ni, nj, nk);
    timer.stop();
    timer.print();

    const std::vector<float> result = d_c.to_host();
    outputs.add(result);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(elements, nk)) {
        const std::size_t i = at / nj, j = at % nj;
        sample::Sum expected;
        expected.add(double(beta) * c[at]);
        for (int k = 0; k < nk; k++) expected.add(double(alpha) * a[i * nk + k] * b[k * std::size_t(nj) + j]);
        verifier.equals("c", at, result[at], expected);
    }
    return verifier.finish();
}
