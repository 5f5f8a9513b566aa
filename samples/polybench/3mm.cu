// G = (A B) (C D) by three matrix products: E = A B (NI x NJ), F = C D (NJ x NL), G = E F (NI x NL).
#include "matrix_product.h"

__global__ void mm3_kernel1(const float* A, const float* B, float* E, int NI, int NJ, int NK,
                            [[maybe_unused]] int NL, [[maybe_unused]] int NM) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NI && j < NJ) {
        for (int k = 0; k < NK; k++) E[i * NJ + j] += A[i * NK + k] * B[k * NJ + j];
    }
}

__global__ void mm3_kernel2(const float* C, const float* D, float* F, [[maybe_unused]] int NI, int NJ,
                            [[maybe_unused]] int NK, int NL, int NM) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NJ && j < NL) {
        for (int k = 0; k < NM; k++) F[i * NL + j] += C[i * NM + k] * D[k * NL + j];
    }
}

__global__ void mm3_kernel3(const float* E, const float* F, float* G, int NI, int NJ, [[maybe_unused]] int NK,
                            int NL, [[maybe_unused]] int NM) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NI && j < NL) {
        for (int k = 0; k < NJ; k++) G[i * NL + j] += E[i * NJ + k] * F[k * NL + j];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384});
    const int ni = options.n, nj = options.n, nk = options.n, nl = options.n, nm = options.n;
    const std::vector<float> a = sample::uniform_array(std::size_t(ni) * nk, 1);
    const std::vector<float> b = sample::uniform_array(std::size_t(nk) * nj, 2);
    const std::vector<float> c = sample::uniform_array(std::size_t(nj) * nm, 3);
    const std::vector<float> d = sample::uniform_array(std::size_t(nm) * nl, 4);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_b(b), d_c(c), d_d(d);
    sample::DeviceArray<float> d_e(std::size_t(ni) * nj), d_f(std::size_t(nj) * nl),
        d_g(std::size_t(ni) * nl);
    const dim3 block(32, 8);
    const dim3 grid1((nj + block.x - 1) / block.x, (ni + block.y - 1) / block.y);
    const dim3 grid2((nl + block.x - 1) / block.x, (nj + block.y - 1) / block.y);
    const dim3 grid3((nl + block.x - 1) / block.x, (ni + block.y - 1) / block.y);
    sample::KernelTimer timer1("mm3_kernel1"), timer2("mm3_kernel2"), timer3("mm3_kernel3");
    timer1.start();
    mm3_kernel1<<<grid1, block>>>(d_a.data(), d_b.data(), d_e.data(), ni, nj, nk, nl, nm);
    timer1.stop();
    timer2.start();
    mm3_kernel2<<<grid2, block>>>(d_c.data(), d_d.data(), d_f.data(), ni, nj, nk, nl, nm);
    timer2.stop();
    timer3.start();
    mm3_kernel3<<<grid3, block>>>(d_e.data(), d_f.data(), d_g.data(), ni, nj, nk, nl, nm);
    timer3.stop();
    timer1.print();
    timer2.print();
    timer3.print();

    const std::vector<float> e = d_e.to_host();
    const std::vector<float> f = d_f.to_host();
    const std::vector<float> g = d_g.to_host();
    outputs.add(e);
    outputs.add(f);
    outputs.add(g);
    outputs.print();

    sample::Verifier verifier;
    verify_product(verifier, "E", e, a, b, nj, nk);
    verify_product(verifier, "F", f, c, d, nl, nm);
    verify_product(verifier, "G", g, e, f, nl, nj);
    return verifier.finish();
}
