// Device lambdas in templates, a grid-stride loop over 64-bit indices, a structure of arrays by value, a
// lambda in a lambda.
#include <cstdint>
#include <cstdio>
#include <vector>
template <class Body>
__global__ void for_all(int64_t n, Body body) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        body(i);
}
template <class Body>
void parallel_for(int64_t n, Body body) {
    for_all<<<(n + 127) / 128, 128>>>(n, body);
}
struct Particles {
    double *x, *v;
    int64_t n;
    double step;
};
__global__ void move(Particles p) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < p.n) p.x[i] += p.v[i] * p.step;
}
int main() {
    const int64_t n = 3001;
    Particles p{nullptr, nullptr, n, 0.5};
    cudaMalloc(&p.x, n * sizeof(double));
    cudaMalloc(&p.v, n * sizeof(double));
    const double factor = 0.25;
    parallel_for(n, [=] __device__(int64_t i) {
        p.x[i] = i;
        p.v[i] = factor * (i % 8);
    });
    auto twice = [p] { parallel_for(p.n, [=] __device__(int64_t i) { p.v[i] *= 2; }); };
    twice();
    for (int t = 0; t < 10; t++) move<<<(n + 255) / 256, 256>>>(p);
    std::vector<double> x(n);
    cudaMemcpy(x.data(), p.x, n * sizeof(double), cudaMemcpyDeviceToHost);
    bool good = cudaGetLastError() == cudaSuccess;
    for (int64_t i = 0; i < n; i++) good = good && x[i] == i + 10 * 0.5 * 2 * 0.25 * (i % 8);
    puts(good ? "PASS" : "FAIL");
}
