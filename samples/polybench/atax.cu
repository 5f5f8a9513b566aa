// y = A' (A x) with A of NX x NY: tmp = A x, one thread a row; then y = A' tmp, one thread a column.
#include "../common/sample.h"

__global__ void atax_kernel1(const float* A, const float* x, float* tmp, int NX, int NY) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NX) {
        for (int j = 0; j < NY; j++) tmp[i] += A[i * NY + j] * x[j];
    }
}

__global__ void atax_kernel2(const float* A, float* y, const float* tmp, int NX, int NY) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < NY) {
        for (int i = 0; i < NX; i++) y[j] += A[i * NY + j] * tmp[i];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {2048, 16384});
    const int nx = options.n, ny = options.n;
    const std::vector<float> a = sample::uniform_array(std::size_t(nx) * ny, 1);
    const std::vector<float> x = sample::uniform_array(ny, 2);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_x(x), d_tmp(nx), d_y(ny);
    const dim3 block(256);
    const dim3 grid1((nx + block.x - 1) / block.x);
    const dim3 grid2((ny + block.x - 1) / block.x);
    sample::KernelTimer timer1("atax_kernel1"), timer2("atax_kernel2");
    timer1.start();
    atax_kernel1<<<grid1, block>>>(d_a.data(), d_x.data(), d_tmp.data(), nx, ny);
    timer1.stop();
    timer2.start();
    atax_kernel2<<<grid2, block>>>(d_a.data(), d_y.data(), d_tmp.data(), nx, ny);
    timer2.stop();
    timer1.print();
    timer2.print();

    const std::vector<float> tmp = d_tmp.to_host();
    const std::vector<float> y = d_y.to_host();
    outputs.add(tmp);
    outputs.add(y);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t i : sample::outputs_to_check(nx, ny)) {
        sample::Sum expected;
        for (int j = 0; j < ny; j++) expected.add(double(a[i * ny + j]) * x[j]);
        verifier.equals("tmp", i, tmp[i], expected);
    }
    for (std::size_t j : sample::outputs_to_check(ny, nx)) {
        sample::Sum expected;
        for (int i = 0; i < nx; i++) expected.add(double(a[std::size_t(i) * ny + j]) * tmp[i]);
        verifier.equals("y", j, y[j], expected);
    }
    return verifier.finish();
}
