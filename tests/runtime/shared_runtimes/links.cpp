// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linked to CUDA's own runtime; its kernels are in libraries. Looks at no error, as many programs.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

extern "C" void launch(float* y, const float* x, float a, int n);

int main() {
    const int n = 100000;
    const std::size_t bytes = n * sizeof(float);
    std::vector<float> x(n), y(n, 1);
    for (int i = 0; i < n; i++) x[i] = float(i % 100);
    float *device_x = nullptr, *device_y = nullptr;
    cudaMalloc(&device_x, bytes);
    cudaMalloc(&device_y, bytes);
    cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice);
    launch(device_y, device_x, 2, n);
    cudaMemcpy(y.data(), device_y, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += y[i] != 1 + 2 * x[i] ? 1 : 0;
    std::printf(wrong == 0 ? "PASS\n" : "%d are wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
