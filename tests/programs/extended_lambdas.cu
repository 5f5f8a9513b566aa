// Lambdas in kernels, with nvcc's option for them.
// Flags: -O3 --extended-lambda -std=c++17 -arch=sm_75
#include <cuda_runtime.h>

#include <cstdio>
template <typename F>
__global__ void run(F f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <typename F>
void parallel_for(int n, F f) {
    run<<<(n + 127) / 128, 128>>>(f, n);
}
struct S {
    int* x;
    int k;
    void go(int n) {
        int kk = k;
        int* xx = x;
        parallel_for(n, [=] __device__(int i) { xx[i] += kk * i; });
        parallel_for(n, [=, *this] __device__(int i) mutable { x[i] += k; });
    }
};
int main() {
    int n = 1000;
    int* x;
    cudaMallocManaged(&x, n * 4);
    parallel_for(n, [=] __device__(int i) { x[i] = i; });
    S s{x, 3};
    s.go(n);
    auto hd = [=] __host__ __device__(int i) -> int { return i * 2; };
    parallel_for(n, [=] __device__(int i) { x[i] += hd(i); });
    cudaDeviceSynchronize();
    bool ok = true;
    for (int i = 0; i < n; i++) ok &= x[i] == i + 3 * i + 3 + hd(i);
    puts(ok ? "PASS" : "FAIL");
}
