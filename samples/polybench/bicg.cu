// The two products of a BiCG step, A of NX x NY: s = A' r, one thread a column; q = A p, one thread a row.
#include "../common/sample.h"

__global__ void bicg_kernel1(const float* A, const float* r, float* s, int NX, int NY) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < NY) {
        s[j] = 0.0f;
        for (int i = 0; i < NX; i++) s[j] += A[i * NY + j] * r[i];
    }
}

__global__ void bicg_kernel2(const float* A, const float* p, float* q, int NX, int NY) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NX) {
        q[i] = 0.0f;
        for (int j = 0; j < NY; j++) q[i] += A[i * NY + j] * p[j];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {2048, 16384});
    const int nx = options.n, ny = options.n;
    const std::vector<float> a = sample::uniform_array(std::size_t(nx) * ny, 1);
    const std::vector<float> r = sample::uniform_array(nx, 2);
    const std::vector<float> p = sample::uniform_array(ny, 3);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_r(r), d_p(p), d_s(ny), d_q(nx);
    const dim3 block(256);
    const dim3 grid1((ny + block.x - 1) / block.x);
    const dim3 grid2((nx + block.x - 1) / block.x);
    sample::KernelTimer timer1("bicg_kernel1"), timer2("bicg_kernel2");
    timer1.start();
    bicg_kernel1<<<grid1, block>>>(d_a.data(), d_r.data(), d_s.data(), nx, ny);
    timer1.stop();
    timer2.start();
    bicg_kernel2<<<grid2, block>>>(d_a.data(), d_p.data(), d_q.data(), nx, ny);
    timer2.stop();
    timer1.print();
    timer2.print();

    const std::vector<float> s = d_s.to_host();
    const std::vector<float> q = d_q.to_host();
    outputs.add(s);
    outputs.add(q);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t j : sample::outputs_to_check(ny, nx)) {
        sample::Sum expected;
        for (int i = 0; i < nx; i++) expected.add(double(a[std::size_t(i) * ny + j]) * r[i]);
        verifier.equals("s", j, s[j], expected);
    }
    for (std::size_t i : sample::outputs_to_check(nx, ny)) {
        sample::Sum expected;
        for (int j = 0; j < ny; j++) expected.add(double(a[i * ny + j]) * p[j]);
        verifier.equals("q", i, q[i], expected);
    }
    return verifier.finish();
}
