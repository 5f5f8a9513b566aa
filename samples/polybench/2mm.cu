// E = (A B) D by two matrix products: C = A B (NI x NJ), then E = C D (NI x NL).
#include "matrix_product.h"

__global__ void mm2_kernel1(const float* A, const float* B, float* C, int NI, int NJ, int NK,
                            [[maybe_unused]] int NL) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NI && j < NJ) {
        for (int k = 0; k < NK; k++) C[i * NJ + j] += A[i * NK + k] * B[k * NJ + j];
    }
}

__global__ void mm2_kernel2(const float* C, const float* D, float* E, int NI, int NJ, [[maybe_unused]] int NK,
                            int NL) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NI && j < NL) {
        for (int k = 0; k < NJ; k++) E[i * NL + j] += C[i * NJ + k] * D[k * NL + j];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384});
    const int ni = options.n, nj = options.n, nk = options.n, nl = options.n;
    const std::vector<float> a = sample::uniform_array(std::size_t(ni) * nk, 1);
    const std::vector<float> b = sample::uniform_array(std::size_t(nk) * nj, 2);
    const std::vector<float> d = sample::uniform_array(std::size_t(nj) * nl, 3);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_b(b), d_d(d);
    sample::DeviceArray<float> d_c(std::size_t(ni) * nj), d_e(std::size_t(ni) * nl);
    const dim3 block(32, 8);
    const dim3 grid1((nj + block.x - 1) / block.x, (ni + block.y - 1) / block.y);
    const dim3 grid2((nl + block.x - 1) / block.x, (ni + block.y - 1) / block.y);
    sample::KernelTimer timer1("mm2_kernel1"), timer2("mm2_kernel2");
    timer1.start();
    mm2_kernel1<<<grid1, block>>>(d_a.data(), d_b.data(), d_c.data(), ni, nj, nk, nl);
    timer1.stop();
    timer2.start();
    mm2_kernel2<<<grid2, block>>>(d_c.data(), d_d.data(), d_e.data(), ni, nj, nk, nl);
    timer2.stop();
    timer1.print();
    timer2.print();

    const std::vector<float> c = d_c.to_host();
    const std::vector<float> e = d_e.to_host();
    outputs.add(c);
    outputs.add(e);
    outputs.print();

    sample::Verifier verifier;
    verify_product(verifier, "C", c, a, b, nj, nk);
    verify_product(verifier, "E", e, c, d, nl, nj);
    return verifier.finish();
}
